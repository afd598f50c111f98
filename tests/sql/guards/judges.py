"""The engines as judges, each over a database of its own."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from tests.sql.guards import SETUP
from tests.sql.guards.oracles import DuckdbOracle, MariadbOracle, PostgresOracle

if TYPE_CHECKING:
    from tests.servers.mariadb import MariadbServer
    from tests.servers.postgres import PostgresServer


class Judge(Protocol):
    """An engine that says what a text reads and calls."""

    @property
    def dialect(self) -> str: ...

    def problem(self, sql: str, told: Collection[str]) -> str | None:
        """What the check doesn't know of, which told of some tables; empty for nothing, None for a
        text that the engine can't analyse."""
        ...


@contextmanager
def judging_postgres(server: PostgresServer) -> Iterator[Judge]:
    """PostgreSQL, over the tables of the cases."""
    name = server.create("; ".join(SETUP["postgres"]["statements"]))
    with server.connect(name) as connection:
        yield PostgresOracle(connection)
    server.drop(name)


@contextmanager
def judging_mariadb(server: MariadbServer) -> Iterator[Judge]:
    """MariaDB, over the tables of the cases."""
    name = server.create("; ".join(SETUP["mysql"]["statements"]))
    connection = server.connect(name)
    yield MariadbOracle(connection, name)
    connection.close()
    server.drop(name)


@contextmanager
def judging_duckdb() -> Iterator[Judge]:
    """DuckDB in memory, over the tables of the cases."""
    import duckdb

    with duckdb.connect(":memory:") as connection:
        yield DuckdbOracle(connection)
