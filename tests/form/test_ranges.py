"""Dates compared with days, months and years on engines with types: ranges that find the right
rows and that an index serves, and comparisons that mean nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form.read.sql import read_sql
from sqlwright.local.form.write.sql import write_sql
from sqlwright.schema import Column, Schema, Table
from tests.form.notation import CASES, cases
from tests.servers.mariadb import MariadbServer

SCRIPT = (CASES / "form" / "times.sql").read_text("utf-8")


def times(dialect: str, declared: str = "timestamp") -> Schema:
    columns = (
        Column("id", "integer", nullable=False),
        Column("d", "date"),
        Column("t", declared),
        Column("paid", "boolean"),
    )
    return Schema("times", (Table("times", columns, ("id",)),), (), dialect)


PLAIN = times("sqlite")


def found() -> Iterator[Any]:
    for case in cases("form/ranges.yaml"):
        named = ("d", "t") if "{}" in case["where"] else ("",)
        for column in named:
            where = case["where"].replace("{}", column)
            yield pytest.param(where, case["ids"], id=where)


def written(where: str, schema: Schema) -> str:
    return write_sql(read_sql(f"SELECT id FROM times WHERE {where}", PLAIN), schema)


@pytest.fixture(scope="module")
def duck() -> Iterator[Any]:
    duckdb = pytest.importorskip("duckdb", reason="duckdb isn't installed")
    with closing(duckdb.connect()) as connection:
        connection.execute(SCRIPT)
        yield connection


@pytest.mark.parametrize(("where", "ids"), list(found()))
def test_duckdb_finds_them(duck: Any, where: str, ids: list[int]) -> None:
    sql = written(where, times("duckdb"))
    assert sorted(row[0] for row in duck.execute(sql).fetchall()) == ids, sql


@pytest.fixture(scope="module")
def postgres(postgres_server: Any) -> Iterator[Any]:
    with closing(postgres_server.connect(postgres_server.create(SCRIPT))) as connection:
        yield connection


@pytest.mark.parametrize(("where", "ids"), list(found()))
def test_postgres_finds_them(postgres: Any, where: str, ids: list[int]) -> None:
    sql = written(where, times("postgres"))
    assert sorted(row[0] for row in postgres.execute(sql).fetchall()) == ids, sql


@pytest.fixture(scope="module")
def mariadb(mariadb_server: MariadbServer) -> Iterator[Any]:
    # What MariaDB calls a timestamp begins in 1970.
    name = mariadb_server.create(SCRIPT.replace("TIMESTAMP", "DATETIME"))
    with closing(mariadb_server.connect(name)) as connection, connection.cursor() as cursor:
        yield cursor


@pytest.mark.parametrize(("where", "ids"), list(found()))
def test_mariadb_finds_them(mariadb: Any, where: str, ids: list[int]) -> None:
    sql = written(where, times("mariadb", "datetime"))
    mariadb.execute(sql)
    assert sorted(row[0] for row in mariadb.fetchall()) == ids, sql


@pytest.mark.parametrize("dialect", ["postgres", "duckdb", "mariadb", "snowflake"])
@pytest.mark.parametrize(("where", "ids"), list(found()))
def test_the_column_itself_is_compared(where: str, ids: list[int], dialect: str) -> None:
    del ids
    texts = r"EXTRACT|TO_CHAR|STRFTIME|DATE_FORMAT|AS (TEXT|CHAR|VARCHAR)|CAST\(\W?[dt]\W? |LIKE"
    assert re.search(texts, written(where, times(dialect))) is None


ZONED = """
SET TimeZone = 'America/New_York';
CREATE TABLE times (id INTEGER PRIMARY KEY, t TIMESTAMPTZ);
INSERT INTO times VALUES
    (1, '2024-02-01 04:59:59+00'),
    (2, '2024-02-01 05:00:00+00'),
    (3, '2024-03-01 04:59:59+00'),
    (4, '2024-03-01 05:00:00+00'),
    (5, '2024-03-10 23:59:59-04'),
    (6, NULL);
