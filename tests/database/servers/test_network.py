"""A network that fails on the way: a clear error or the right rows, and right again afterwards."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from sqlwright.database.failures import ReadFailed
from sqlwright.errors import DatabaseUnavailable
from sqlwright.protocols import Limits, Run
from tests.servers.proxy import FailingProxy, Mode
from tests.servers.served import Served

MANY = "SELECT id, name FROM people WHERE id <= 900"


@pytest.fixture
def proxy(served: Served) -> Iterator[FailingProxy]:
    found = FailingProxy(served.server.port)
    yield found
    found.close()


@pytest.mark.parametrize("mode", ["stall", "trickle"])
def test_a_slow_network_ends_at_the_limit(served: Served, proxy: FailingProxy, mode: Mode) -> None:
    with served.open(served.through(proxy.port), checked=False) as database:
        database.execute("SELECT 1", Run())
        proxy.mode = mode
        sql = "SELECT repeat('x', 1000000)"
        error = database.execute(sql, Run(), limits=Limits(seconds=0.5)).error
        assert error is not None
        assert error.kind == "timeout"
        with pytest.raises(DatabaseUnavailable) as caught:
            database.schema(seconds=0.5)
        assert caught.value.hint
        proxy.mode = "pass"
        proxy.reset()
        assert served.gone()
        assert len(database.execute(MANY, Run()).rows) == 900
        assert database.schema().tables


def test_a_reset_between_queries_is_not_noticed(served: Served, proxy: FailingProxy) -> None:
    with served.open(served.through(proxy.port)) as database:
        for _ in range(3):
            assert len(database.execute(MANY, Run()).rows) == 900
            proxy.reset()
        assert database.schema().tables


def test_a_reset_within_a_query_is_an_error(served: Served, proxy: FailingProxy) -> None:
    with served.open(served.through(proxy.port), checked=False) as database:
        database.execute("SELECT 1", Run())
        threading.Timer(0.2, proxy.reset).start()
        limits = Limits(seconds=2)
        error = database.execute(served.endless["sleep"], Run(), limits=limits).error
        assert error is not None
        assert (error.kind, error.cause) == ("unavailable", "lost")
        assert served.gone()
        assert len(database.execute(MANY, Run()).rows) == 900


@pytest.mark.parametrize("reading", [False, True], ids=["query", "reading"])
def test_what_a_reset_leaves_running_is_ended(
    served: Served, proxy: FailingProxy, reading: bool
) -> None:
    with served.open(served.through(proxy.port), checked=False) as database:
        database.execute("SELECT 1", Run())
        for what in ("product", "sleep"):
            threading.Timer(0.3, proxy.reset).start()
            if reading:
                with (
                    database.reader(seconds=30) as reader,
                    pytest.raises(ReadFailed, match="lost"),
                ):
                    list(reader.rows(served.endless[what]))
            else:
                limits = Limits(seconds=30)
                error = database.execute(served.endless[what], Run(), limits=limits).error
                assert error is not None
                assert error.cause == "lost"
            assert served.gone(), what


def test_a_server_that_is_gone_is_said_to_be(served: Served, proxy: FailingProxy) -> None:
    with served.open(served.through(proxy.port)) as database:
        database.schema()
        proxy.close()
        error = database.execute(MANY, Run()).error
        assert error is not None
        assert (error.kind, error.cause) == ("unavailable", "refused")
        with pytest.raises(DatabaseUnavailable, match="refused") as caught:
            database.schema()
        assert "Is the server running" in caught.value.hint
