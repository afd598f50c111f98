"""Many threads that ask at once, and a server that has few connections for them."""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any

import pytest

from sqlwright.database.guarded import GuardedDatabase
from sqlwright.errors import DatabaseUnavailable
from sqlwright.protocols import Limits, Run
from tests.servers.mariadb import PASSWORD
from tests.servers.served import PEOPLE, Served
from tests.waiting import comes

NAPS = {"postgres": "SELECT pg_sleep(0.2), 7", "mariadb": "SELECT SLEEP(0.2), 7"}
COUNT = "SELECT COUNT(*) FROM people"


def login(served: Served, most: int) -> str:
    """The URL for a login that may have so many connections at once."""
    server = served.server
    if served.engine == "postgres":
        url = str(server.reader(served.name, "SELECT ON ALL TABLES IN SCHEMA public"))
        server.run(f"ALTER ROLE {user_of(url)} CONNECTION LIMIT {most}")
        return url
    url = str(server.reader(served.name))
    server.run(f"ALTER USER {user_of(url)}@'%' WITH MAX_USER_CONNECTIONS {most}")
    return url


def user_of(url: str) -> str:
    return url.partition("://")[2].partition(":")[0]


def connections(served: Served, user: str) -> int:
    table, name = (
        ("pg_stat_activity", "usename")
        if served.engine == "postgres"
        else ("information_schema.PROCESSLIST", "USER")
    )
    return int(served.server.rows(f"SELECT COUNT(*) FROM {table} WHERE {name} = '{user}'")[0][0])


def held(served: Served, url: str) -> Any:
    """A connection of the login's that somebody else holds."""
    if served.engine == "postgres":
        import psycopg

        return psycopg.connect(url)
    import pymysql

    return pymysql.connect(
        host="127.0.0.1", port=served.server.port, user=user_of(url), password=PASSWORD
    )


def asked_by_many(database: GuardedDatabase, sql: str) -> Counter[object]:
    said: Counter[object] = Counter()

    def ask() -> None:
        result = database.execute(sql, Run(), limits=Limits(seconds=20))
        said[result.error or result.rows[0][1]] += 1

    threads = [threading.Thread(target=ask) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return said


@pytest.mark.parametrize("most", [1, 2, 30])
def test_every_thread_is_answered_and_nothing_is_left(served: Served, most: int) -> None:
    url = login(served, most)
    with served.open(url, checked=False) as database:
        assert asked_by_many(database, NAPS[served.engine]) == {7: 16}
        with database.reader(seconds=5) as reader:
            assert list(reader.rows(COUNT)) == [(PEOPLE,)]
        if served.engine == "postgres":  # MariaDB counts a session that was reset no more
            assert connections(served, user_of(url)) <= most
    assert comes(lambda: connections(served, user_of(url)) == 0)


def test_no_connection_at_all_is_said(served: Served) -> None:
    url = login(served, 1)
    other = held(served, url)
    with pytest.raises(DatabaseUnavailable, match="connections") as caught:
        served.open(url)
    assert "no connection free" in caught.value.hint
    other.close()
    with served.open(url) as database:
        assert database.execute(COUNT, Run()).rows == ((PEOPLE,),)


def test_one_that_is_soon_free_is_waited_for(served: Served) -> None:
    url = login(served, 1)
    threading.Timer(1.0, held(served, url).close).start()
    with served.open(url) as later:
        assert later.execute(COUNT, Run()).rows == ((PEOPLE,),)
