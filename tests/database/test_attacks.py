"""Each layer alone stops every attack, and no byte of the database's folder changes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
import yaml

from sqlwright.database.failures import Refused
from sqlwright.database.sqlite.connection import GuardedConnection
from sqlwright.database.sqlite.failures import FAILURES
from sqlwright.database.sqlite.files import DatabaseFile
from sqlwright.errors import UnsafeQuery
from sqlwright.sql.guard import check_query
from tests.database.conftest import folder_state, make_database

CASES = Path(__file__).parents[1] / "cases" / "attacks"
ACCEPTED = yaml.safe_load((CASES.parent / "guard" / "accepted.yaml").read_text(encoding="utf-8"))
ATTACKS = [
    pytest.param(sql, id=f"{file.stem}-{index}")
    for file in sorted(CASES.glob("*.yaml"))
    for index, sql in enumerate(yaml.safe_load(file.read_text(encoding="utf-8")), 1)
]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_database(tmp_path_factory.mktemp("attacked") / "shop.db")


@pytest.fixture(scope="module")
def guarded(shared: Path) -> Iterator[GuardedConnection]:
    connection = GuardedConnection(DatabaseFile(shared).source().uri)
    yield connection
    connection.close()


@pytest.fixture(scope="module")
def views(shared: Path) -> dict[str, str]:
    connection = sqlite3.connect(shared)
    found = dict(connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'view'"))
    connection.close()
    return found


def test_there_are_enough_attacks() -> None:
    assert len(ATTACKS) >= 1_325


@pytest.mark.parametrize("sql", ATTACKS)
def test_the_connection_alone_stops_it(sql: str, guarded: GuardedConnection, shared: Path) -> None:
    before = folder_state(shared.parent)
    with pytest.raises((Refused, *FAILURES)):
        list(guarded.execute(sql)[1])
    assert folder_state(shared.parent) == before


@pytest.mark.parametrize("sql", ATTACKS)
def test_the_parse_tree_alone_stops_it(sql: str, views: dict[str, str]) -> None:
    with pytest.raises(UnsafeQuery):
        check_query(sql, views=views)


@pytest.mark.parametrize("sql", ACCEPTED)
def test_the_connection_answers_queries(sql: str, guarded: GuardedConnection) -> None:
    list(guarded.execute(sql)[1])


def test_most_attacks_would_work_without_the_guard(shared: Path, tmp_path: Path) -> None:
    """Else the corpus would prove little: SQLite itself accepts them, one by one."""
    accepted = 0
    for number, attack in enumerate(ATTACKS):
        path = tmp_path / f"{number}.db"
        path.write_bytes(shared.read_bytes())
        connection = apsw.Connection(str(path))
        connection.exec_trace = lambda *_: False  # prepared, not run
        try:
            connection.execute(str(attack.values[0]))
        except apsw.ExecTraceAbort:
            accepted += 1
        except (apsw.Error, ValueError):
            pass
        connection.close()
        path.unlink()
    assert accepted >= 1_200
