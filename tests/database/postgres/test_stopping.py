"""Queries whose caller or worker is gone, or that somebody else stops; lost connections."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from sqlwright.database.failures import ReadFailed
from sqlwright.database.postgres.database import PostgresDatabase
from sqlwright.protocols import Run
from tests.servers.postgres import PostgresServer
from tests.waiting import PATIENCE_SECONDS, comes

Opener = Callable[..., PostgresDatabase]


def gone(server: PostgresServer, database: str) -> bool:
    """True once nothing runs or waits in a transaction there."""
    return comes(lambda: not server.activity(database))


def test_a_cancel_from_outside_is_told_apart(
    postgres_server: PostgresServer, shop: str, opened: Opener
) -> None:
    name = shop.rpartition("/")[2]
    cancel = f"SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
    database = opened(shop, checked=False)
    database.execute("SELECT 1", Run())
    threading.Timer(0.3, postgres_server.rows, (cancel,)).start()
    error = database.execute("SELECT pg_sleep(5)", Run()).error
    assert error is not None
    assert (error.kind, error.message) == ("unavailable", "stopped by somebody on the server")


def test_a_closed_database_stops_its_queries(
    postgres_server: PostgresServer, shop: str, opened: Opener
) -> None:
    database = opened(shop, checked=False)
    name = shop.rpartition("/")[2]
    running = threading.Thread(target=database.execute, args=("SELECT pg_sleep(100)", Run()))
    running.start()
    assert comes(lambda: postgres_server.activity(name))
    database.close()
    running.join(PATIENCE_SECONDS)
    assert not running.is_alive()
    assert gone(postgres_server, name)


ASKED = """
import sys
from sqlwright.database.address import parse_address
from sqlwright.protocols import Run
from tests.database.postgres.conftest import UncheckedDatabase
UncheckedDatabase.at(parse_address(sys.stdin.readline().strip())).execute(
    "SELECT pg_sleep(100)", Run()
)
"""


def test_a_killed_caller_stops_its_queries(postgres_server: PostgresServer, shop: str) -> None:
    name = shop.rpartition("/")[2]
    caller = subprocess.Popen(
        [sys.executable, "-c", ASKED], stdin=subprocess.PIPE, cwd=Path(__file__).parents[3]
    )
    assert caller.stdin is not None
    caller.stdin.write(f"{shop}\n".encode())
    caller.stdin.close()
    assert comes(lambda: any("pg_sleep" in sql for _, sql in postgres_server.activity(name)))
    caller.send_signal(signal.SIGKILL)
    caller.wait()
    assert gone(postgres_server, name)


def test_a_killed_worker_stops_its_query(
    postgres_server: PostgresServer, shop: str, opened: Opener
) -> None:
    database = opened(shop, checked=False)
    name = shop.rpartition("/")[2]
    errors: list[object] = []
    running = threading.Thread(
        target=lambda: errors.append(database.execute("SELECT pg_sleep(100)", Run()).error)
    )
    running.start()
    assert comes(lambda: postgres_server.activity(name))
    for pid in database.worker_pids:
        os.kill(pid, signal.SIGKILL)
    running.join(PATIENCE_SECONDS)
    assert errors
    assert gone(postgres_server, name)
    assert database.execute("SELECT 1", Run()).rows == ((1,),)


def end_sessions(server: PostgresServer, name: str) -> None:
    server.rows(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")


def test_a_connection_lost_meanwhile_is_opened_again(
    postgres_server: PostgresServer, shop: str, opened: Opener
) -> None:
    database = opened(shop)
    for _ in range(3):
        assert database.execute("SELECT count(*) FROM people", Run()).rows == ((3,),)
        end_sessions(postgres_server, shop.rpartition("/")[2])
    assert database.fingerprint()
    assert database.schema().tables


def test_a_query_of_an_ended_session_runs_again_once(
    postgres_server: PostgresServer, shop: str, opened: Opener
) -> None:
    name = shop.rpartition("/")[2]
    database = opened(shop, checked=False)
    database.execute("SELECT 1", Run())
    threading.Timer(0.2, end_sessions, (postgres_server, name)).start()
    result = database.execute("SELECT pg_sleep(0.6), 7", Run())
    assert [row[1] for row in result.rows] == [7]


def test_a_lost_reading_is_an_error_and_the_next_works(
    postgres_server: PostgresServer, shop: str, opened: Opener
) -> None:
    database = opened(shop)
    with database.reader() as reader:
        rows = reader.rows("SELECT repeat('x', 10000) FROM generate_series(1, 100000)")
        next(iter(rows))
        end_sessions(postgres_server, shop.rpartition("/")[2])
        with pytest.raises(ReadFailed) as caught:
            list(rows)
        assert caught.value.failure.kind == "unavailable"
    with database.reader() as reader:
        assert list(reader.rows("SELECT count(*) FROM people WHERE age > ?", (18,))) == [(2,)]
