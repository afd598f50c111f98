"""Small databases of our own making: another file's schema with rows that are given.

The definitions come from a file that anybody may have written. So they are run by a connection
that knows no other file, trusts no schema, has no triggers and ends after a few seconds; a stored
definition that is no plain table, view or index isn't run at all.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw

from sqlwright.database.sqlite.connection import SQL_BYTES
from sqlwright.database.sqlite.database import SqliteDatabase
from sqlwright.database.sqlite.failures import FAILURES, explain_failure
from sqlwright.database.workers.engine import Place
from sqlwright.database.workers.pool import Pool
from sqlwright.database.workers.process import Reply, Stop, Worker
from sqlwright.errors import DatabaseUnavailable
from sqlwright.schema import ForeignKey
from sqlwright.sql.tokens import quote_name

if TYPE_CHECKING:
    from sqlwright.types import Cell

WRITING_SECONDS = 5.0
"""The time that one database may take."""
_ROUNDS = 12
"""Rounds at most in which rows without the row that they refer to are deleted."""
_STEPS = 10_000
"""Steps of SQLite's machine between two looks at the clock."""
_PLAIN = ("create table", "create view", "create index", "create unique index")
_STORED = """
    SELECT name, type, sql FROM sqlite_schema
    WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type, rowid
"""
_SWITCHES = {
    apsw.SQLITE_DBCONFIG_DEFENSIVE: 1,
    apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA: 0,
    apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER: 0,
    apsw.SQLITE_DBCONFIG_ENABLE_FKEY: 0,
    apsw.SQLITE_DBCONFIG_DQS_DML: 1,
    apsw.SQLITE_DBCONFIG_DQS_DDL: 1,
}
_LIMITS = {
    apsw.SQLITE_LIMIT_ATTACHED: 0,
    apsw.SQLITE_LIMIT_LENGTH: SQL_BYTES,
    apsw.SQLITE_LIMIT_EXPR_DEPTH: 500,
}


@dataclass(frozen=True, slots=True)
class Filled:
    """A table's rows; a row may lack nothing but generated columns."""

    table: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[Cell, ...]]


def write_copy(
    path: Path,
    definitions: Sequence[str],
    filled: Sequence[Filled],
    keys: Sequence[ForeignKey] = (),
) -> None:
    """Write a new database. Rows that a constraint forbids are left out, also those that refer to
    a row that isn't there. Raises DatabaseUnavailable."""
    with _writing(path) as connection:
        for definition in definitions:
            if " ".join(definition.split()).casefold().startswith(_PLAIN):
                connection.execute(definition)
        for one in filled:
            _insert(connection, one)
        _delete_orphans(connection, keys)


def write_turned(path: Path, target: Path) -> None:
    """Write the rows of a copy to another file in plain tables, from the last to the first. A query
    that gives something else there goes by the order in which rows are stored. Raises
    DatabaseUnavailable."""
    with _writing(target) as turned, _writing(path) as connection:
        names = connection.execute(_STORED).fetchall()
        for name, kind, definition in names:
            if kind == "view":
                turned.execute(str(definition))
            else:
                _turn_table(connection, turned, str(name))


def _turn_table(connection: apsw.Connection, turned: apsw.Connection, name: str) -> None:
    table = quote_name(name)
    found = [str(row[1]) for row in connection.execute(f"PRAGMA table_xinfo({table})")]
    columns = []
    for column in found:
        declared, collation, *_ = connection.column_metadata("main", name, column)
        columns.append(f"{quote_name(column)} {declared or ''} COLLATE {collation}")
    turned.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
    shown, marks = ", ".join(map(quote_name, found)), ", ".join("?" * len(found))
    rows = connection.execute(f"SELECT {shown} FROM {table}").fetchall()
    turned.executemany(f"INSERT INTO {table} VALUES ({marks})", rows[::-1])


