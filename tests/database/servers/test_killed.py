"""Whole servers that are killed and started again while they are asked: what is told then, and that
the next question is right. `benchmarks.servers` does it at random moments, many times."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sqlwright.database.failures import ReadFailed
from sqlwright.errors import DatabaseUnavailable
from sqlwright.prepare import open_workspace, prepare
from sqlwright.prepare.progress import Progress
from sqlwright.protocols import Run
from tests.servers.served import MANY, PEOPLE, Served
from tests.waiting import comes

COUNT = "SELECT COUNT(*) FROM people"


def in_the_middle(served: Served, act: Callable[[], Any]) -> None:
    """Kill the server once a statement is seen to run that `act` has begun in this thread."""
    began = threading.Event()

    def kill() -> None:
        began.wait()
        comes(served.running)
        served.killed.kill()

    killing = threading.Thread(target=kill)
    killing.start()
    began.set()
    try:
        act()
    finally:
        killing.join()


def test_an_idle_session_is_opened_again(served: Served) -> None:
    with served.open() as database:
        for _ in range(2):
            assert database.execute(COUNT, Run()).rows == ((PEOPLE,),)
            served.killed.kill()
            served.killed.start()
        assert database.schema().tables
        assert database.fingerprint()


def test_a_query_under_way_is_an_error_with_its_cause(served: Served) -> None:
    with served.open(checked=False) as database:
        database.execute("SELECT 1", Run())
        found = []
        in_the_middle(
            served, lambda: found.append(database.execute(served.endless["sleep"], Run()).error)
        )
        (error,) = found
        assert error is not None
        assert (error.kind, error.cause) == ("unavailable", "lost")
        gone = database.execute("SELECT 1", Run()).error
        assert gone is not None
        assert (gone.kind, gone.cause) == ("unavailable", "refused")
        with pytest.raises(DatabaseUnavailable, match="refused") as caught:
            database.schema()
        assert "server" in caught.value.hint
        served.killed.start()
        assert database.execute(COUNT, Run()).rows == ((PEOPLE,),)


def test_rows_that_stop_coming_are_an_error_with_its_cause(served: Served) -> None:
    with served.open() as database:
        with database.reader() as reader:
            rows = reader.rows(f"{MANY} OR a.id > 0")
            next(iter(rows))
            served.killed.kill()
            with pytest.raises(ReadFailed) as caught:
                list(rows)
            assert caught.value.failure.cause == "lost"
        served.killed.start()
        with database.reader() as reader:
            assert list(reader.rows(COUNT)) == [(PEOPLE,)]


@pytest.mark.parametrize("stage", ["tables", "joins", "index"])
def test_half_a_preparation_is_not_trusted(served: Served, tmp_path: Path, stage: str) -> None:
    folder = tmp_path / "prepared"
    killed = False

    def at_stage(progress: Progress) -> None:
        nonlocal killed
        if progress.stage == stage and not killed:
            killed = True
            served.killed.kill()

    with pytest.raises(DatabaseUnavailable) as caught:
        prepare(served.url, folder=folder, progress=at_stage)
    assert killed
    assert "server" in caught.value.hint
    served.killed.start()
    space = open_workspace(served.url, folder=folder)
    with space.database as database:
        assert database.execute(COUNT, Run()).rows == ((PEOPLE,),)
        assert {match.value for match in space.values.search("person 4321")} >= {"person 4321"}
    prepare(served.url, folder=folder)
    space = open_workspace(served.url, folder=folder)
    with space.database:
        assert space.notes == ()
        assert {match.value for match in space.values.search("city 7")} >= {"city 7"}
