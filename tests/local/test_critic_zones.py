"""The critic sees which part of the question names the columns that a query uses."""

from __future__ import annotations

from pathlib import Path

import pytest

import sqlwright
from sqlwright.english.words import tokens
from sqlwright.local.critic.families.zones import (
    ASKED,
    CONDITION,
    GROUP,
    ORDER,
    WHOSE,
    Zones,
    zones,
)
from sqlwright.local.critic.parts import parts_of
from sqlwright.local.embedder.static import StaticEmbedder
from sqlwright.local.question.schema import SchemaCache
from sqlwright.local.question.support import support
from sqlwright.schema import Column, ColumnRef, Schema, Table
from sqlwright.sql.reading import read_facts
from sqlwright.types import Question, ValueMatch

SHOP = Schema(
    "shop",
    (
        Table("shop", tuple(Column(*column.split()) for column in (
            "Name text", "City text", "createdate text", "Staff_count int", "Sales real",
        ))),
        Table("owner", (Column("Owner_name", "text"), Column("gender", "text"))),
    ),
)  # fmt: skip


@pytest.fixture(scope="module")
def static() -> StaticEmbedder:
    return StaticEmbedder.load(Path(sqlwright.__file__).parent / "local" / "weights")


@pytest.mark.parametrize(
    ("text", "word", "zone"),
    [
        ("Show the name of shops in Rome", "name", ASKED),
        ("Show the name of shops in Rome", "shops", WHOSE),
        ("Show the name of shops in Rome", "Rome", CONDITION),
        ("For each city, give the name", "city", GROUP),
        ("For each city, give the name", "name", ASKED),
        ("Names sorted by sales", "sales", ORDER),
        ("Which shops are in Rome? Return their names.", "names", ASKED),
    ],
)
def test_words_stand_in_zones(text: str, word: str, zone: int) -> None:
    asked = tokens(text)
    place = [token.text for token in asked].index(word.lower())
    assert zones(asked, text)[0][place] == zone


def test_an_extreme_is_about_the_words_behind_it() -> None:
    text = "City of the shop with the highest sales in Rome"
    asked = tokens(text)
    about = [token.text for token, of in zip(asked, zones(asked, text)[1], strict=True) if of]
    assert about == ["highest", "sales"]


def features(text: str, sql: str, static: StaticEmbedder, *values: ValueMatch) -> dict[str, float]:
    arrays = SchemaCache(static, static).encode(SHOP)
    facts = read_facts(sql, SHOP)
    assert facts is not None
    found = support(Question(text), arrays, values, static)
    return Zones(text, found, arrays, values, facts.columns).features(parts_of(facts))


@pytest.mark.parametrize(
    ("text", "better", "worse", "feature", "higher"),
    [
        ("Show the city of each shop", "SELECT City FROM shop", "SELECT Name FROM shop",
         "shown as asked", True),
        ("Show the city and the sales", "SELECT City, Sales FROM shop",
         "SELECT City, createdate FROM shop", "shown hardly asked", False),
        ("Show the city and the sales", "SELECT City, Sales FROM shop", "SELECT City FROM shop",
         "asked covered by columns", True),
        ("Names sorted by their sales", "SELECT Name FROM shop ORDER BY Sales",
         "SELECT Name FROM shop ORDER BY City", "ordered as asked", True),
        ("Names in the order of date", "SELECT Name FROM shop ORDER BY createdate",
         "SELECT Name FROM shop ORDER BY Name", "ordered as asked", True),
        ("Number of shops for each city", "SELECT City, COUNT(*) FROM shop GROUP BY City",
         "SELECT Name, COUNT(*) FROM shop GROUP BY Name", "groups covered", True),
        ("Shops with a staff count above 100 or sales above 1000",
         "SELECT Name FROM shop WHERE Staff_count > 100 OR Sales > 1000",
         "SELECT Name FROM shop WHERE Sales > 100 OR Sales > 1000", "pairs fit", True),
        ("Shops with sales above two", "SELECT Name FROM shop WHERE Sales > 2",
         "SELECT Name FROM shop WHERE Staff_count > 2", "pairs fit others", False),
        ("How many female owners?", "SELECT COUNT(*) FROM owner WHERE gender = 'F'",
         "SELECT COUNT(*) FROM owner WHERE gender = 'M'", "initial of a word", True),
        ("How many owners are there?", "SELECT COUNT(*) FROM owner", "SELECT COUNT(*) FROM shop",
         "counts what is named", True),
    ],
)  # fmt: skip
def test_the_better_query_uses_a_column_where_it_is_asked_for(
    text: str, better: str, worse: str, feature: str, higher: bool, static: StaticEmbedder
) -> None:
    good, bad = features(text, better, static)[feature], features(text, worse, static)[feature]
    assert (good > bad) == higher
    assert good != bad


def test_a_stored_value_speaks_for_its_column(static: StaticEmbedder) -> None:
    rome = ValueMatch("Rome", ColumnRef("shop", "City"), "Rome", 1.0, 3, (9, 13))
    sql = "SELECT Name FROM shop WHERE City = 'Rome'"
    known = features("Shops in Rome", sql, static, rome)
    assert known["pairs fit"] > features("Shops in Rome", sql, static)["pairs fit"]
    assert known["question left"] < features("Shops in Rome", sql, static)["question left"]
