"""Queries without end: stopped at their limit or when they are cancelled, seen gone on the server,
nothing left open; sessions that the server ends."""

from __future__ import annotations

import threading

from sqlwright.protocols import Limits, Run
from tests.servers.served import MANY, PEOPLE, SLOW, SLOW_RESULT, Served

SECONDS = 0.3


def test_queries_without_end_are_gone_after_their_limit(served: Served) -> None:
    with served.open(checked=False) as database:
        database.execute("SELECT 1", Run())
        for what, sql in served.endless.items():
            error = database.execute(sql, Run(), limits=Limits(seconds=SECONDS)).error
            assert error is not None, what
            assert error.kind == "timeout", what
            assert served.gone(), what


def test_twenty_cancellations_leave_nothing(served: Served) -> None:
    endless = list(served.endless.values())
    with served.open(checked=False) as database:
        pids = set(database.worker_pids)
        for number in range(20):
            run = Run()
            threading.Timer(0.02 + 0.01 * (number % 5), run.cancelled.set).start()
            error = database.execute(endless[number % len(endless)], run).error
            assert error is not None
            assert error.kind == "cancelled"
            assert served.gone()
            pids.update(database.worker_pids)
        assert served.held() == 0
        assert database.execute("SELECT 1", Run()).rows == ((1,),)
        assert len(pids) < 10, "workers were killed rather than interrupted"


def test_sessions_that_the_server_ends(served: Served) -> None:
    with served.open() as database:
        for wait in (0.0, 0.03, 0.06):
            timer = threading.Timer(wait, served.end_sessions)
            timer.start()
            result = database.execute(SLOW, Run())
            timer.join()
            assert result.rows == ((SLOW_RESULT,),) or (
                result.error is not None and result.error.cause == "lost"
            )
            assert database.execute("SELECT COUNT(*) FROM people", Run()).rows == ((PEOPLE,),)
            served.end_sessions()
            assert len(database.schema().tables) == 2
            with database.reader() as reader:
                assert next(iter(reader.rows(MANY))) is not None
