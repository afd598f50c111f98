"""The critic sees whether a query goes by the columns that the question names for it."""

from __future__ import annotations

import pytest

from sqlwright.local.critic.families.keys_and_order import Keys
from sqlwright.local.critic.parts import parts_of
from sqlwright.schema import Column, ColumnRef, ForeignKey, Schema, Table
from sqlwright.sql.reading import read_facts

SPORT = Schema(
    "sport",
    (
        Table(
            "people",
            (Column("People_ID", "int"), Column("Name", "text"), Column("Height", "real")),
            ("People_ID",),
        ),
        Table("gymnast", (Column("Gymnast_ID", "int"), Column("Points", "real")), ("Gymnast_ID",)),
        Table("degrees", tuple(Column(name, "int") for name in ("Year", "Degrees", "active"))),
    ),
    (ForeignKey("gymnast", ("Gymnast_ID",), "people", ("People_ID",)),),
)  # fmt: skip

DEGREES = ColumnRef("degrees", "Degrees")


def noticed(asked: str, sql: str, table: str = "people", *used: ColumnRef) -> set[str]:
    facts = read_facts(sql, SPORT)
    assert facts is not None
    return {k for k, v in Keys(asked, SPORT).features(parts_of(facts), used, {table}).items() if v}


@pytest.mark.parametrize(
    ("asked", "sql", "feature"),
    [
        ("Names ordered by height.", "SELECT Name FROM people ORDER BY Height", "ordered as said"),
        ("Names sorted by their heights", "SELECT Name FROM people ORDER BY people.Height DESC",
         "ordered as said"),
        ("Names in alphabetical order of name", "SELECT Name FROM people ORDER BY Height",
         "ordered elsewhere"),
        ("Who has the largest height?", "SELECT Name FROM people ORDER BY Height DESC LIMIT 1",
         "extreme as said"),
        ("What is the maximum height?", "SELECT MAX(Height) FROM people", "extreme as said"),
        ("Who has the largest height?", "SELECT Name FROM people ORDER BY Name DESC LIMIT 1",
         "extreme elsewhere"),
        ("Name and height", "SELECT Name, MAX(people.Name) FROM people", "shown twice"),
        ("Names of the gymnasts", "SELECT Name FROM people", "subtype left"),
    ],
)  # fmt: skip
def test_what_is_ordered_ranked_and_shown(asked: str, sql: str, feature: str) -> None:
    assert feature in noticed(asked, sql)


def test_an_order_by_a_count_is_nobody_elses_column() -> None:
    sql = "SELECT Name FROM people GROUP BY Name ORDER BY COUNT(*) DESC"
    assert "ordered elsewhere" not in noticed("Names sorted by height", sql)


@pytest.mark.parametrize(
    ("sql", "used", "feature"),
    [
        ("SELECT Year FROM degrees GROUP BY Year ORDER BY COUNT(*) DESC LIMIT 1", (),
         "number counted"),
        ("SELECT Year FROM degrees GROUP BY Year ORDER BY SUM(Degrees) DESC LIMIT 1", (DEGREES,),
         "number taken"),
    ],
)  # fmt: skip
def test_rows_are_counted_where_a_number_is_stored(
    sql: str, used: tuple[ColumnRef, ...], feature: str
) -> None:
    found = noticed("Which year has the most degrees conferred?", sql, "degrees", *used)
    assert {"number counted", "number taken"} & found == {feature}


@pytest.mark.parametrize(
    ("asked", "value", "feature"),
    [
        ("How many are active?", "0", "off unasked"),
        ("How many are not active?", "0", "off"),
        ("How many are active?", "1", "on"),
        ("How many are not active?", "'1'", "on unasked"),
    ],
)
def test_a_switch_is_held_against_what_is_said_of_it(asked: str, value: str, feature: str) -> None:
    sql = f"SELECT COUNT(*) FROM degrees WHERE active = {value}"
    assert feature in noticed(asked, sql, "degrees")
