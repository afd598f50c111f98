"""A database as the generator of copies reads it: definitions, and some rows of each table."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from sqlwright.database.sqlite.database import SqliteDatabase
from sqlwright.schema import Schema, Table
from sqlwright.sql.declared_types import type_class
from sqlwright.sql.tokens import quote_name
from sqlwright.types import Cell

_DEFINITIONS = """
    SELECT sql FROM sqlite_schema
    WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
        AND (type IN ('table', 'view') OR (type = 'index' AND sql LIKE 'CREATE UNIQUE%'))
    ORDER BY CASE type WHEN 'table' THEN 0 WHEN 'index' THEN 1 ELSE 2 END, rowid
"""
_READ_ROWS = 2_000
"""Rows of a table that are read at most; those that are kept are drawn from them."""
_KEPT_ROWS = 300
"""Rows of a table that are kept at most."""
_LONGEST = 2_000
"""Characters or bytes of a value at most; rows with a longer one are passed over."""
_READING_SECONDS = 30.0
"""The time that reading all tables may take."""
_MADE_UP: Mapping[str, tuple[Cell, ...]] = {
    "number": (0, 1, 2, 3, 5, 8),
    "date": ("2019-12-31", "2020-01-01", "2020-06-15", "2021-02-28"),
    "boolean": (0, 1),
    "text": ("a", "b", "c", "ab", "B"),
    "untyped": (1, 2, "a", "b"),
}
"""Values of columns that hold none, by the class of their declared type."""


@dataclass(frozen=True)
class StoredTable:
    """A table that can be filled, and some of its rows."""

    table: Table
    columns: tuple[str, ...]
    """Those that a row gives; generated ones are left out."""
    rows: Sequence[tuple[Cell, ...]]

    def values(self, column: str) -> list[Cell]:
        """The distinct values of a column among the rows; made-up ones where it has none."""
        return self._values[column]

    @cached_property
    def _values(self) -> Mapping[str, list[Cell]]:
        found = {}
        for at, column in enumerate(self.columns):
            declared = self.table.column(column)
            made_up = _MADE_UP[type_class(declared.type if declared else "")]
            stored = dict.fromkeys(row[at] for row in self.rows if row[at] is not None)
            found[column] = list(stored or made_up)
        return found


@dataclass(frozen=True)
class StoredDatabase:
    """All that copies of a database are made from."""

    schema: Schema
    definitions: Sequence[str]
    tables: Mapping[str, StoredTable] = field(default_factory=dict)
    """By their stored names."""


def read_database(database: SqliteDatabase, schema: Schema, rng: random.Random) -> StoredDatabase:
    """Read the definitions and some rows of every table. Raises DatabaseUnavailable."""
    with database.reader(seconds=_READING_SECONDS) as reader:
        definitions = [str(text) for (text,) in reader.rows(_DEFINITIONS) if text]
        tables = {}
        for table in schema.tables:
            columns = tuple(column.name for column in table.columns if not column.generated)
            if table.kind == "table" and columns:
                shown = ", ".join(map(quote_name, columns))
                text = f"SELECT {shown} FROM {quote_name(table.name)} LIMIT {_READ_ROWS}"
                rows = [row for row in reader.rows(text) if max(map(_length, row)) <= _LONGEST]
                kept = rows if len(rows) <= _KEPT_ROWS else rng.sample(rows, _KEPT_ROWS)
                tables[table.name] = StoredTable(table, columns, tuple(kept))
    return StoredDatabase(schema, tuple(definitions), tables)


def _length(cell: Cell) -> int:
    return len(cell) if isinstance(cell, str | bytes) else 0
