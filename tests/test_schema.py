"""Groups of tables: what keys connect, and when there are so many that names agree by chance."""

from __future__ import annotations

import pytest

from sqlwright.schema import MANY_GROUPS, Column, ForeignKey, Schema, Table
from tests.steps.schema_linking.test_embedded import shops


def test_tables_that_keys_connect_are_one_group() -> None:
    schema = shops(3)
    members = [{table.name for table in part.tables} for part in schema.by_group.values()]
    assert members == [{f"customers{n}", f"orders{n}", f"lines{n}"} for n in range(3)]
    assert set(schema.by_group) == set(schema.group_of.values())


def test_a_part_has_its_own_keys_and_nothing_else() -> None:
    schema = shops(2)
    for part in schema.by_group.values():
        names = {table.name for table in part.tables}
        assert len(part.foreign_keys) == 2
        assert {key.table for key in part.foreign_keys} <= names
        assert part.dialect == schema.dialect


def test_a_part_stays_the_same_object() -> None:
    schema = shops(2)
    assert all(schema.by_group[leader] is part for leader, part in schema.by_group.items())


@pytest.mark.parametrize(("groups", "crowd"), [(MANY_GROUPS - 1, False), (MANY_GROUPS, True)])
def test_many_groups_are_a_crowd(groups: int, crowd: bool) -> None:
    assert shops(groups).has_many_groups is crowd


def test_tables_without_keys_make_no_crowd() -> None:
    alone = tuple(Table(f"t{n}", (Column("id"),)) for n in range(40))
    assert not Schema("apart", alone).has_many_groups
    assert len(Schema("apart", alone).by_group) == 40


def test_a_key_to_a_table_that_is_not_there_connects_nothing() -> None:
    tables = (Table("a", (Column("b_id"),)), Table("c", (Column("id"),)))
    schema = Schema("gap", tables, (ForeignKey("a", ("b_id",), "b", ("id",)),))
    assert list(schema.by_group) == ["a", "c"]
