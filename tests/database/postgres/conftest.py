"""Databases on the tests' own server, opened with and without the check of the query's text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from sqlwright.database.address import parse_address
from sqlwright.database.postgres.database import PostgresDatabase
from sqlwright.sql.tree import StopReading
from tests.servers.postgres import PostgresServer

SHOP = """
CREATE TABLE people (id int PRIMARY KEY, name text NOT NULL, age int);
INSERT INTO people VALUES (1, 'Ann', 31), (2, 'Bo', 17), (3, 'Cy', 55);
CREATE TABLE orders (
    number int, line int, person int REFERENCES people, total numeric(8, 2),
    PRIMARY KEY (number, line)
);
INSERT INTO orders VALUES (1, 1, 1, 9.5), (1, 2, 1, 3), (2, 1, 3, 20);
CREATE VIEW adults AS SELECT id, name FROM people WHERE age >= 18;
"""


class UncheckedDatabase(PostgresDatabase):
    """One whose queries are held back by the connection alone."""

    def _check(self, sql: str, stop: StopReading | None) -> None:
        del sql, stop


@pytest.fixture(scope="session")
def shop(postgres_server: PostgresServer) -> str:
    """The URL of a small shop that no test changes, with the owner's login."""
    return postgres_server.url(postgres_server.create(SHOP))


@pytest.fixture
def own_shop(postgres_server: PostgresServer, postgres_database: Callable[[str], str]) -> str:
    """The same, for one test alone."""
    return postgres_server.url(postgres_database(SHOP))


@pytest.fixture(scope="module")
def database(shop: str) -> Iterator[PostgresDatabase]:
    """The shop, opened as everybody does."""
    with PostgresDatabase.at(parse_address(shop)) as found:
        yield found


@pytest.fixture(scope="module")
def unchecked(shop: str) -> Iterator[PostgresDatabase]:
    """The shop, opened without the check of the query's text."""
    with UncheckedDatabase.at(parse_address(shop)) as found:
        yield found


Opener = Callable[..., PostgresDatabase]


@pytest.fixture
def opened() -> Iterator[Opener]:
    """Opens databases and closes them at the end."""
    databases: list[PostgresDatabase] = []

    def open_one(url: str, *, checked: bool = True, **options: Any) -> PostgresDatabase:
        kind = PostgresDatabase if checked else UncheckedDatabase
        databases.append(kind.at(parse_address(url), **options))
        return databases[-1]

    yield open_one
    for database in databases:
        database.close()