"""
IN_NEW_YORK = [
    ("strftime('%Y-%m', t) = '2024-02'", [2, 3]),
    ("t = '2024-02'", [2, 3]),
    ("t > '2024-02'", [4, 5]),
    ("date(t) <= '2024-02-29'", [1, 2, 3]),
    ("date(t) = '2024-01-31'", [1]),
    ("t = '2024-03-10'", [5]),  # a day of 23 hours
]


@pytest.mark.parametrize(("where", "ids"), IN_NEW_YORK)
def test_days_begin_where_the_session_is(postgres_server: Any, where: str, ids: list[int]) -> None:
    sql = written(where, times("postgres", "timestamp with time zone"))
    assert "DATE" not in sql
    database = postgres_server.create(ZONED)
    with closing(postgres_server.connect(database)) as connection:
        connection.execute("SET TimeZone = 'America/New_York'")
        assert sorted(row[0] for row in connection.execute(sql).fetchall()) == ids, sql


@pytest.mark.parametrize(("where", "ids"), IN_NEW_YORK)
def test_days_begin_where_duckdbs_session_is(where: str, ids: list[int]) -> None:
    duckdb = pytest.importorskip("duckdb", reason="duckdb isn't installed")
    sql = written(where, times("duckdb", "TIMESTAMP WITH TIME ZONE"))
    with closing(duckdb.connect()) as connection:
        connection.execute(ZONED)
        assert sorted(row[0] for row in connection.execute(sql).fetchall()) == ids, sql


def test_postgres_goes_by_the_index_and_reads_one_partition(postgres_server: Any) -> None:
    script = """
        CREATE TABLE times (id INTEGER, d DATE, t TIMESTAMPTZ, paid BOOLEAN) PARTITION BY RANGE (t);
        CREATE TABLE early PARTITION OF times FOR VALUES FROM (MINVALUE) TO ('2024-01-01');
        CREATE TABLE late PARTITION OF times FOR VALUES FROM ('2024-01-01') TO (MAXVALUE);
        CREATE INDEX ON times (d);
    """
    schema = times("postgres", "timestamp with time zone")
    with closing(postgres_server.connect(postgres_server.create(script))) as connection:
        connection.execute("SET enable_seqscan = off")

        def plan(where: str) -> str:
            rows = connection.execute(f"EXPLAIN {written(where, schema)}").fetchall()
            return "\n".join(row[0] for row in rows)

        assert plan("strftime('%Y-%m', d) = '2023-02'").count("Index Cond: ((d >= ") == 2
        assert "late" in plan("strftime('%Y', t) = '2025'")
        assert "early" not in plan("strftime('%Y', t) = '2025'")
        assert "late" not in plan("t < '2022-05'")


LAST = [
    ("t = '9999-12-31'", "t = DATE '9999-12-31'"),
    ("strftime('%Y', t) = '9999'", "EXTRACT(YEAR FROM t) = 9999"),
    ("t >= '9999'", "t >= DATE '9999-01-01'"),
    ("strftime('%Y', d) < '0001'", "d < DATE '0001-01-01'"),
    ("strftime('%Y', d) < '0000'", "EXTRACT(YEAR FROM d) < 0000"),
]


@pytest.mark.parametrize(("where", "condition"), LAST)
def test_the_last_year_has_no_day_after(postgres: Any, where: str, condition: str) -> None:
    sql = written(where, times("postgres"))
    assert sql == f"SELECT id FROM times WHERE {condition}"
    assert postgres.execute(sql).fetchall() == []


@pytest.mark.parametrize(
    "where",
    [
        "paid != ''",
        "paid = 'organic'",
        "paid IN ('yes', 'perhaps')",
        "paid > 'x'",
        "paid LIKE '%organic%'",
        "id = ''",
        "id != 'x'",
        "id > 'many'",
        "id IN (1, 'x')",
        "id BETWEEN '' AND '9'",
        "d = ''",
        "d != 'unknown'",
        "d > 'x'",
        "t = 'null'",
        "date(t) = 'May'",
        "strftime('%m', d) = 'May'",
        "strftime('%H', t) < '1990'",
        "paid != 3",
        "paid = strftime('%Y', d)",
        "t NOT IN (SELECT id FROM times)",
        "id > d",
        "t LIKE 'May%'",
    ],
)
@pytest.mark.parametrize("dialect", ["postgres", "duckdb", "mariadb"])
def test_a_comparison_that_means_nothing_isnt_written(where: str, dialect: str) -> None:
    with pytest.raises(UnsupportedQuery, match="compare"):
        written(where, times(dialect))


@pytest.mark.parametrize(
    ("where", "ids"),
    [
        ("paid = 'yes'", [1, 3, 5, 8, 9]),
        ("paid != 't'", [2, 4, 7, 10]),
        ("paid = 'off'", [2, 4, 7, 10]),
        ("paid IN ('1', 'no')", [1, 2, 3, 4, 5, 7, 8, 9, 10]),
        ("paid > '0'", [1, 3, 5, 8, 9]),
        ("paid LIKE '%no%'", [2, 4, 7, 10]),
        ("paid NOT LIKE 'no'", [1, 3, 5, 8, 9]),
        ("id = ' 7 '", [7]),
        ("d = 'infinity'", []),
        ("t LIKE '%-02-29%'", [8, 9]),
    ],
)
def test_a_comparison_that_means_something_is(
    postgres: Any, duck: Any, where: str, ids: list[int]
) -> None:
    for dialect, connection in (("postgres", postgres), ("duckdb", duck)):
        sql = written(where, times(dialect))
        assert sorted(row[0] for row in connection.execute(sql).fetchall()) == ids, sql
