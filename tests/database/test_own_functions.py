"""Functions of the engines' own: harmless ones run, others don't, in the engines themselves."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from sqlwright.database import open_database
from sqlwright.protocols import Database, Run
from sqlwright.sql.token_check import FUNCTIONS
from tests.servers.mariadb import MariadbServer
from tests.servers.postgres import PostgresServer

CASES: dict[str, Any] = yaml.safe_load(
    (Path(__file__).parents[1] / "cases" / "guard" / "functions.yaml").read_text("utf-8")
)
SCRIPT = "CREATE TABLE t (n INT, s VARCHAR(9)); INSERT INTO t VALUES (1, 'x');"
WIDTH = "CREATE FUNCTION width(int) RETURNS int LANGUAGE sql AS 'SELECT 1';"
"""Of the same name as one of the server's: a name alone may be either."""


def made(engine: str, folder: Path, request: pytest.FixtureRequest) -> str:
    if engine == "sqlite":
        connection = sqlite3.connect(folder / "t.db")
        connection.executescript(SCRIPT)
        connection.close()
        return str(folder / "t.db")
    if engine == "duckdb":
        duckdb = pytest.importorskip("duckdb", reason="needs the package duckdb")
        with duckdb.connect(str(folder / "t.duckdb")) as opened:
            opened.execute(SCRIPT)
        return str(folder / "t.duckdb")
    if engine == "postgres":
        server: PostgresServer = request.getfixturevalue("postgres_server")
        return server.url(server.create(SCRIPT + WIDTH))
    other: MariadbServer = request.getfixturevalue("mariadb_server")
    return other.owner(other.create(SCRIPT))


@pytest.fixture(scope="module")
def opened(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], Database]]:
    databases: dict[str, Any] = {}

    def open_one(engine: str) -> Database:
        if engine not in databases:
            url = made(engine, tmp_path_factory.mktemp(engine), request)
            databases[engine] = open_database(url)
        found: Database = databases[engine]
        return found

    yield open_one
    for database in databases.values():
        database.close()


@pytest.mark.parametrize(
    ("engine", "call", "runs"),
    [
        (engine, call, kind == "harmless")
        for engine, kinds in CASES.items()
        for kind, calls in kinds.items()
        for call in calls
    ],
)
def test_a_call(engine: str, call: str, runs: bool, opened: Callable[[str], Database]) -> None:
    error = opened(engine).execute(f"SELECT {call} AS x FROM t", Run()).error
    if runs:
        assert error is None
    else:
        assert error is not None
        assert error.kind == "unsafe" or error.cause == "unknown_function"


def test_what_sqlites_connection_lets_pass_the_check_does_too() -> None:
    from sqlwright.database.sqlite.allowed import FUNCTIONS as BY_CONNECTION

    assert {name for name in BY_CONNECTION - FUNCTIONS if name.isidentifier()} == {
        "subtype", "current_date", "current_time", "current_timestamp",
    }  # fmt: skip


def test_what_duckdbs_connection_lets_pass_the_check_does_too() -> None:
    pytest.importorskip("duckdb", reason="needs the package duckdb")
    from sqlwright.database.duckdb.statement_check import FUNCTIONS as BY_CONNECTION
    from sqlwright.sql.dialects import DUCKDB
    from sqlwright.sql.guards.rules import rules_of

    rules = rules_of(DUCKDB)
    assert BY_CONNECTION - rules.functions - rules.table_functions == {"pg_typeof"}
