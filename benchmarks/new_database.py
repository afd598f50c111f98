"""Writes new SQLite files of our own: tables by their schema, and rows.

Nothing is read here of a file that somebody else made, and no text of one is executed: a table is
written anew by its columns and keys. What only its own CREATE text said is left behind: collations,
checks, defaults, uniqueness, expressions of generated columns, whose values become stored ones.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sqlwright.errors import WorkspaceError
from sqlwright.schema import ForeignKey, Table
from sqlwright.sql.tokens import quote_name
from sqlwright.types import Cell

Row = tuple[Cell, ...]


class DatabaseWriter:
    """A database being written."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def create(self, table: Table, keys: Iterable[ForeignKey] = ()) -> None:
        """Make a table with the declared keys that it refers to others by."""
        self._connection.execute(create_table(table, keys))

    def insert(self, table: Table, rows: Iterable[Row]) -> None:
        """Add rows, a cell for each column of the table."""
        marks = ", ".join("?" * len(table.columns))
        self._connection.executemany(f"INSERT INTO {quote_name(table.name)} VALUES ({marks})", rows)


@contextmanager
def new_database(path: Path) -> Iterator[DatabaseWriter]:
    """Write a database aside, and give it its name when all went well. Raises WorkspaceError."""
    aside = path.with_name(path.name + ".part")
    try:
        aside.unlink(missing_ok=True)
        with closing(sqlite3.connect(aside, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode=OFF")
            connection.execute("PRAGMA synchronous=OFF")
            connection.execute("BEGIN")
            yield DatabaseWriter(connection)
            connection.execute("COMMIT")
        aside.replace(path)
    except (OSError, sqlite3.Error) as error:
        raise WorkspaceError(f"{path} can't be written: {error}") from None
    finally:
        aside.unlink(missing_ok=True)


def create_table(table: Table, keys: Iterable[ForeignKey] = ()) -> str:
    """The statement that makes such a table."""
    parts = [
        f"{quote_name(column.name)} {column.type}".rstrip()
        + ("" if column.nullable else " NOT NULL")
        for column in table.columns
    ]
    if table.primary_key:
        parts.append(f"PRIMARY KEY ({_listed(table.primary_key)})")
    parts += [
        f"FOREIGN KEY ({_listed(key.columns)}) REFERENCES {quote_name(key.target_table)}"
        + (f" ({_listed(key.target_columns)})" if key.target_columns else "")
        for key in keys
    ]
    lines = ",\n    ".join(parts)
    return f"CREATE TABLE {quote_name(table.name)} (\n    {lines}\n)"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(quote_name, names))
