"""Reading SQL takes a bounded number of steps, can be stopped, and says nothing on the side."""

from __future__ import annotations

import contextlib
import logging
import random
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from sqlwright.errors import UnsafeQuery, UnsupportedQuery
from sqlwright.local.form.read.sql import read_sql
from sqlwright.schema import Column, Schema, Table
from sqlwright.sql.guard import check_query
from sqlwright.sql.in_words.query import read_query
from sqlwright.sql.reading import (
    columns_used,
    compared_texts,
    format_sql,
    has_order_by,
    is_query,
    read_facts,
    tables_used,
)
from sqlwright.sql.token_check import tokens_within_limits
from sqlwright.sql.tokens import tokenize
from sqlwright.sql.tree import parse, parse_text, query_tree, stopped_by
from tests.database.shapes import Shape, all_shapes, random_text

CASES = Path(__file__).parents[1] / "cases" / "guard"
EXPONENTIAL = [
    Shape(*case) for case in yaml.safe_load((CASES / "exponential.yaml").read_text("utf-8"))
]
SCHEMA = Schema("s", (Table("p", (Column("a"), Column("b"))),))
READERS: dict[str, tuple[Callable[[str], object], object]] = {
    "is_query": (is_query, False),
    "tables_used": (tables_used, ()),
    "columns_used": (lambda sql: columns_used(sql, SCHEMA), ()),
    "compared_texts": (lambda sql: compared_texts(sql, SCHEMA), ()),
    "has_order_by": (has_order_by, False),
    "read_facts": (lambda sql: read_facts(sql, SCHEMA), None),
}


class StoppedError(Exception):
    """What a caller raises to end the reading."""


@pytest.mark.parametrize("shape", EXPONENTIAL, ids=lambda shape: shape.text(2))
def test_what_has_too_many_readings_is_refused(shape: Shape) -> None:
    sql = shape.text(30)
    with pytest.raises(UnsafeQuery):
        check_query(sql)
    for read, nothing in READERS.values():
        assert read(sql) == nothing
    assert format_sql(sql) == sql
    with pytest.raises(UnsupportedQuery):
        read_sql(sql, SCHEMA)


@pytest.mark.parametrize("part", range(8))
def test_every_shape_is_read_in_few_steps(part: int) -> None:
    """A stop is asked for every 256 steps: that tells how many there were."""
    shapes = random.Random(part).sample(list(all_shapes()), 150)
    for text in [shape.text(times) for shape in shapes for times in (15, 60)]:
        asked = 0

        def count() -> None:
            nonlocal asked
            asked += 1

        try:
            tokens = tokens_within_limits(text)
            parse(tokens, count)
        except UnsafeQuery:
            continue
        assert asked <= 2 + (2_000 + 4 * len(tokens)) // 256, text


@pytest.mark.parametrize("seed", range(20))
def test_any_text_is_read_or_not(seed: int) -> None:
    sql = random_text(random.Random(seed), 3_000)
    query_tree(sql)
    for read, _ in READERS.values():
        read(sql)
    format_sql(sql)
    try:
        read_sql(sql, SCHEMA)
    except UnsupportedQuery:
        return


@pytest.mark.parametrize("operator", ["+", "AND", "OR", "||", "->", "UNION ALL SELECT", ","])
def test_long_chains_are_read(operator: str) -> None:
    times = 90 if "SELECT" in operator else 3_000
    sql = "SELECT " + f" {operator} ".join(["a"] * times) + " FROM p"
    assert columns_used(sql, SCHEMA)
    assert tables_used(sql) == ("p",)
    assert format_sql(sql)
    assert read_facts(sql, SCHEMA) is not None
    try:
        read_sql(sql, SCHEMA)
    except UnsupportedQuery:
        return


def test_joins_without_conditions_are_still_queries() -> None:
    check_query("SELECT * FROM a JOIN b JOIN c JOIN d JOIN e JOIN f JOIN g JOIN h JOIN i")
    check_query("SELECT date(datetime(date(json_extract(a, '$.x')))) FROM p")


