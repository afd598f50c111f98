"""Candidates as the unit tester's prompts show them: by result, each query once, numbered."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlwright.candidates import ResultGroup, deduplicate
from sqlwright.messages import Text
from sqlwright.prompts.fitting import Portion
from sqlwright.prompts.schema import render_sql
from sqlwright.prompts.templates import plain_text
from sqlwright.protocols import Context
from sqlwright.schema import ColumnRef, Schema
from sqlwright.sql.reading import columns_used, tables_used
from sqlwright.steps.selection.judging.differences import CHARACTERS, render_differences
from sqlwright.steps.showing import Shown as ShownOptions
from sqlwright.steps.showing import own_functions
from sqlwright.types import Candidate, ExecutionResult, State

ROWS = 20
"""Most rows of each result that are shown; chosen."""
NO_RESULT = plain_text("none")
"""The result of a decline."""
SCHEMA = Portion(examples=3)
"""As much of the schema as judges are shown."""


@dataclass(frozen=True)
class Shown:
    """A query of a prompt, and the candidates it stands for."""

    number: int
    """From 1, through all groups."""
    candidate: Candidate
    speaks_for: tuple[Candidate, ...]
    alike: int = 0
    """Other queries that differ in their text and give the same result, not shown themselves."""


def shown(groups: Sequence[ResultGroup], *, representatives: bool) -> list[list[Shown]]:
    """The queries shown of each group: every different one, or its shortest for all of them."""
    listed: list[list[Shown]] = []
    number = 0
    for group in groups:
        different = deduplicate(group.candidates)
        chosen = (group.shortest,) if representatives else different
        listed.append([])
        for candidate in chosen:
            number += 1
            same = group.candidates if representatives else _same(candidate, group.candidates)
            listed[-1].append(Shown(number, candidate, same, len(different) - len(chosen)))
    return listed


def scaled(portion: Portion) -> tuple[int, int]:
    """Most rows of each result, and characters of all of them together, of that portion."""
    return math.ceil(ROWS * portion.listed), int(CHARACTERS * portion.listed)


def results_apart(candidates: Sequence[Candidate], portion: Portion) -> list[Text]:
    """The rows in which results differ, a text for each candidate; one that declines has none."""
    rows, characters = scaled(portion)
    results = [one.result or ExecutionResult() for one in candidates if not one.declined]
    told = iter(render_differences(results, rows=rows, characters=characters))
    return [NO_RESULT if one.declined else next(told) for one in candidates]


def laid_out(
    listed: Sequence[Sequence[Shown]], state: State, portion: Portion
) -> list[dict[str, Any]]:
    """The variable `groups` of `_queries.jinja`; of long results the rows that differ."""
    differences = results_apart([group[0].candidate for group in listed], portion)
    return [
        {
            "candidates": [
                {"number": one.number, "sql": render_sql(one.candidate, state.question)}
                for one in group
            ],
            "result": result,
            "alike": plain_text(_more(group[0].alike)),
        }
        for group, result in zip(listed, differences, strict=True)
    ]


def _more(number: int) -> str:
    """The number of further queries, in words; empty for none."""
    return f"{number} more {'query' if number == 1 else 'queries'}" if number else ""


def schema_of(
    candidates: Iterable[Candidate],
    state: State,
    context: Context,
    how: ShownOptions,
    portion: Portion = SCHEMA,
) -> Text:
    """The part of the schema that the candidates use; the view where that can't be told, and where
    one declines: whether anything in it tells what is asked is then the question."""
    known = list(candidates)
    used = {ref for candidate in known for ref in _used(candidate, state.view.schema)}
    whole = not used or any(one.declined for one in known)
    view = state.view if whole else state.view.narrowed(used)
    layout = how.within(portion).layout(
        view, state, context, style=portion.style, examples=portion.examples
    )
    return layout.text() + own_functions(view, context)


def _used(candidate: Candidate, schema: Schema) -> Iterator[ColumnRef]:
    """Columns a candidate names, and of tables it only counts those that tell what they are."""
    named = candidate.columns or columns_used(candidate.sql, schema)
    yield from named
    for name in tables_used(candidate.sql, schema.dialect):
        table = schema.table(name)
        if table is not None and all(ref.table != table.name for ref in named):
            identifying = table.primary_key or tuple(column.name for column in table.columns)
            yield from (ColumnRef(table.name, column) for column in identifying)


def _same(candidate: Candidate, others: Iterable[Candidate]) -> tuple[Candidate, ...]:
    return tuple(other for other in others if len(deduplicate((candidate, other))) == 1)
