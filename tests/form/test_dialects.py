"""Forms in the dialects of other engines: what is written, and that it finds the same rows."""

from __future__ import annotations

import datetime
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form.facts import form_facts
from sqlwright.local.form.read.sql import read_sql
from sqlwright.local.form.write.sql import write_sql
from sqlwright.schema import Column, ForeignKey, Schema, Table
from tests.form.notation import CASES, cases
from tests.servers.mariadb import MariadbServer

SCRIPT = (CASES / "form" / "typed_shop.sql").read_text("utf-8")
ROWS = cases("form/dialect_rows.yaml")
Rows = list[tuple[Any, ...]]


def typed_shop(dialect: str) -> Schema:
    """The schema of the script, its types as an engine tells them."""
    customers = Table(
        "customers",
        (
            Column("customer_id", "integer", nullable=False),
            Column("Name", "text", nullable=False),
            Column("city", "text"),
            Column("born", "date"),
            Column("seen", "text"),
            Column("spent", "text"),
            Column("code", "text"),
        ),
        ("customer_id",),
    )
    orders = Table(
        "orders",
        (
            Column("id", "integer", nullable=False),
            Column("customer_id", "integer"),
            Column("total", "double precision"),
            Column("pieces", "integer"),
            Column("at", "timestamp without time zone"),
            Column("paid", "boolean"),
            Column("user", "text"),
        ),
        ("id",),
    )
    archive = replace(orders, name="old.orders", namespace="old")
    keys = (
        ForeignKey("orders", ("customer_id",), "customers", ("customer_id",)),
        ForeignKey("old.orders", ("customer_id",), "customers", ("customer_id",)),
    )
    return Schema("shop", (customers, orders, archive), keys, dialect)


PLAIN = typed_shop("sqlite")


@pytest.fixture(scope="module")
def sqlite() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(SCRIPT)
        connection.create_aggregate("median", 1, _Median)
        connection.create_aggregate("percentile", 2, _Percentile)  # type: ignore[arg-type]
        yield connection


class _Percentile:
    """SQLite's own of that name, which not every build has."""

    def __init__(self) -> None:
        self._values: list[float] = []
        self._at = 50.0

    def step(self, value: float | None, at: float) -> None:
        self._at = at
        if value is not None:
            self._values.append(value)

    def finalize(self) -> float | None:
        values = sorted(self._values)
        if not values:
            return None
        place = (len(values) - 1) * self._at / 100
        low = int(place)
        high = min(low + 1, len(values) - 1)
        return values[low] + (values[high] - values[low]) * (place - low)


class _Median(_Percentile):
    def step(self, value: float | None, at: float = 50.0) -> None:
        super().step(value, at)


@pytest.fixture(scope="module")
def duck() -> Iterator[Any]:
    duckdb = pytest.importorskip("duckdb", reason="duckdb isn't installed")
    with closing(duckdb.connect()) as connection:
        connection.execute(SCRIPT)
        yield connection


@pytest.mark.parametrize("sql", [*ROWS, *cases("form/placed_rows.yaml")])
def test_duckdb_finds_the_same_rows(sqlite: sqlite3.Connection, duck: Any, sql: str) -> None:
    written = write_sql(read_sql(sql, PLAIN), typed_shop("duckdb"))
    assert comparable(duck.execute(written).fetchall(), sql) == expected(sqlite, sql), written


@pytest.fixture(scope="module")
def postgres(request: pytest.FixtureRequest) -> Iterator[Any]:
    try:
        server = request.getfixturevalue("postgres_server")
    except pytest.FixtureLookupError:
        pytest.skip("no PostgreSQL server is started for the tests")
    with closing(server.connect(server.create(SCRIPT))) as connection:
        yield connection


@pytest.mark.parametrize("sql", ROWS)
def test_postgres_finds_the_same_rows(sqlite: sqlite3.Connection, postgres: Any, sql: str) -> None:
    written = write_sql(read_sql(sql, PLAIN), typed_shop("postgres"))
    assert comparable(postgres.execute(written).fetchall(), sql) == expected(sqlite, sql), written


@pytest.fixture(scope="module")
def mariadb(mariadb_server: MariadbServer) -> Iterator[Any]:
    name = mariadb_server.create(SCRIPT.replace('"', "`"))
    with closing(mariadb_server.connect(name)) as connection, connection.cursor() as cursor:
        yield cursor


@pytest.mark.parametrize("sql", cases("form/placed_rows.yaml"))
def test_mariadb_finds_the_same_medians(sqlite: sqlite3.Connection, mariadb: Any, sql: str) -> None:
    written = write_sql(read_sql(sql, PLAIN), typed_shop("mariadb"))
    mariadb.execute(written)
    assert comparable(mariadb.fetchall(), sql) == expected(sqlite, sql), written


def expected(sqlite: sqlite3.Connection, sql: str) -> Rows:
    """SQLite's rows of a query."""
    return comparable(sqlite.execute(sql).fetchall(), sql)


def comparable(rows: Rows, sql: str) -> Rows:
    """Rows as SQLite has them, in order where the query has one."""
    plain = [tuple(map(_plain, row)) for row in rows]
    return plain if "ORDER BY" in sql.rpartition(")")[2] else sorted(plain, key=repr)


def _plain(cell: Any) -> Any:
    if isinstance(cell, bool):
        return int(cell)
    if isinstance(cell, Decimal | float):
        return round(float(cell), 6)
    if isinstance(cell, int):
        return float(cell)
    if isinstance(cell, datetime.datetime):
        return cell.isoformat(" ")
    return cell.isoformat() if isinstance(cell, datetime.date) else cell


@pytest.mark.parametrize("case", cases("form/dialects.yaml"), ids=lambda case: case["name"])
def test_is_written_in_each_dialect(case: dict[str, Any]) -> None:
    form = read_sql(case["sql"], PLAIN)
    written = {name: write_sql(form, typed_shop(name)) for name in case["written"]}
    assert written == case["written"]


BESIDE = (
    "SELECT customers.city, (SELECT max(total) FROM orders "
    "WHERE orders.customer_id = customers.customer_id), median(customers.customer_id) "
    "FROM customers GROUP BY customers.city"
)


def test_a_dialect_that_lacks_something_is_told() -> None:
    form = read_sql(BESIDE, PLAIN)
    with pytest.raises(UnsupportedQuery, match="median"):
        write_sql(form, typed_shop("mysql"))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT \"Name\" FROM customers WHERE born > '1990-01' ORDER BY city",
        'SELECT customers."Name", "old.orders".total FROM customers '
        'JOIN "old.orders" ON customers.customer_id = "old.orders".customer_id',
        "SELECT strftime('%W', at), rank() OVER (ORDER BY total) FROM orders",
    ],
)
def test_facts_are_the_same_whatever_the_dialect(sql: str) -> None:
    form = read_sql(sql, PLAIN)
    assert form_facts(form, typed_shop("postgres")) == form_facts(form, PLAIN)
