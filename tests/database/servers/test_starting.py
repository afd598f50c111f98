"""A PostgreSQL that takes its time to start: it is waited for a little, else named."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from sqlwright.database.guarded import GuardedDatabase
from sqlwright.errors import DatabaseUnavailable
from sqlwright.protocols import Limits, Run
from tests.servers.served import PEOPLE, Served, missing, serving
from tests.waiting import comes

COUNT = "SELECT COUNT(*) FROM people"


@dataclass
class Starting:
    """A server that is reached and says that it isn't ready, and a shop opened before."""

    served: Served
    database: GuardedDatabase

    def finish(self) -> None:
        """Let it become ready."""
        data = self.served.server.folder / "data"
        (data / "promote").touch()
        os.kill(int((data / "postmaster.pid").read_text().split()[0]), signal.SIGUSR1)


@pytest.fixture
def starting() -> Iterator[Starting]:
    if reason := missing("postgres"):
        pytest.skip(reason)
    with serving("postgres") as served, served.open() as database:
        assert database.execute(COUNT, Run()).ok
        served.killed.kill()
        # A standby that serves nobody: it goes on recovering until it is promoted.
        data = served.server.folder / "data"
        (data / "standby.signal").touch()
        with (data / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.write("hot_standby = off\n")
        again = threading.Thread(target=served.killed.start)
        again.start()
        comes(lambda: _said(served) != "refused")
        found = Starting(served, database)
        yield found
        found.finish()
        again.join()


def _said(served: Served) -> str:
    import psycopg

    try:
        psycopg.connect(served.url).close()
    except psycopg.OperationalError as error:
        return "starting" if "the database system is" in str(error) else "refused"
    return "ready"


def test_one_that_does_not_become_ready_is_named(starting: Starting) -> None:
    error = starting.database.execute(COUNT, Run(), limits=Limits(seconds=1)).error
    assert error is not None
    assert (error.kind, error.cause) == ("unavailable", "starting")
    with pytest.raises(DatabaseUnavailable, match="the database system is") as caught:
        starting.database.schema(seconds=1)
    assert "try again in a moment" in caught.value.hint


def test_one_that_becomes_ready_is_waited_for(starting: Starting) -> None:
    threading.Timer(0.5, starting.finish).start()
    assert starting.database.execute(COUNT, Run()).rows == ((PEOPLE,),)
