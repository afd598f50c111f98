"""Linking: small schemas stay whole; large ones keep what scores, and the keys that join it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from sqlwright.local.steps.linking import EmbeddedLinking
from sqlwright.protocols import Context, GroupLink, Links, Run, Workspace
from sqlwright.schema import Column, ColumnRef, ForeignKey, Schema, SchemaView, Table
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

    def link(self, question: Question, schema: Schema, values: Any, prepared: Any) -> Links:
        """The best first; of a crowd each group with the number of columns it prefers there."""
        columns = [ColumnLink(r, 0.9 if r in self.columns else 0.1) for r in schema.columns]
        tables = [TableLink(t.name, 0.9 if t.name in self.tables else 0.1) for t in schema.tables]
        columns.sort(key=lambda link: -link.score)
        tables.sort(key=lambda link: -link.score)
        if not schema.has_many_groups:
            return Links(tuple(columns), tuple(tables))
        liked = Counter(schema.group_of[ref.table] for ref in self.columns)
        groups = [GroupLink(leader, float(liked[leader])) for leader in schema.by_group]
        groups.sort(key=lambda group: -group.score)
        return Links(tuple(columns), tuple(tables), tuple(groups))


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


def shops(count: int) -> Schema:
    """Shops side by side, each with the same tables and keys among them."""
    tables: list[Table] = []
    keys: list[ForeignKey] = []
    for n in range(count):
        customers, orders, lines = f"customers{n}", f"orders{n}", f"lines{n}"
        columns = tuple(Column(f"c{place}") for place in range(5))
        tables += [Table(name, (Column("id"), *columns)) for name in (customers, orders, lines)]
        keys.append(ForeignKey(orders, ("c0",), customers, ("id",)))
        keys.append(ForeignKey(lines, ("c0",), orders, ("id",)))
    return Schema("shops", tuple(tables), tuple(keys))


def shown_tables(state: State) -> set[str]:
    return {table.name for table in state.view.visible_schema().tables}


def test_of_many_groups_the_one_with_most_of_what_is_asked_is_kept_whole() -> None:
    # Each shop has a table that scores as high; only the fourth has two columns that do.
    schema = shops(9)
    wanted = [ColumnRef("customers4", "c1"), ColumnRef("lines4", "c2")]
    alike = [ColumnRef(f"customers{n}", "c1") for n in range(9) if n != 4]
    linker = Likes([f"customers{n}" for n in range(9)], [*wanted, *alike])
    state = linked(schema, linker, EmbeddedLinking(columns=60, tables=6, groups=1))
    assert shown_tables(state) == {"customers4", "orders4", "lines4"}


def test_groups_that_could_be_meant_as_well_are_kept_behind_it() -> None:
    schema = shops(9)
    wanted = [ColumnRef("customers4", "c1"), ColumnRef("lines4", "c2"), ColumnRef("lines7", "c2")]
    linker = Likes([], wanted)
    step = EmbeddedLinking(columns=60, tables=6, groups=2, share=0.3)
    assert shown_tables(linked(schema, linker, step)) == {
        f"{name}{n}" for n in (4, 7) for name in ("customers", "orders", "lines")
    }
    certain = EmbeddedLinking(columns=60, tables=6, groups=2, share=0.9)
    assert shown_tables(linked(schema, linker, certain)) == {"customers4", "orders4", "lines4"}


def test_of_few_groups_tables_are_kept_one_by_one() -> None:
    schema = shops(7)
    linker = Likes(["customers2", "customers5"])
    state = linked(schema, linker, EmbeddedLinking(columns=60, tables=2))
    assert shown_tables(state) == {"customers2", "customers5"}


@pytest.mark.parametrize("schema", [Schema("none", ()), Schema("bare", (Table("t", ()),))])
def test_nothing_to_link_is_no_error(schema: Schema) -> None:
    state = linked(schema, Likes([]), EmbeddedLinking())
    assert state.refusal is None