class Opener:
    """Opens files of one folder. The workers of the first one serve all, so that opening another
    starts no process."""

    def __init__(self) -> None:
        self._opened: list[SqliteDatabase] = []

    def open(self, path: Path) -> SqliteDatabase:
        """A file of the folder, open until the opener is closed. Raises DatabaseUnavailable."""
        pool = _Lent(self._opened[0]._pool) if self._opened else None
        self._opened.append(SqliteDatabase(path, pool=pool))
        return self._opened[-1]

    def let_go(self, database: SqliteDatabase) -> None:
        """Close one file before the others, unless its workers serve them."""
        if database is not self._opened[0]:
            self._opened.remove(database)
            database.close()

    def close(self) -> None:
        """Close all files. Safe to call twice."""
        for database in self._opened:
            database.close()

    def __enter__(self) -> Opener:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Lent(Pool):
    """The workers of another database, which alone ends them."""

    def __init__(self, pool: Pool) -> None:
        self._lender = pool

    def start_ahead(self) -> None:
        self._lender.start_ahead()

    def ask(self, fields: dict[str, Any], stop: Stop) -> Reply:
        return self._lender.ask(fields, stop)

    def take(self, place: Place, stop: Stop) -> Worker:
        return self._lender.take(place, stop)

    def give_back(self, worker: Worker) -> None:
        self._lender.give_back(worker)

    def close(self) -> None:
        """Leave them running."""

    @property
    def pids(self) -> tuple[int, ...]:
        return self._lender.pids

    @property
    def holds(self) -> tuple[str, ...]:
        return self._lender.holds


@contextmanager
def _writing(path: Path) -> Iterator[apsw.Connection]:
    """A connection that writes a copy, in one transaction. Raises DatabaseUnavailable."""
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    connection = apsw.Connection(str(path), flags=flags)
    try:
        _confine(connection)
        with connection:
            yield connection
    except FAILURES as error:
        raise DatabaseUnavailable(
            f"a perturbed copy can't be written: {explain_failure(error).message}.",
            hint="Its schema may need more than plain tables: leave this figure out.",
        ) from error
    finally:
        connection.close(True)


def _confine(connection: apsw.Connection) -> None:
    until = time.monotonic() + WRITING_SECONDS
    for switch, value in _SWITCHES.items():
        connection.config(switch, value)
    for limit, value in _LIMITS.items():
        connection.limit(limit, value)
    connection.execute("PRAGMA journal_mode=OFF")
    connection.execute("PRAGMA synchronous=OFF")
    connection.set_progress_handler(lambda: time.monotonic() > until, _STEPS)


def _insert(connection: apsw.Connection, one: Filled) -> None:
    names = ", ".join(map(quote_name, one.columns))
    marks = ", ".join("?" * len(one.columns))
    text = f"INSERT OR IGNORE INTO {quote_name(one.table)} ({names}) VALUES ({marks})"
    for row in one.rows:
        try:
            connection.execute(text, row)
        except (apsw.ConstraintError, apsw.MismatchError):
            continue  # OR IGNORE passes over most constraints, not over those of types


def _delete_orphans(connection: apsw.Connection, keys: Sequence[ForeignKey]) -> None:
    """Delete rows that refer to nothing, then those that referred to them."""
    texts = [_orphans(key) for key in keys]
    for _ in range(_ROUNDS):
        before = connection.total_changes()
        for text in texts:
            connection.execute(text)
        if connection.total_changes() == before:
            return


def _orphans(key: ForeignKey) -> str:
    pairs = list(zip(map(quote_name, key.columns), map(quote_name, key.target_columns),
                     strict=True))  # fmt: skip
    table, target = quote_name(key.table), quote_name(key.target_table)
    given = " AND ".join(f"{table}.{near} IS NOT NULL" for near, _ in pairs)
    met = " AND ".join(f"far.{far} = {table}.{near}" for near, far in pairs)
    absent = f"NOT EXISTS (SELECT 1 FROM {target} AS far WHERE {met})"
    return f"DELETE FROM {table} WHERE {given} AND {absent}"
