"""Linking: small schemas stay whole; large ones keep what scores, and the keys that join it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from sqlwright.protocols import Context, Run, Workspace
from sqlwright.schema import Column, ColumnRef, ForeignKey, Schema, SchemaView, Table
from sqlwright.steps.schema_linking.embedded import EmbeddedLinking
from sqlwright.steps.schema_linking.narrowing import keys_between
from sqlwright.types import ColumnLink, Question, State, TableLink, ValueMatch
from tests.scripted import ScriptedLinker


def chain(length: int, *, columns: int = 8) -> Schema:
    """Tables t0 ← t1 ← t2 ..., each with a key to the one before it and some columns."""
    tables = tuple(
        Table(
            f"t{place}",
            (Column("id"), Column("before"), *(Column(f"c{place}_{i}") for i in range(columns))),
            primary_key=("id",),
        )
        for place in range(length)
    )
    keys = tuple(
        ForeignKey(f"t{place}", ("before",), f"t{place - 1}", ("id",)) for place in range(1, length)
    )
    return Schema("chain", tables, keys)


@dataclass(frozen=True)
class Likes:
    """A linker that prefers what it was told to."""

    tables: Sequence[str]
    columns: Sequence[ColumnRef] = ()

    def link(self, question: Question, schema: Schema, values: Any, prepared: Any) -> Any:
        columns = [ColumnLink(r, 0.9 if r in self.columns else 0.1) for r in schema.columns]
        tables = [TableLink(t.name, 0.9 if t.name in self.tables else 0.1) for t in schema.tables]
        columns.sort(key=lambda link: -link.score)
        tables.sort(key=lambda link: -link.score)
        return tuple(columns), tuple(tables)


def linked(schema: Schema, linker: Any, step: EmbeddedLinking, *values: ValueMatch) -> State:
    nothing: Any = None
    workspace = Workspace(nothing, schema, nothing, nothing)
    state = State(Question("which?"), SchemaView(schema), values=values)
    return step(state, Context(workspace, Run(), {"linker": linker}))


def test_a_small_schema_stays_whole(shop_workspace: Workspace) -> None:
    state = linked(shop_workspace.schema, ScriptedLinker(), EmbeddedLinking())
    assert list(state.view.visible) == list(shop_workspace.schema.columns)
    assert len(state.columns) == shop_workspace.schema.column_count
    assert len(state.tables) == 3


def test_a_large_schema_keeps_the_best_and_the_way_between_them() -> None:
    schema = chain(30)
    wanted = [ColumnRef("t3", "c3_5"), ColumnRef("t6", "c6_1")]
    step = EmbeddedLinking(columns=20, tables=2, joins=3)
    state = linked(schema, Likes(["t3", "t6"], wanted), step)
    shown = set(state.view.visible)
    assert set(wanted) <= shown
    assert {table.name for table in state.view.visible_schema().tables} == {"t3", "t4", "t5", "t6"}
    assert {ColumnRef("t4", "id"), ColumnRef("t4", "before")} <= shown
    assert ColumnRef("t4", "c4_0") not in shown
    assert len(state.view.visible_schema().foreign_keys) == 3
    assert len(state.columns) == schema.column_count


def test_tables_far_from_each_other_bring_in_none_between_them() -> None:
    schema = chain(30)
    state = linked(schema, Likes(["t3", "t6"]), EmbeddedLinking(columns=20, tables=2, joins=2))
    assert {table.name for table in state.view.visible_schema().tables} == {"t3", "t6"}


def test_a_column_whose_value_was_found_is_kept() -> None:
    schema = chain(30)
    found = ColumnRef("t3", "c3_7")
    match = ValueMatch("x", found, "x", 1.0)
    state = linked(schema, Likes(["t3"]), EmbeddedLinking(columns=4, tables=1), match)
    assert found in set(state.view.visible)


def test_tables_that_nothing_joins_stay_apart() -> None:
    schema = Schema("two", (Table("a", (Column("x"),)), Table("b", (Column("y"),))))
    assert keys_between(schema, {"a", "b"}) == set()


def test_two_keys_between_the_same_tables_are_both_kept() -> None:
    tables = (
        Table("flights", (Column("origin"), Column("target"), Column("x"))),
        Table("airports", (Column("id"),), primary_key=("id",)),
    )
    keys = (
        ForeignKey("flights", ("origin",), "airports", ("id",)),
        ForeignKey("flights", ("target",), "airports", ("id",)),
    )
    kept = keys_between(Schema("two", tables, keys), {"flights", "airports"})
    assert {ColumnRef("flights", "origin"), ColumnRef("flights", "target")} <= kept


def test_a_cycle_of_keys_ends() -> None:
    tables = tuple(Table(name, (Column("id"), Column("other"))) for name in "abc")
    keys = tuple(
        ForeignKey(one, ("other",), other, ("id",)) for one, other in ("ab", "bc", "ca", "aa")
    )
    assert keys_between(Schema("ring", tables, keys), {"a", "c"})


@pytest.mark.parametrize("schema", [Schema("none", ()), Schema("bare", (Table("t", ()),))])
def test_nothing_to_link_is_no_error(schema: Schema) -> None:
    state = linked(schema, Likes([]), EmbeddedLinking())
    assert state.refusal is None
