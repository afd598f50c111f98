"""What prompts say of dialects: their rules, worked examples that run on each engine, and names."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import date
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from sqlwright.prepare import open_workspace, prepare
from sqlwright.prompts.demonstrations import database_script, read_demonstrations
from sqlwright.prompts.dialects import dialect_rules, rules_for
from sqlwright.prompts.dialects.names import Names
from sqlwright.prompts.replies import sql_from
from sqlwright.prompts.schema import render_schema
from sqlwright.protocols import Catalog, Run
from sqlwright.schema import Column, ColumnRef, ForeignKey, Schema, SchemaView, Table
from sqlwright.sql.dialects import DIALECTS
from sqlwright.sql.guard import check_query
from tests.servers.mariadb import MariadbServer
from tests.servers.postgres import PostgresServer

KINDS = (
    "divide_and_conquer", "query_plan", "query_plan_short", "revise", "refine_nested",
    "sub_sql_first", "sub_sql_next",
)  # fmt: skip
DATABASES = ("allotments", "bakery", "clinic", "ferries", "library")
Rows = Callable[[str, str], list[tuple[Any, ...]]]


def _told(rows: Any) -> list[list[Any]]:
    """Rows in any order, with decimals as numbers and dates as SQLite stores them."""
    return sorted(
        [
            [
                round(float(cell), 9)
                if isinstance(cell, int | float | Decimal)
                else str(cell)
                if isinstance(cell, date)
                else cell
                for cell in row
            ]
            for row in rows
        ],
        key=repr,
    )


def _check(dialect: str, run: Rows, errors: type[Exception]) -> None:
    """Each query of each worked example gives the rows that are stated, whatever their order; one
    that fails, the error that is told."""
    for entry in read_demonstrations("revise", dialect):
        if "error" in entry["fits"]:
            with pytest.raises(errors) as error:
                run(entry["database"], entry["faulty"])
            told = entry["outcome"].removeprefix("It failed with an error: ").strip()
            assert told in str(error.value)
    for name in KINDS:
        for entry in read_demonstrations(name, dialect):
            assert _told(run(entry["database"], entry["sql"])) == _told(entry["rows"]), entry["sql"]
            if "earlier_sql" in entry:
                earlier = run(entry["database"], entry["earlier_sql"])
                assert _told(earlier) == _told(entry["earlier_rows"])


def test_the_worked_examples_give_the_same_rows_on_duckdb() -> None:
    duckdb = pytest.importorskip("duckdb", reason="duckdb isn't installed")

    @cache
    def opened(name: str) -> Any:
        connection = duckdb.connect()
        connection.execute(database_script(name, "duckdb"))
        return connection

    _check("duckdb", lambda name, sql: opened(name).execute(sql).fetchall(), duckdb.Error)


def test_the_worked_examples_give_the_same_rows_on_postgresql(
    postgres_server: PostgresServer, postgres_database: Callable[[str], str]
) -> None:
    made = {name: postgres_database(database_script(name, "postgres")) for name in DATABASES}
    import psycopg

    _check("postgres", lambda name, sql: postgres_server.rows(sql, made[name]), psycopg.Error)


def test_the_worked_examples_give_the_same_rows_on_mariadb(
    mariadb_server: MariadbServer, mariadb_database: Callable[[str], str]
) -> None:
    made = {name: mariadb_database(database_script(name, "mariadb")) for name in DATABASES}
    import pymysql

    _check("mariadb", lambda name, sql: mariadb_server.rows(sql, made[name]), pymysql.MySQLError)


@pytest.mark.parametrize("dialect", ["postgres", "duckdb", "mysql", "clickhouse"])
def test_nothing_of_sqlite_alone_is_left_in_other_dialects(dialect: str) -> None:
    for name in KINDS:
        for entry in read_demonstrations(name, dialect):
            for field in ("sql", "reasoning", "schema", "faulty"):
                told = entry.get(field, "")
                assert "strftime('" not in told
                assert "date(" not in told
                assert "AS REAL" not in told


def test_every_dialect_has_rules() -> None:
    for dialect in DIALECTS.values():
        rules = dialect_rules(dialect.name)
        assert set(rules) == {"nulls", "types", "number", "writing"}
        told = " ".join(map(str, rules["writing"]))
        assert dialect.title in told
    assert "Clickhouse" in str(dialect_rules("clickhouse")["writing"][0])


KINDS_OF_TYPES = """
CREATE TABLE trips (delay INTERVAL, tags TEXT[], extras JSON);
INSERT INTO trips VALUES (INTERVAL '90 minutes', ARRAY['a', 'b'], '{"key": "9"}');
"""
FOLLOWED = {
    "postgres": "SELECT EXTRACT(EPOCH FROM delay) / 60, 'a' = ANY (tags), cardinality(tags), "
    "CAST(extras ->> 'key' AS INTEGER), e FROM trips CROSS JOIN unnest(tags) AS t(e) "
    "WHERE delay > INTERVAL '30 minutes'",
    "duckdb": "SELECT epoch(delay) / 60, list_contains(tags, 'a'), len(tags), "
    "CAST(extras ->> '$.key' AS INTEGER), unnest(tags) FROM trips "
    "WHERE delay > INTERVAL '30 minutes'",
}
"""Queries that do what the rules on kinds of types say."""


@pytest.mark.parametrize("dialect", list(FOLLOWED))
def test_rules_on_kinds_of_types_run_and_pass_the_check(
    dialect: str, request: pytest.FixtureRequest
) -> None:
    sql = FOLLOWED[dialect]
    check_query(sql, dialect, readable={"trips"}, columns={"delay", "tags", "extras"})
    if dialect == "postgres":
        made = request.getfixturevalue("postgres_database")(KINDS_OF_TYPES)
        rows = request.getfixturevalue("postgres_server").rows(sql, made)
    else:
        duckdb = pytest.importorskip("duckdb", reason="duckdb isn't installed")
        connection = duckdb.connect()
        connection.execute(KINDS_OF_TYPES)
        rows = connection.execute(sql).fetchall()
    assert _told(rows) == [[90, 1, 2, 9, "a"], [90, 1, 2, 9, "b"]]


TEXTS = """
CREATE TABLE trips (id INT, extras TEXT, note TEXT);
INSERT INTO trips VALUES (1, '{"key": "9", "who": "Ada"}', 'a'), (2, '{"key": "10"}', 'b');
"""
JSON_TEXTS = {
    "sqlite": "SELECT extras ->> '$.who', CAST(extras ->> '$.key' AS INTEGER) FROM trips "
    "WHERE extras ->> '$.key' <> '10'",
    "postgres": "SELECT CAST(extras AS JSONB) ->> 'who', "
    "CAST(CAST(extras AS JSONB) ->> 'key' AS INTEGER) FROM trips "
    "WHERE CAST(extras AS JSONB) ->> 'key' <> '10'",
    "duckdb": "SELECT extras ->> '$.who', CAST(extras ->> '$.key' AS INTEGER) FROM trips "
    "WHERE (extras ->> '$.key') <> '10'",
    "mariadb": "SELECT JSON_UNQUOTE(JSON_EXTRACT(extras, '$.who')), "
    "CAST(JSON_UNQUOTE(JSON_EXTRACT(extras, '$.key')) AS SIGNED) FROM trips "
    "WHERE JSON_UNQUOTE(JSON_EXTRACT(extras, '$.key')) <> '10'",
}
"""Queries that do what the rules on texts that are JSON say."""


@pytest.mark.parametrize("dialect", list(JSON_TEXTS))
def test_json_in_text_columns_has_a_rule_that_runs_and_passes_the_check(
    dialect: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """The profile of the database itself says which columns hold JSON."""
    if dialect in {"postgres", "mariadb"}:
        made = request.getfixturevalue(f"{dialect}_database")(TEXTS)
        server = request.getfixturevalue(f"{dialect}_server")
        url = server.url(made) if dialect == "postgres" else server.owner(made)
    else:
        url = str(tmp_path / f"trips.{dialect}")
        module = sqlite3 if dialect == "sqlite" else pytest.importorskip("duckdb")
        with closing(module.connect(url)) as connection:
            for statement in TEXTS.split(";\n"):
                connection.execute(statement)
            connection.commit()
    prepare(url, folder=tmp_path / "prepared")
    opened = open_workspace(url, folder=tmp_path / "prepared")
    try:
        (rule,) = _told_of_json(opened.schema, opened.catalog)
        assert "text column that holds JSON" in rule
        assert _told_of_json(opened.schema, None) == []
        result = opened.database.execute(JSON_TEXTS[dialect], Run())
    finally:
        opened.database.close()
    assert result.error is None
    assert [tuple(row) for row in result.rows] == [("Ada", 9)]


def _told_of_json(schema: Schema, catalog: Catalog | None) -> list[str]:
    plain = set(map(str, dialect_rules(schema.dialect)["writing"]))
    return [one for one in map(str, rules_for(schema, catalog)["writing"]) if one not in plain]


def test_rules_speak_of_the_kinds_that_a_database_has() -> None:
    columns = (Column("delay", "interval"), Column("tags", "text[]"), Column("name", "text"))
    with_kinds = Schema("trips", (Table("trips", columns),), (), "postgres")
    plain = Schema("trips", (Table("trips", columns[2:]),), (), "postgres")
    more = [str(rule) for rule in rules_for(with_kinds)["writing"]]
    assert rules_for(plain) == dialect_rules("postgres")
    assert [rule for rule in more if "= ANY (x)" in rule or "EPOCH" in rule] == more[-2:]
    assert not any("->>" in rule for rule in more)


def test_sqlite_database_of_examples_is_as_written() -> None:
    connection = sqlite3.connect(":memory:")
    connection.executescript(database_script("clinic"))
    assert "TEXT NOT NULL, -- YYYY-MM-DD" in database_script("clinic")


def _schema(dialect: str) -> Schema:
    orders = Table(
        "orders",
        (
            Column("id", "INTEGER", nullable=False),
            Column("Order", "TEXT"),
            Column("customerId", "INTEGER"),
        ),
        primary_key=("id",),
    )
    sold = Table("Sales.orders", (Column("id", "BIGINT"),), namespace="Sales")
    key = ForeignKey("orders", ("customerId",), "Sales.orders", ("id",))
    return Schema("shop", (orders, sold), (key,), dialect)


@pytest.mark.parametrize(
    ("dialect", "order", "customer", "table"),
    [
        ("sqlite", '"Order"', "customerId", "Sales.orders"),
        ("postgres", '"Order"', '"customerId"', '"Sales".orders'),
        ("duckdb", '"Order"', "customerId", "Sales.orders"),
        ("mysql", "`Order`", "customerId", "Sales.orders"),
    ],
)
def test_names_are_written_as_a_query_of_the_dialect_has_them(
    dialect: str, order: str, customer: str, table: str
) -> None:
    schema = _schema(dialect)
    names = Names(schema)
    assert names.own("Order") == order
    assert names.column(ColumnRef("orders", "customerId")) == f"orders.{customer}"
    assert names.table("Sales.orders") == table
    shown = str(render_schema(SchemaView(schema)))
    assert f"CREATE TABLE {table} (" in shown
    assert f"FOREIGN KEY ({customer}) REFERENCES {table} (id)" in shown
    assert f"  {order} TEXT" in shown


@pytest.mark.parametrize("tag", ["sql", "postgresql", "PostgreSQL", "duckdb", "mysql", "tsql"])
def test_a_query_is_read_from_a_fence_of_any_dialect(tag: str) -> None:
    reply = f"Here is why: SELECT is needed.\n```python\nprint(1)\n```\n```{tag}\nSELECT 1;\n```"
    assert sql_from(reply) == "SELECT 1"
    assert sql_from(f"So ```{tag} SELECT 2``` it is.") == "SELECT 2"
