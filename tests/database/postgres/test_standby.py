"""A standby, which replays what its primary does and stops queries that stand in the way."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from sqlwright.database.postgres.database import PostgresDatabase
from sqlwright.protocols import Limits, Run
from tests.servers.postgres import OWNER, PASSWORD, PostgresServer, find_programs, start_server
from tests.servers.starting import free_port, running, serving_user, start_kept
from tests.waiting import comes

Opener = Callable[..., PostgresDatabase]
TABLE = "CREATE TABLE people AS SELECT n AS id, 'x' AS name FROM generate_series(1, 1000) n"
SLOW = "SELECT count(*), max(pg_sleep(0.002)::text) FROM people"
"""Two seconds over rows that a cleaned table has no more."""


@pytest.fixture(scope="module")
def primary() -> Iterator[PostgresServer]:
    """A server of this module's own: a standby copies all of it."""
    pytest.importorskip("psycopg", reason="psycopg isn't installed")
    programs = find_programs()
    if programs is None or not (programs / "pg_basebackup").exists():
        pytest.skip("no PostgreSQL with pg_basebackup")
    with running(start_server, programs, "pg") as server:
        server.run(TABLE)
        yield server


@pytest.fixture(scope="module")
def standby(primary: PostgresServer) -> Iterator[PostgresServer]:
    def start(programs: Path, folder: Path) -> tuple[PostgresServer, Callable[[], None]]:
        user = serving_user()
        folder.chmod(0o755)
        data = folder / "data"
        source = f"postgresql://{OWNER}:{quote(PASSWORD, safe='')}@127.0.0.1:{primary.port}"
        subprocess.run(
            [str(programs / "pg_basebackup"), "-D", str(data), "-R", "-d", source, "--no-sync",
             "--checkpoint=fast"],
            check=True, capture_output=True, cwd="/",
        )  # fmt: skip
        subprocess.run(["chown", "-R", str(user), str(folder)], check=True)
        with (data / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.write("max_standby_streaming_delay = 0\nhot_standby_feedback = off\n")
        server = PostgresServer(free_port(), programs, folder)
        command = (
            str(programs / "postgres"), "-D", str(data), "-p", str(server.port),
            "-c", "listen_addresses=127.0.0.1", "-k", str(folder),
        )  # fmt: skip
        return server, start_kept(command, user, folder, lambda: accepts(server))

    with running(start, primary.programs, "standby") as server:
        yield server


def accepts(server: PostgresServer) -> bool:
    import psycopg

    try:
        server.connect(connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True


def replayed(standby: PostgresServer, sql: str, value: object) -> None:
    """Wait until the standby has replayed so far that a query gives this value."""
    assert comes(lambda: standby.rows(sql)[0][0] == value)


def test_a_standby_is_asked_as_its_primary_is(
    primary: PostgresServer, standby: PostgresServer, opened: Opener
) -> None:
    ours, theirs = opened(primary.url()), opened(standby.url())
    assert theirs.schema() == ours.schema()
    assert theirs.execute("SELECT count(*) FROM people", Run()).rows == ((1000,),)
    assert theirs.table_marks(theirs.schema()) is None
    before = theirs.fingerprint()
    primary.run("INSERT INTO people VALUES (0, 'y')")
    replayed(standby, "SELECT count(*) FROM people", 1001)
    assert theirs.fingerprint() != before
    primary.run("DELETE FROM people WHERE id = 0")
    replayed(standby, "SELECT count(*) FROM people", 1000)


def test_a_query_that_was_in_the_way_is_run_again(
    primary: PostgresServer, standby: PostgresServer, opened: Opener
) -> None:
    database = opened(standby.url(), checked=False)
    assert database.execute("SELECT 1", Run()).ok

    def clean() -> None:
        time.sleep(0.5)
        primary.run("DELETE FROM people WHERE id > 900")
        primary.run("VACUUM people")

    cleaning = threading.Thread(target=clean)
    cleaning.start()
    result = database.execute(SLOW, Run(), limits=Limits(seconds=20))
    cleaning.join()
    assert result.error is None
    assert result.rows[0][0] == 900


def test_one_that_is_always_in_the_way_says_so(
    primary: PostgresServer, standby: PostgresServer, opened: Opener
) -> None:
    database = opened(standby.url(), checked=False)
    over = threading.Event()

    def clean() -> None:
        number = 800
        while not over.is_set():
            number -= 10
            primary.run(f"DELETE FROM people WHERE id > {number}")
            primary.run("VACUUM people")
            time.sleep(0.2)

    cleaning = threading.Thread(target=clean)
    cleaning.start()
    error = database.execute(SLOW, Run(), limits=Limits(seconds=20)).error
    over.set()
    cleaning.join()
    assert error is not None
    assert (error.kind, error.cause) == ("unavailable", "conflict")
    assert database.execute("SELECT 1", Run()).ok