def test_reading_stops_when_it_is_told_to() -> None:
    asked = 0

    def stop() -> None:
        nonlocal asked
        asked += 1
        if asked == 3:
            raise StoppedError

    tokens = tokenize("SELECT " + ", ".join(f"a{i}" for i in range(4_000)))
    with pytest.raises(StoppedError):
        parse(tokens, stop)
    assert parse(tokens) is parse(tokens)  # what was stopped is read from the beginning


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT json_extract(a, '$[\x1b]0;PWNED\x07\x1b[31m') FROM p",
        "WITH x AS (EXPLAIN '\x1b]0;PWNED\x07') SELECT * FROM x",
        "SELECT a -> '$[\x1b[31m' FROM p",
        'SELECT x FROM (SELECT 1 AS x) AS t("\x1b[31m")',
        "SELECT x FROM p TABLESAMPLE (1)",
        "SELECT 1 , fetch '\x1b[31m'",
    ],
)
def test_the_parser_logs_nothing(
    sql: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(logging.DEBUG), caplog.at_level(logging.DEBUG, logger="sqlglot"):
        with contextlib.suppress(UnsafeQuery):
            check_query(sql)
        with contextlib.suppress(UnsafeQuery):
            check_query("SELECT * FROM v", views={"v": f"CREATE VIEW v AS {sql} "})
        format_sql(sql + " -- again")
        columns_used(sql, SCHEMA)
        read_query(sql, SCHEMA)
        with contextlib.suppress(UnsupportedQuery):
            read_sql(sql, SCHEMA)
        assert not caplog.records
        assert capfd.readouterr() == ("", "")
        logging.getLogger("sqlglot").warning("another's own")
    assert [record.message for record in caplog.records] == ["another's own"]


SUBSCRIPTS = {
    "in a row": "SELECT a" + "[1]" * 300 + " FROM p",
    "of fields": "SELECT a" + "[1].b" * 300 + " FROM p",
    "slices": "SELECT a" + "[1:2]" * 300 + " FROM p",
    "by name": "SELECT a" + "['x']" * 300 + " FROM p",
    "in parentheses": "SELECT " + "(" * 30 + "a" + "[1])" * 30 + " FROM p",
    "of many columns": "SELECT " + ", ".join(["a" + "[1]" * 20] * 100) + " FROM p",
    "of long sums": "SELECT " + ", ".join([f"({'+'.join('a' * 60)})[1]"] * 60) + " FROM p",
}


@pytest.mark.parametrize("dialect", ["postgres", "duckdb", "clickhouse", "trino"])
@pytest.mark.parametrize("sql", SUBSCRIPTS.values(), ids=list(SUBSCRIPTS))
def test_what_a_subscript_follows_counts_as_steps(sql: str, dialect: str) -> None:
    """The parser reads it again for its type, which takes time of the square and no step."""
    with pytest.raises(UnsafeQuery, match="too many readings"):
        parse_text(sql, dialect)
    schema = Schema("s", SCHEMA.tables, dialect=dialect)
    assert compared_texts(sql, schema) == ()
    assert format_sql(sql, dialect) == sql


@pytest.mark.parametrize("dialect", ["postgres", "duckdb", "clickhouse", "trino"])
def test_subscripts_that_somebody_means_are_read(dialect: str) -> None:
    for item, times in {
        "a[1]": 300, "a['x']['y'][1]": 40, "(a + b)[1:2]": 100, "array[1, 2][1]": 60,
        "lower(substr(trim(a), 1, 2))[1]": 50,
    }.items():  # fmt: skip
        assert is_query("SELECT " + ", ".join([item] * times) + " FROM p", dialect)


@pytest.mark.parametrize(
    "read",
    [
        is_query,
        tables_used,
        has_order_by,
        format_sql,
        lambda sql, dialect: columns_used(sql, Schema("s", SCHEMA.tables, dialect=dialect)),
        lambda sql, dialect: compared_texts(sql, Schema("s", SCHEMA.tables, dialect=dialect)),
        lambda sql, dialect: read_query(sql, Schema("s", SCHEMA.tables, dialect=dialect)),
    ],
)
@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", "mysql"])
def test_every_reader_stops_with_what_it_is_read_within(
    read: Callable[[str, str], object], dialect: str, request: pytest.FixtureRequest
) -> None:
    sql = f"SELECT a, {', '.join('a' * 500)} FROM p WHERE b = '{request.node.name}'"

    def stop() -> None:
        raise StoppedError

    with stopped_by(stop), pytest.raises(StoppedError):
        read(sql, dialect)
    read(sql, dialect)  # nothing is kept of what was stopped
    with stopped_by(stop):
        assert is_query(sql, dialect)  # and what was read isn't read again
