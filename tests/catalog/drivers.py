"""Readers straight over the drivers of other engines, and the schemas to read with them: what the
catalog reads is tried on real engines, apart from how sqlwright connects to them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlwright.database.failures import Failure, ReadFailed
from sqlwright.schema import Column, Schema, Table
from sqlwright.types import Cell

_COLUMNS = """
    SELECT c.table_name, c.column_name, {type}, c.is_nullable, t.table_type
    FROM information_schema.columns AS c JOIN information_schema.tables AS t
        ON t.table_schema = c.table_schema AND t.table_name = c.table_name
    WHERE c.table_schema = {schema} ORDER BY c.table_name, c.ordinal_position
"""
_WORDS = {
    "duckdb": ("c.data_type", "'main'"),
    "postgres": ("c.data_type", "'public'"),
    "mariadb": ("c.column_type", "database()"),
}
_KEYS = {
    "duckdb": "SELECT table_name, constraint_column_names[1] FROM duckdb_constraints()"
    " WHERE constraint_type = 'PRIMARY KEY' AND len(constraint_column_names) = 1",
    "postgres": "SELECT relname::text, attname::text FROM pg_index JOIN pg_class c"
    " ON c.oid = indrelid JOIN pg_attribute a ON a.attrelid = indrelid AND attnum = indkey[0]"
    " WHERE indisprimary AND indnatts = 1 AND relnamespace = 'public'::regnamespace",
    "mariadb": "SELECT table_name, min(column_name) FROM information_schema.statistics"
    " WHERE index_name = 'PRIMARY' AND table_schema = database() GROUP BY 1 HAVING count(*) = 1",
}


@dataclass
class DriverReader:
    """`protocols.RowReader` over a connection of a driver."""

    connection: Any
    dialect: str
    said: list[str] = field(default_factory=list)
    """The statements that were run."""
    read: int = 0
    """Rows that were read."""

    def rows(self, sql: str, parameters: Sequence[Cell] = ()) -> Iterator[tuple[Cell, ...]]:
        assert not parameters, "placeholders differ between engines"
        self.said.append(sql)
        cursor = self.connection.cursor()
        try:
            cursor.execute(sql)
        except Exception as error:
            raise ReadFailed(Failure("sql", str(error))) from error
        while chunk := cursor.fetchmany(2_048):
            self.read += len(chunk)
            yield from (tuple(map(_cell, row)) for row in chunk)

    def interrupt(self) -> None:
        """Stop the running statement."""
        stop = getattr(self.connection, "interrupt", None) or getattr(
            self.connection, "cancel", None
        )
        if stop is not None:
            stop()

    def schema(self) -> Schema:
        """Tables, views, columns and keys of one column."""
        type_, space = _WORDS[self.dialect]
        found: dict[str, list[Column]] = {}
        kinds: dict[str, str] = {}
        for table, column, declared, nullable, kind in self.rows(
            _COLUMNS.format(type=type_, schema=space)
        ):
            found.setdefault(str(table), []).append(
                Column(str(column), str(declared), nullable == "YES")
            )
            kinds[str(table)] = "view" if kind == "VIEW" else "table"
        keys = {str(table): str(column) for table, column in self.rows(_KEYS[self.dialect])}
        tables = tuple(
            Table(
                name,
                tuple(columns),
                (keys[name],) if name in keys else (),
                "view" if kinds[name] == "view" else "table",
            )
            for name, columns in found.items()
        )
        self.said.clear()
        self.read = 0
        return Schema("made", tables, dialect=self.dialect)


def _cell(value: Any) -> Cell:
    """What a driver gives as a cell of ours."""
    if isinstance(value, dict):
        return json.dumps(value)
    if isinstance(value, list):
        return tuple(map(_cell, value))
    return bytes(value) if isinstance(value, bytearray | memoryview) else value
