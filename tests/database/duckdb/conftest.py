"""Real DuckDB files to run against."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sqlwright.database import open_database
from sqlwright.database.guarded import GuardedDatabase
from sqlwright.protocols import Limits, Run
from sqlwright.types import ExecutionResult

duckdb = pytest.importorskip("duckdb", reason="needs the package duckdb")

SHOP = """
CREATE SCHEMA sales;
CREATE TYPE mood AS ENUM ('sad', 'it''s ok', 'happy');
CREATE TABLE people (id INTEGER PRIMARY KEY, name VARCHAR NOT NULL, age INTEGER, mood mood);
INSERT INTO people VALUES (1, 'Ann', 31, 'happy'), (2, 'Bo', 17, NULL), (3, 'Cy', 55, 'sad');
CREATE TABLE orders (
    number INTEGER, line INTEGER, person INTEGER REFERENCES people (id), total DECIMAL(10, 2),
    half DECIMAL(10, 2) GENERATED ALWAYS AS (total / 2), PRIMARY KEY (number, line)
);
INSERT INTO orders (number, line, person, total) VALUES (1, 1, 1, 9.5), (1, 2, 1, 3), (2, 1, 3, 20);
CREATE TABLE secrets (token VARCHAR);
INSERT INTO secrets VALUES ('canary');
CREATE TABLE sales.orders (day DATE, amount DOUBLE);
INSERT INTO sales.orders VALUES ('2024-01-31', 5.5);
CREATE VIEW adults AS SELECT id, name FROM people WHERE age >= 18;
CREATE VIEW sales.big (amount) AS SELECT amount FROM sales.orders WHERE amount > 5;
CREATE VIEW shows_secrets AS SELECT token FROM secrets;
CREATE VIEW reads_a_file AS SELECT * FROM read_text('/etc/passwd');
CREATE MACRO plus_one(x) AS x + 1;
CREATE MACRO lower(x) AS (SELECT max(token) FROM secrets);
CREATE MACRO everything() AS TABLE SELECT * FROM secrets;
CREATE VIEW calls_a_macro AS SELECT * FROM everything();
CREATE SEQUENCE counter;
COMMENT ON TABLE people IS 'People who buy';
COMMENT ON COLUMN people.name IS 'Full name';
COMMENT ON VIEW adults IS 'Of age';
"""
LIMITS = Limits(seconds=5.0)


def make_database(path: Path, script: str = SHOP) -> Path:
    """Write a database file."""
    with duckdb.connect(":memory:") as connection:
        # By another name than the file's, which one of its namespaces has.
        connection.execute(f"ATTACH '{path}' AS made; USE made")
        connection.execute(script)
    return path


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A small business with two namespaces, views, macros and comments."""
    folder = tmp_path / "shop"
    folder.mkdir()
    return make_database(folder / "sales.duckdb")


Opener = Callable[..., GuardedDatabase]


@pytest.fixture
def opened() -> Iterator[Opener]:
    """Opens databases and closes them at the end."""
    databases: list[GuardedDatabase] = []

    def open_one(path: Path | str, tables: list[str] | None = None) -> GuardedDatabase:
        databases.append(open_database(str(path), tables=tables))
        return databases[-1]

    yield open_one
    for database in databases:
        database.close()


def ask(database: GuardedDatabase, sql: str, limits: Limits = LIMITS) -> ExecutionResult:
    """Run one query."""
    return database.execute(sql, Run(), limits=limits)
