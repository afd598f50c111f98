"""The connection alone stops every attack, and no byte of the database's folder changes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from sqlwright.database.failures import Failure, ReadFailed, Refused
from tests.database.conftest import folder_state
from tests.database.duckdb.conftest import make_database

duckdb = pytest.importorskip("duckdb", reason="needs the package duckdb")

from sqlwright.database.duckdb.connection import GuardedConnection, Machine  # noqa: E402
from sqlwright.database.duckdb.engine import FAILURES, explain_failure  # noqa: E402

CASES = Path(__file__).parents[2] / "cases"


def cases(name: str) -> Any:
    return yaml.safe_load((CASES / name).read_text(encoding="utf-8"))


ATTACKS = [
    pytest.param(sql, id=f"attacks-{number}")
    for number, sql in enumerate(cases("duckdb/attacks.yaml"), 1)
]
ACCEPTED = cases("duckdb/accepted.yaml")
SETUP = cases("guard/setup.yaml")
python_variable = [1]


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    database = make_database(tmp_path_factory.mktemp("attacked") / "shop.duckdb")
    (database.parent / "secret.csv").write_text("a,b\ncanary,1\n", encoding="utf-8")
    return database


@pytest.fixture(scope="module")
def guarded(attacked: Path) -> Iterator[GuardedConnection]:
    machine = Machine(2)
    machine.set_memory(200_000_000)
    connection = GuardedConnection({"file": str(attacked), "tables": None}, machine)
    yield connection
    connection.close()


def test_of_the_tree_checks_attacks_none_does_harm(tmp_path: Path) -> None:
    file = tmp_path / "shop.duckdb"
    with duckdb.connect(str(file)) as connection:
        for statement in SETUP["duckdb"]["statements"]:
            connection.execute(statement)
        connection.execute("INSERT INTO secrets VALUES (1, 'canary-4711')")
    machine = Machine(2)
    machine.set_memory(200_000_000)
    tables = [*SETUP["readable"], *SETUP["duckdb"]["readable"]]
    connection = GuardedConnection({"file": str(file), "tables": tables}, machine)
    before, answered = folder_state(tmp_path), []
    attacks = [sql for group in cases("attacks/duckdb/attacks.yaml") for sql in group["sql"]]
    for sql in attacks:
        with contextlib.suppress(Refused, *FAILURES):
            assert "canary" not in str(list(connection.execute(sql)[1])), sql
            answered.append(sql)
    connection.close()
    assert len(attacks) >= 150
    assert answered == cases("duckdb/harmless_attacks.yaml")
    assert folder_state(tmp_path) == before


def test_there_are_enough_attacks() -> None:
    assert len(ATTACKS) >= 150


@pytest.mark.parametrize("sql", ATTACKS)
def test_the_connection_alone_stops_it(
    sql: str, guarded: GuardedConnection, attacked: Path
) -> None:
    before = folder_state(attacked.parent)
    sql = sql.replace("{database}", str(attacked))
    with pytest.raises((Refused, *FAILURES)):
        list(guarded.execute(sql.replace("{file}", str(attacked.parent / "secret.csv")))[1])
    assert folder_state(attacked.parent) == before


@pytest.mark.parametrize("case", ACCEPTED, ids=lambda case: case["sql"][:60])
def test_the_connection_answers_queries(case: dict, guarded: GuardedConnection) -> None:
    rows = list(guarded.execute(case["sql"])[1])
    if "rows" in case:
        assert [list(row) for row in rows] == case["rows"]


def test_a_name_of_the_querys_own_reaches_no_further_than_its_query(
    guarded: GuardedConnection,
) -> None:
    with pytest.raises(ReadFailed) as raised:
        guarded.execute("SELECT * FROM (WITH hidden AS (SELECT 1) SELECT * FROM hidden) x, hidden")
    assert raised.value.failure == Failure(
        "sql", "Table with name hidden does not exist!", "unknown_table", "hidden"
    )


def test_what_a_recursion_begins_with_sees_stored_tables_alone(guarded: GuardedConnection) -> None:
    for query in (
        "WITH RECURSIVE x AS (SELECT 1 AS i FROM x UNION ALL SELECT i FROM x) SELECT * FROM x",
        "WITH x AS (SELECT * FROM x) SELECT * FROM x",
        "WITH x AS (SELECT * FROM y), y AS (SELECT 1) SELECT * FROM x",
    ):
        with pytest.raises(ReadFailed):
            guarded.execute(query)


def test_a_query_nested_too_deeply_is_refused(guarded: GuardedConnection) -> None:
    with pytest.raises((Refused, *FAILURES)):
        guarded.execute(f"SELECT {'(' * 5000}1{')' * 5000}")


def test_most_attacks_would_work_without_the_check(attacked: Path) -> None:
    """Else the corpus would prove little: DuckDB itself can prepare them."""
    accepted = 0
    for attack in ATTACKS:
        sql = str(attack.values[0]).replace("{database}", str(attacked))
        with contextlib.suppress(duckdb.Error, ValueError):
            accepted += bool(duckdb.extract_statements(sql.replace("{file}", "x.csv")))
    assert accepted >= 0.9 * len(ATTACKS)


class _Library:
    """What the configuration does without the check of what a query names."""

    def __init__(self, attacked: Path) -> None:
        machine = Machine(2)
        machine.set_memory(200_000_000)
        self.connection = GuardedConnection({"file": str(attacked), "tables": None}, machine)
        self.run = self.connection._session._connection.execute


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM glob('/etc/*')",
        "SELECT * FROM read_csv('{file}')",
        "SELECT * FROM '{file}'",
        "COPY people TO '{file}'",
        "EXPORT DATABASE '{file}'",
        "ATTACH '{file}.db' AS other",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET threads = 1",
        "SET lock_configuration = false",
        "PRAGMA enable_profiling",
        "INSERT INTO people VALUES (9, 'X', 1, NULL)",
        "CREATE TABLE t (a INTEGER)",
        "SELECT nextval('counter')",
        "SELECT * FROM python_variable",
        "CREATE PERSISTENT SECRET p (TYPE s3)",
    ],
)
def test_the_configuration_alone_stops(sql: str, attacked: Path) -> None:
    library = _Library(attacked)
    before = folder_state(attacked.parent)
    with pytest.raises(duckdb.Error) as raised:
        library.run(sql.replace("{file}", str(attacked.parent / "secret.csv"))).fetchall()
    assert explain_failure(raised.value).message
    library.connection.close()
    assert folder_state(attacked.parent) == before
