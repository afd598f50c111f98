"""The state in which a recipe's later steps are asked: after retrieval and linking."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from functools import partial

from sqlwright.datasets.example import Example
from sqlwright.finetuning.lesson import Lesson
from sqlwright.running.combinators import NamedStep, walk
from sqlwright.running.own_view import OwnView
from sqlwright.schema import Schema
from sqlwright.sql.reading import tables_used
from sqlwright.types import State

LINKER = "schema_linking.select_tables"
STAGES = ("retrieval", "schema_linking")


def linked_state(
    lesson: Lesson, example: Example, tables: Collection[str], *, before: str
) -> State:
    """The state in which the step `before` begins on a question, of whose schema the recipe's
    linker named `tables`. A recipe without a linker shows what its other steps leave.

    Other steps of these stages that ask a language model have no reply and leave the state as they
    do then; what narrows a view of its own (`own_view`) is left out, since it ends with that view.
    """
    state = lesson.begun(example.question, example.evidence)
    for step in _outside_own_views(lesson, lesson.before(before, stages=STAGES)):
        if state.refusal is not None:
            break
        said = named_tables(tables) if step.name == LINKER else None
        state, _ = lesson.taught(step, state, partial(_says, said))
    return state


def gold_tables(example: Example, schema: Schema) -> tuple[str, ...]:
    """The stored tables of the gold query, in its order; empty where there is no query."""
    sql = next(iter(example.golds), "")
    found = (schema.table(name) for name in tables_used(sql)) if sql else ()
    return tuple(dict.fromkeys(table.name for table in found if table is not None))


def named_tables(tables: Iterable[str]) -> str:
    """The linker's reply that names these tables."""
    return json.dumps({"reasoning": "", "tables": list(tables)}, ensure_ascii=False)


def _says(said: str | None, _step: str, _place: int) -> str | None:
    return said


def _outside_own_views(lesson: Lesson, steps: Iterable[NamedStep]) -> list[NamedStep]:
    apart = {
        id(inner)
        for one in walk(lesson.recipe.step)
        if isinstance(one, OwnView)
        for child in one.children
        for inner in walk(child)
    }
    return [step for step in steps if id(step.step) not in apart]
