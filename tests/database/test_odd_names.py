"""Tables and columns by any name can be asked, in every engine, and hints write them so."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sqlwright.cli.commands.sql import advice_on
from sqlwright.database import open_database
from sqlwright.database.guarded import GuardedDatabase
from sqlwright.protocols import Run
from sqlwright.schema import Column, Schema, Table
from sqlwright.sql.dialects import dialect_named
from tests.servers.mariadb import MariadbServer
from tests.servers.postgres import PostgresServer

NAMES = (
    "sales.2024", 'a"b', "a`b", "it's", "select", "user", "Größe", "2024 sales", "Mixed Case",
    "UPPER", "a.b.c", "x;y", "per%cent", "[square]", "back\\slash", "q?m", "two\nlines", "$dollar",
)  # fmt: skip


def script(dialect: str) -> str:
    quoted = dialect_named(dialect).quoted
    return "".join(
        f"CREATE TABLE {quoted(name)} ({quoted(name)} VARCHAR(9), n INT); "
        f"INSERT INTO {quoted(name)} VALUES ('x', 5), ('y', 7); "
        for name in NAMES
    )


def sqlite_url(folder: Path, _: pytest.FixtureRequest) -> str:
    connection = sqlite3.connect(folder / "names.db")
    connection.executescript(script("sqlite"))
    connection.close()
    return str(folder / "names.db")


def duckdb_url(folder: Path, _: pytest.FixtureRequest) -> str:
    duckdb = pytest.importorskip("duckdb", reason="needs the package duckdb")
    with duckdb.connect(str(folder / "names.duckdb")) as connection:
        connection.execute(script("duckdb"))
    return str(folder / "names.duckdb")


def postgres_url(_: Path, request: pytest.FixtureRequest) -> str:
    server: PostgresServer = request.getfixturevalue("postgres_server")
    return server.url(server.create(script("postgres")))


def mariadb_url(_: Path, request: pytest.FixtureRequest) -> str:
    server: MariadbServer = request.getfixturevalue("mariadb_server")
    return server.reader(server.create(script("mariadb")))


URLS: tuple[Callable[[Path, pytest.FixtureRequest], str], ...] = (
    sqlite_url, duckdb_url, postgres_url, mariadb_url,
)  # fmt: skip


@pytest.fixture(scope="module", params=URLS, ids=lambda made: made.__name__)
def url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    made: str = request.param(tmp_path_factory.mktemp("names"), request)
    return made


@pytest.fixture(params=[None, NAMES], ids=["all", "listed"])
def database(request: pytest.FixtureRequest, url: str) -> Iterator[GuardedDatabase]:
    with open_database(url, tables=request.param) as opened:
        assert isinstance(opened, GuardedDatabase)
        yield opened


def test_every_name_is_a_table_and_a_column(database: GuardedDatabase) -> None:
    quoted = dialect_named(database.dialect).quoted
    assert {table.name for table in database.schema().tables} == set(NAMES)
    for name in NAMES:
        query = f"SELECT t.n, t.{quoted(name)} FROM {quoted(name)} AS t WHERE {quoted(name)} = 'x'"
        result = database.execute(query, Run())
        assert (result.error, result.rows) == (None, ((5, "x"),)), name


@pytest.mark.parametrize(
    ("dialect", "stored", "written", "hint"),
    [
        ("postgres", "Orders", "Orders", '"Orders"'),
        ("postgres", "orders", "Orders", "orders"),
        ("mysql", "Orders", "orders", "Orders"),
        ("mysql", "sales.2024", "2024", "`sales.2024`"),
        ("duckdb", 'a"b c', "ab c", '"a""b c"'),
        ("sqlite", "sales.2024", "sales.2024x", '"sales.2024"'),
    ],
)
def test_a_hint_writes_a_name_as_a_query_has_to(
    dialect: str, stored: str, written: str, hint: str
) -> None:
    schema = Schema("shop", (Table(stored, (Column("Id"),)),), dialect=dialect)
    assert advice_on("unknown_table", written, schema) == f"Did you mean {hint}?"
    assert advice_on("unknown_table", hint, schema) == ""
