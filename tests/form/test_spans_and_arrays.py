"""Intervals and arrays in forms: what is written on engines that have them, and its rows."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form import nodes as f
from sqlwright.local.form.facts import form_facts
from sqlwright.local.form.write.sql import write_sql
from sqlwright.local.parser.parser import with_units
from sqlwright.schema import Column, ColumnRef, Schema, Table
from sqlwright.sql.reading import read_facts

SCRIPT = """
CREATE TABLE trips (id INTEGER PRIMARY KEY, delay INTERVAL, tags TEXT[], marks INTEGER[]);
INSERT INTO trips VALUES
    (1, INTERVAL '9 minutes', ARRAY['night', 'slow'], ARRAY[1, 2]),
    (2, INTERVAL '100 minutes', ARRAY['night'], ARRAY[3]),
    (3, INTERVAL '2 days', NULL, NULL),
    (4, NULL, ARRAY['fast'], ARRAY[2]);
"""
ID, DELAY, TAGS, MARKS = (
    f.Column(ColumnRef("trips", name)) for name in ("id", "delay", "tags", "marks")
)


def trips(dialect: str, texts: str) -> Schema:
    columns = (
        Column("id", "integer", nullable=False),
        Column("delay", "interval"),
        Column("tags", f"{texts}[]"),
        Column("marks", "integer[]"),
    )
    return Schema("trips", (Table("trips", columns, ("id",)),), (), dialect)


POSTGRES, DUCKDB = trips("postgres", "text"), trips("duckdb", "VARCHAR")


@pytest.fixture(scope="module")
def postgres(postgres_server: Any) -> Iterator[Any]:
    with closing(postgres_server.connect(postgres_server.create(SCRIPT))) as connection:
        yield connection


@pytest.fixture(scope="module")
def duck() -> Iterator[Any]:
    duckdb = pytest.importorskip("duckdb", reason="duckdb isn't installed")
    with closing(duckdb.connect()) as connection:
        connection.execute(SCRIPT)
        yield connection


def where(condition: f.Condition) -> f.Select:
    return f.Select(items=(ID,), where=condition)


CONDITIONS = [
    (
        f.Comparison(">", DELAY, f.Literal("30 minutes")),
        "delay > INTERVAL '30 minutes'",
        "delay > INTERVAL '30 minutes'",
        [2, 3],
    ),
    (
        f.Between(DELAY, f.Literal("1 hours"), f.Literal("2 hours")),
        "delay BETWEEN INTERVAL '1 hours' AND INTERVAL '2 hours'",
        "delay BETWEEN INTERVAL '1 hours' AND INTERVAL '2 hours'",
        [2],
    ),
    (
        f.Comparison("=", DELAY, f.Literal("01:40:00")),
        "delay = INTERVAL '01:40:00'",
        "delay = INTERVAL '01:40:00'",
        [2],
    ),
    (
        f.Comparison("=", TAGS, f.Literal("night")),
        "'night' = ANY (tags)",
        "LIST_CONTAINS(tags, 'night')",
        [1, 2],
    ),
    (
        f.Comparison("!=", TAGS, f.Literal("night")),
        "NOT 'night' = ANY (tags)",
        "NOT LIST_CONTAINS(tags, 'night')",
        [4],
    ),
    (
        f.InList(TAGS, (f.Literal("slow"), f.Literal("fast"))),
        "('slow' = ANY (tags) OR 'fast' = ANY (tags))",
        "(LIST_CONTAINS(tags, 'slow') OR LIST_CONTAINS(tags, 'fast'))",
        [1, 4],
    ),
    (
        f.Comparison("=", MARKS, f.Literal(2)),
        "2 = ANY (marks)",
        "LIST_CONTAINS(marks, 2)",
        [1, 4],
    ),
]


@pytest.mark.parametrize(("condition", "postgresql", "duckdb", "rows"), CONDITIONS)
def test_conditions(
    postgres: Any, duck: Any, condition: f.Condition, postgresql: str, duckdb: str, rows: list[int]
) -> None:
    for connection, schema, text in ((postgres, POSTGRES, postgresql), (duck, DUCKDB, duckdb)):
        sql = write_sql(where(condition), schema)
        assert sql == f"SELECT id FROM trips WHERE {text}"
        assert sorted(row[0] for row in connection.execute(sql).fetchall()) == rows


@pytest.mark.parametrize("function", ["avg", "sum", "max"])
def test_spans_are_added_up(postgres: Any, duck: Any, function: f.AggregateName) -> None:
    form = f.Select(items=(f.Aggregate(function, DELAY),))
    found = [
        connection.execute(write_sql(form, schema)).fetchone()[0]
        for connection, schema in ((postgres, POSTGRES), (duck, DUCKDB))
    ]
    minutes = [9, 100, 2 * 24 * 60]
    expected = {"avg": sum(minutes) / 3, "sum": sum(minutes), "max": max(minutes)}[function]
    assert found == [datetime.timedelta(minutes=expected)] * 2


@pytest.mark.parametrize(
    ("value", "written"),
    [("new", "state = 'new'"), ("old", "CAST(state AS TEXT) = 'old'")],
)
def test_labels_of_an_enumeration_are_compared_without_a_cast(value: str, written: str) -> None:
    state = Column("state", "sales.state", labels=("new", "paid"))
    schema = Schema("shop", (Table("orders", (Column("id", "int"), state)),), (), "postgres")
    condition = f.Comparison("=", f.Column(ColumnRef("orders", "state")), f.Literal(value))
    form = f.Select(items=(f.Star("orders"),), where=condition)
    assert write_sql(form, schema).partition(" WHERE ")[2] == written


@pytest.mark.parametrize(
    "form",
    [
        where(f.Comparison(">", DELAY, f.Literal(30))),
        where(f.Comparison(">", DELAY, f.Literal("30"))),
        where(f.Comparison(">", DELAY, ID)),
        where(f.Comparison("=", MARKS, f.Literal("night"))),
        f.Select(items=(f.Arithmetic("/", DELAY, f.Literal(60)),)),
        f.Select(items=(f.Aggregate("sum", TAGS),)),
        f.Select(items=(f.Function("year", (DELAY,)),)),
        f.Select(items=(f.Aggregate("stddev", DELAY),)),
    ],
)
@pytest.mark.parametrize("schema", [POSTGRES, DUCKDB], ids=["postgres", "duckdb"])
def test_what_has_no_unit_is_not_written(form: f.Select, schema: Schema) -> None:
    with pytest.raises(UnsupportedQuery):
        write_sql(form, schema)


@pytest.mark.parametrize(
    ("question", "number", "said"),
    [
        ("Trips that were more than 30 minutes late", 30, "30 minutes"),
        ("Trips delayed by over 2 hrs", 2, "2 hours"),
        ("Trips delayed by over 1,500 ms", "1500", "1500 milliseconds"),
        ("Delays longer than 3 months", 3, "3 months"),
        ("Trips delayed by more than 30", 30, 30),
        ("Between 30 minutes and 30 hours", 30, 30),
        ("Delays of at least 30 minutes", 5, 5),
    ],
)
def test_numbers_get_the_units_of_the_question(
    question: str, number: float | str, said: float | str
) -> None:
    form = where(f.Comparison(">", DELAY, f.Literal(number)))
    expected = where(f.Comparison(">", DELAY, f.Literal(said)))
    assert with_units(form, POSTGRES, question) == expected


def test_columns_that_are_no_intervals_keep_their_numbers() -> None:
    form = where(f.Comparison(">", ID, f.Literal(30)))
    assert with_units(form, POSTGRES, "more than 30 minutes") == form


@pytest.mark.parametrize("case", CONDITIONS)
def test_facts_are_those_of_the_form(case: tuple[f.Condition, str, str, list[int]]) -> None:
    condition, *written, _ = case
    form = where(condition)
    if isinstance(condition, f.InList):
        return  # a list is written as alternatives
    for schema, text in zip((POSTGRES, DUCKDB), written, strict=True):
        facts = read_facts(f"SELECT id FROM trips WHERE {text}", schema)
        assert facts is not None
        told = form_facts(form, schema)
        assert (facts.columns, facts.texts) == (told.columns, told.texts)
