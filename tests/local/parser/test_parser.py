"""The shipped parser on a small database it was not trained on."""

from __future__ import annotations

from datetime import date

import apsw
import pytest

from sqlwright.errors import Cancelled, ModelUnavailable
from sqlwright.local.models import load
from sqlwright.local.parser.nodes import TableNode
from sqlwright.local.parser.parser import Parser
from sqlwright.protocols import Run
from sqlwright.schema import Column, ColumnRef, Detail, Schema, SchemaView, Table
from sqlwright.sql.reading import read_facts
from sqlwright.types import Question, ValueMatch
from tests.local.singers import AGE, COUNTRY, MALE, SINGERS

VIEW = SchemaView(SINGERS)
ENUMERATIONS = {MALE: ("T", "F")}


@pytest.fixture(scope="module")
def parser() -> Parser:
    try:
        loaded = load("parser")
    except ModelUnavailable as error:
        pytest.skip(str(error))
    assert isinstance(loaded, Parser)
    return loaded


@pytest.fixture(scope="module")
def database() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    for table in SINGERS.tables:
        columns = ", ".join(f'"{c.name}" {c.type}' for c in table.columns)
        connection.execute(f'create table "{table.name}" ({columns})')
    return connection


QUESTIONS = (
    "How many singers are there?",
    "What is the average age of singers from each country?",
    "Show the names of singers older than 20 in alphabetical order.",
    "Which singers had no concert in 2014?",
    "the three oldest male singers",
    "???",
    "ξένο κείμενο",
    "'; drop table singer; --",
)


@pytest.mark.parametrize("text", QUESTIONS)
def test_every_query_prepares(parser: Parser, database: apsw.Connection, text: str) -> None:
    parsed = parser.parse(Question(text), VIEW, (), enumerations=ENUMERATIONS)
    assert parsed
    assert len({item.sql for item in parsed}) == len(parsed)
    schema = VIEW.schema
    assert all(one.form and one.form.facts(schema) == read_facts(one.sql, schema) for one in parsed)
    assert [item.score for item in parsed] == sorted((p.score for p in parsed), reverse=True)
    for item in parsed:
        database.execute(f"explain {item.sql}")


def test_a_count_is_a_count(parser: Parser) -> None:
    best = parser.parse(Question("How many singers are there?"), VIEW, ())[0]
    assert best.sql.casefold().startswith("select count(*)")
    assert best.tables == ("singer",)


def test_a_stored_value_is_used_as_stored(parser: Parser) -> None:
    match = ValueMatch("france", COUNTRY, "France", 1.0, 4, (31, 37))
    question = Question("What are the ages of singers in france?")
    best = parser.parse(question, VIEW, (match,), enumerations=ENUMERATIONS)[0]
    assert "'France'" in best.sql
    assert {AGE, COUNTRY} <= set(best.columns)


def test_the_same_question_gives_the_same_queries(parser: Parser) -> None:
    question = Question(QUESTIONS[1])
    first, second = (parser.parse(question, VIEW, ()) for _ in range(2))
    assert first == second


def test_nothing_is_said_about_nothing(parser: Parser) -> None:
    assert parser.parse(Question("  "), VIEW, ()) == []


def test_where_no_key_joins_what_is_asked_a_part_is_answered(parser: Parser) -> None:
    """Rather than nothing."""
    apart = Schema("apart", SINGERS.tables, ())
    for text in ("Names of singers with a concert in 2014", "singers and their concerts"):
        for best in parser.parse(Question(text), SchemaView(apart), (), beam=1):
            assert len(best.tables) >= 1


def test_queries_go_by_the_moment_that_is_named(parser: Parser) -> None:
    """Read from the run's day where it depends on it."""
    held = Table("concert", (Column("title", "text"), Column("held_on", "date")))
    view = SchemaView(Schema("held", (held,)))
    run = Run(today=date(2024, 5, 15))
    for text, day in (("How many concerts last month?", "2024-04"),
                      ("How many concerts in May 1997?", "1997-05"),
                      ("Titles of concerts since May 3, 1997", "1997-05-03")):  # fmt: skip
        found = parser.parse(Question(text), view, (), run=run)
        assert found
        assert all(f"'{day}'" in one.sql for one in found)


def test_dates_are_where_they_are_stored(parser: Parser) -> None:
    """Whatever a column is declared as."""
    held = Table("concert", (Column("title", "text"), Column("held_on", "text")))
    view, ref = SchemaView(Schema("held", (held,))), ColumnRef("concert", "held_on")
    question = Question("How many concerts in May 1997?")
    for dates, moment in (({ref: True}, "'1997-05'"), ({ref: False}, "1997'"), ({}, "1997'")):
        found = parser.parse(question, view, (), dates=dates)
        assert any(moment in one.sql for one in found)
        assert any("'1997-05'" in one.sql for one in found) == dates.get(ref, False)


def test_where_no_dates_are_stored_the_words_stay(parser: Parser) -> None:
    found = parser.parse(Question("Names of concerts with the theme May 2014"), VIEW, ())
    assert any("'May 2014'" in one.sql for one in found)


def test_hidden_columns_are_not_used(parser: Parser) -> None:
    view = SchemaView(SINGERS, {AGE: Detail.HIDDEN})
    for item in parser.parse(Question("What is the average age of singers?"), view, ()):
        assert AGE not in item.columns


def test_a_wide_schema_is_cut_to_what_fits(parser: Parser) -> None:
    tables = tuple(
        Table(f"t{t}", tuple(Column(f"measure_{t}_{c}", "real") for c in range(50)))
        for t in range(40)
    )
    view = SchemaView(Schema("wide", (*tables, *SINGERS.tables), SINGERS.foreign_keys))
    best = parser.parse(Question("What is the average age of singers?"), view, ())[0]
    assert AGE in best.columns


def test_a_very_long_question_is_parsed(parser: Parser) -> None:
    assert parser.parse(Question("and singers " * 400), VIEW, (), beam=2) is not None


def test_a_cancelled_run_is_left(parser: Parser) -> None:
    run = Run()
    run.cancelled.set()
    with pytest.raises(Cancelled):
        parser.parse(Question("How many singers?"), VIEW, (), run=run)


def test_links_name_what_the_question_needs(parser: Parser) -> None:
    reading = parser.read(Question("What is the average age of all singers?"), VIEW, ())
    nodes = reading.encoded.nodes
    found = sorted(zip(reading.links, range(len(nodes)), strict=True), reverse=True)
    best = [nodes[place] for _, place in found]
    assert next(node for node in best if isinstance(node, ColumnRef)) == AGE
    assert next(node for node in best if isinstance(node, TableNode)).table == "singer"
    assert all(0.0 <= score <= 1.0 for score in reading.links)
