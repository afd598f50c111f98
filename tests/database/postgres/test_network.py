"""A network that fails on the way: a clear error or the right rows, and right again afterwards."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from sqlwright.database.postgres.database import PostgresDatabase
from sqlwright.errors import DatabaseUnavailable
from sqlwright.protocols import Limits, Run
from tests.database.postgres.test_stopping import gone
from tests.servers.postgres import PostgresServer
from tests.servers.proxy import FailingProxy, Mode

Opener = Callable[..., PostgresDatabase]
MANY = "SELECT number, line FROM orders UNION ALL SELECT id, age FROM people"


@pytest.fixture
def proxy(postgres_server: PostgresServer) -> Iterator[FailingProxy]:
    found = FailingProxy(postgres_server.port)
    yield found
    found.close()


def through(proxy: FailingProxy, server: PostgresServer, url: str) -> str:
    return url.replace(f":{server.port}/", f":{proxy.port}/")


@pytest.mark.parametrize("mode", ["stall", "trickle"])
def test_a_slow_network_ends_at_the_limit(
    postgres_server: PostgresServer, proxy: FailingProxy, shop: str, opened: Opener, mode: Mode
) -> None:
    database = opened(through(proxy, postgres_server, shop), checked=False)
    database.execute("SELECT 1", Run())
    proxy.mode = mode
    sql = "SELECT repeat('x', 1000000)"
    error = database.execute(sql, Run(), limits=Limits(seconds=0.5)).error
    assert error is not None
    assert error.kind == "timeout"
    proxy.mode = "pass"
    proxy.reset()
    assert gone(postgres_server, shop.rpartition("/")[2], 3.0)
    assert database.execute(MANY, Run()).ok


def test_a_reset_between_queries_is_not_noticed(
    postgres_server: PostgresServer, proxy: FailingProxy, shop: str, opened: Opener
) -> None:
    database = opened(through(proxy, postgres_server, shop))
    for _ in range(3):
        assert len(database.execute(MANY, Run()).rows) == 6
        proxy.reset()
    assert database.schema().tables


def test_a_reset_within_a_query_is_an_error(
    postgres_server: PostgresServer, proxy: FailingProxy, shop: str, opened: Opener
) -> None:
    database = opened(through(proxy, postgres_server, shop), checked=False)
    database.execute("SELECT 1", Run())
    threading.Timer(0.2, proxy.reset).start()
    error = database.execute("SELECT pg_sleep(5)", Run()).error
    assert error is not None
    assert (error.kind, error.cause) == ("unavailable", "lost")
    assert database.execute(MANY, Run()).ok


def test_a_server_that_is_gone_is_said_to_be(
    postgres_server: PostgresServer, proxy: FailingProxy, shop: str, opened: Opener
) -> None:
    database = opened(through(proxy, postgres_server, shop))
    database.schema()
    proxy.close()
    error = database.execute(MANY, Run()).error
    assert error is not None
    assert error.kind == "unavailable"
    assert "Is the server running" in error.message
    with pytest.raises(DatabaseUnavailable, match="refused"):
        database.schema()
