"""The state in which a recipe comes to one of its steps: linking before it is told the tables and
columns of the gold query, or others."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from sqlwright.lab.finetuning.lesson import Lesson
from sqlwright.running.combinators import NamedStep
from sqlwright.schema import ColumnRef, Schema
from sqlwright.sql.reading import columns_used, tables_used
from sqlwright.types import State


def gold_tables(sql: str, schema: Schema) -> tuple[str, ...]:
    """The tables and views that a query reads, in the schema's order; none where it reads one that
    the schema doesn't have, or is no query."""
    found = [schema.table(name) for name in tables_used(sql, schema.dialect)]
    if not all(found):
        return ()
    return ordered({table.name for table in found if table is not None}, schema)


def gold_columns(sql: str, schema: Schema) -> frozenset[ColumnRef]:
    """The columns that a query names."""
    return frozenset(columns_used(sql, schema))


def ordered(tables: Collection[str], schema: Schema) -> tuple[str, ...]:
    """Tables in the schema's order."""
    return tuple(table.name for table in schema.tables if table.name in tables)


TABLES = "schema_linking.select_tables"
COLUMNS = "schema_linking.select_columns"


@dataclass(frozen=True, slots=True)
class Choice:
    """A part of a schema."""

    tables: tuple[str, ...]
    """In the schema's order."""
    columns: frozenset[ColumnRef] = field(default_factory=frozenset)
    """Columns of these tables; keys that join them may be missing."""


def tables_reply(tables: Collection[str], schema: Schema) -> str:
    """A reply to `schema_linking.select_tables`."""
    return json.dumps({"tables": list(ordered(tables, schema))}, ensure_ascii=False)


def columns_reply(choice: Choice, schema: Schema) -> str:
    """A reply to `schema_linking.select_columns`."""
    listed = []
    for name in ordered(choice.tables, schema):
        columns = [ref.column for ref in schema.columns if ref in choice.columns]
        own = [column for column in columns if ColumnRef(name, column) in choice.columns]
        if own:
            listed.append({"table": name, "columns": list(dict.fromkeys(own))})
    return json.dumps({"tables": listed}, ensure_ascii=False)


REPLIES: Mapping[str, Callable[[Choice, Schema], str]] = {
    TABLES: lambda choice, schema: tables_reply(choice.tables, schema),
    COLUMNS: columns_reply,
}
"""The reply of each step that can be told a choice, by its name."""


STAGES = ("retrieval", "schema_linking")


def state_before(
    name: str,
    lesson: Lesson,
    *,
    question: str,
    evidence: str,
    choice: Choice | None = None,
) -> State:
    """The state before the first step of that name, after the retrieval and linking before it.

    A step that chooses tables or columns is told the `choice`; without one, linking that asks a
    language model is passed over. Retrieval that asks a language model, as for keywords, does
    without it by its cheaper form. What refuses the question ends it: see `State.refusal`.
    """
    state = lesson.begun(question, evidence)
    for step in lesson.before(name, stages=STAGES):
        if state.refusal is not None:
            break
        state = _after(step, state, lesson, choice)
    return state


def _after(step: NamedStep, state: State, lesson: Lesson, choice: Choice | None) -> State:
    if not step.step.language_models:
        return lesson.taught(step, state, _nothing)[0]
    if choice is not None and step.name in REPLIES:
        said = REPLIES[step.name](choice, lesson.workspace.schema)
        return lesson.taught(step, state, lambda _step, _place: said)[0]
    if step.instead is not None and step.name.startswith("retrieval."):
        return lesson.taught(step.instead, state, _nothing)[0]
    return state


def _nothing(_step: str, _place: int) -> None:
    return None
