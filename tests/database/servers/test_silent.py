"""A server or a network that is silent: what a user set as the limit holds from outside, and the
cause is named. How late it holds is measured by `benchmarks.servers`."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from sqlwright.database import open_database
from sqlwright.errors import DatabaseUnavailable
from sqlwright.protocols import Limits, Run
from sqlwright.types.plans import ScanLimit
from tests.servers.proxy import FailingProxy
from tests.servers.served import PEOPLE, Served

SECONDS = 1.0
IDLE_SECONDS = 5.0
"""Seconds after which a connection is looked at before it is used."""
COUNT = "SELECT COUNT(*) FROM people"


@pytest.fixture
def proxy(served: Served) -> Iterator[FailingProxy]:
    found = FailingProxy(served.server.port)
    yield found
    found.close()


@pytest.mark.parametrize("checked", [True, False], ids=["checked", "unchecked"])
def test_each_query_ends_at_its_limit(served: Served, proxy: FailingProxy, checked: bool) -> None:
    with served.open(served.through(proxy.port), checked=checked) as database:
        if not checked:
            assert database.execute(COUNT, Run()).rows == ((PEOPLE,),)
        proxy.mode = "stall"
        for number in range(4):
            sql = f"{COUNT} WHERE id <> -{number}"
            result = database.execute(sql, Run(), limits=Limits(seconds=SECONDS))
            assert result.error is not None
            assert "didn't answer within 1 s" in result.error.message
        proxy.mode = "pass"
        proxy.reset()
        assert database.execute(COUNT, Run()).rows == ((PEOPLE,),)


def test_queries_of_many_threads_end_at_their_limit(served: Served, proxy: FailingProxy) -> None:
    with served.open(served.through(proxy.port), checked=False) as database:
        proxy.mode = "stall"
        said: list[object] = []

        def ask() -> None:
            limits = Limits(seconds=SECONDS)
            error = database.execute(COUNT, Run(), limits=limits).error
            said.append(error.kind if error else "")

        threads = [threading.Thread(target=ask) for _ in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(said) == len(threads)
        assert set(said) <= {"timeout", "unavailable"}
        proxy.mode = "pass"
        proxy.reset()
        assert database.execute(COUNT, Run()).rows == ((PEOPLE,),)


def test_a_question_that_is_cancelled_says_so(served: Served, proxy: FailingProxy) -> None:
    with served.open(served.through(proxy.port)) as database:
        proxy.mode = "stall"
        result = database.execute(COUNT, Run(seconds=0.3))
        assert result.error is not None
        assert result.error.kind == "cancelled"


def test_an_estimate_counts_as_time_of_its_query(served: Served, proxy: FailingProxy) -> None:
    with served.open(served.through(proxy.port), checked=False) as database:
        assert database.execute(COUNT, Run()).ok
        proxy.mode = "stall"
        limits = Limits(seconds=SECONDS, scan=ScanLimit(rows=1_000_000))
        error = database.execute(COUNT, Run(), limits=limits).error
        assert error is not None
        assert error.kind == "timeout"


def test_connections_that_rested_and_are_forgotten(served: Served, proxy: FailingProxy) -> None:
    with served.open(served.through(proxy.port)) as database:
        assert database.execute(COUNT, Run()).rows == ((PEOPLE,),)
        assert database.schema().tables
        time.sleep(IDLE_SECONDS + 0.2)
        proxy.forget()
        for _ in range(2):
            result = database.execute(COUNT, Run(), limits=Limits(seconds=30))
            assert result.rows == ((PEOPLE,),)
        assert database.schema(seconds=30).tables


@pytest.mark.parametrize(
    ("options", "seconds"), [("", 10.0), ("?connect_timeout=3", 3.0)], ids=["usual", "set"]
)
def test_opening_has_one_limit(
    served: Served, proxy: FailingProxy, options: str, seconds: float
) -> None:
    proxy.mode = "stall"
    with pytest.raises(DatabaseUnavailable, match=f"didn't answer within {seconds:g} s") as caught:
        open_database(served.through(proxy.port) + options)
    assert caught.value.hint
