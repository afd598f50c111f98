"""Databases of SQLite loaded into PostgreSQL and DuckDB, for `benchmarks/engines.py`.

A column has the type that is nearest to its declared one, if every stored value fits it, else it
holds texts. Keys are declared where the rows keep them. Names stay exactly as they are, so that in
PostgreSQL those with capitals have to be quoted.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from sqlwright.local.form.write.kinds import is_date, is_timestamp
from sqlwright.schema import Column, ForeignKey, Schema, Table
from sqlwright.sql.dialects import Dialect, dialect_named
from sqlwright.sql.tokens import quote_name

BATCH = 20_000
"""Rows of one statement."""
_LONG = 2**63
Value = Any
Rows = list[tuple[Value, ...]]


class Engine(Protocol):
    """A database of an engine's own, filled and asked by its plain driver."""

    dialect: Dialect

    def run(self, sql: str) -> Rows: ...

    def fill(self, table: str, columns: Mapping[str, str], rows: Rows) -> None:
        """Add rows to a table; its columns are quoted names and types."""

    def close(self) -> None: ...


@dataclass(frozen=True)
class Fit:
    """A type that a declared one becomes if all stored values are of it."""

    declared: str
    """A pattern."""
    type: str
    holds: Callable[[Value], bool]
    made: Callable[[Value], Value] = lambda value: value


def _whole(value: Value) -> bool:
    return isinstance(value, int) and -_LONG <= value < _LONG


FITS = (
    Fit(r"bool|^bit", "BOOLEAN", lambda value: value in (0, 1), bool),
    Fit(r"timestamp|datetime", "TIMESTAMP", lambda v: isinstance(v, str) and is_timestamp(v)),
    Fit(r"date", "DATE", lambda value: isinstance(value, str) and is_date(value)),
    Fit(
        r"^time$",
        "TIME",
        lambda v: isinstance(v, str) and re.fullmatch(r"[01]\d:[0-5]\d:[0-5]\d", v) is not None,
    ),
    Fit(r"int|year|num|dec|^$|bool|bit", "BIGINT", _whole),
    Fit(
        r"int|year|real|floa|doub|num|dec|^$",
        "DOUBLE PRECISION",
        lambda value: isinstance(value, int | float),
        float,
    ),
)
"""In the order they are tried. What fits none is text."""


def _as_text(value: Value) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace").replace("\0", "")
    return str(value).replace("\0", "")


TEXT = Fit("", "TEXT", lambda _: True, _as_text)


def fitting(declared: str, values: Sequence[Value]) -> Fit:
    """The type of a column."""
    known = [value for value in values if value is not None]
    for fit in FITS:
        if re.search(fit.declared, declared.casefold()) and all(map(fit.holds, known)):
            return fit
    return TEXT


def load(source: sqlite3.Connection, schema: Schema, engine: Engine) -> Schema:
    """Fill an engine's empty database; its schema, with the joins that the first one has."""
    content: dict[str, _Content] = {}
    for table in _targets_first(schema):
        names = ", ".join(quote_name(column.name) for column in table.columns)
        rows = source.execute(f"SELECT {names} FROM {quote_name(table.name)}").fetchall()
        content[table.name] = _Content.of(table, rows)
        _create(content[table.name], [k for k in schema.foreign_keys if _holds(k, content)], engine)
    tables = tuple(content[table.name].table for table in schema.tables if table.name in content)
    keys = tuple(k for k in schema.foreign_keys if {k.table, k.target_table} <= set(content))
    return Schema(schema.name, tables, keys, engine.dialect.name)


def _targets_first(schema: Schema) -> list[Table]:
    """The tables such that those that keys lead to come first, as far as they allow."""
    waiting = [table for table in schema.tables if table.kind == "table"]
    ordered: list[Table] = []
    while waiting:
        names = {table.name for table in waiting}
        behind = {
            key.table
            for key in schema.foreign_keys
            if key.target_table in names and key.target_table != key.table
        }
        table = next((one for one in waiting if one.name not in behind), waiting[0])
        waiting.remove(table)
        ordered.append(table)
    return ordered


@dataclass(frozen=True)
class _Content:
    """A table as it is declared there, and its rows."""

    table: Table
    types: tuple[str, ...]
    rows: Rows

    @staticmethod
    def of(table: Table, rows: Rows) -> _Content:
        """What becomes of a stored table."""
        fits = [
            fitting(column.type, [row[place] for row in rows])
            for place, column in enumerate(table.columns)
        ]
        made = [
            tuple(None if v is None else fit.made(v) for v, fit in zip(row, fits, strict=True))
            for row in rows
        ]
        primary = _holding_key(table, made)
        columns = tuple(
            Column(column.name, fit.type.lower(), column.name not in primary)
            for column, fit in zip(table.columns, fits, strict=True)
        )
        types = tuple(fit.type for fit in fits)
        return _Content(replace(table, columns=columns, primary_key=primary), types, made)

    def kinds(self, names: Sequence[str]) -> list[str]:
        """The types of some columns."""
        return [self.types[place] for place in self._places(names)]

    def values(self, names: Sequence[str]) -> set[tuple[Value, ...]]:
        """What some columns hold together, rows with a NULL left out."""
        places = self._places(names)
        found = {tuple(row[place] for place in places) for row in self.rows}
        return {values for values in found if None not in values}

    def _places(self, names: Sequence[str]) -> list[int]:
        all_names = [column.name for column in self.table.columns]
        return [all_names.index(name) for name in names]


def _holds(key: ForeignKey, content: Mapping[str, _Content]) -> bool:
    """True if the rows keep a key between two tables that are there, to a primary key."""
    near, far = content.get(key.table), content.get(key.target_table)
    if near is None or far is None or near is far:
        return False
    return (
        key.target_columns == far.table.primary_key
        and near.kinds(key.columns) == far.kinds(key.target_columns)
        and near.values(key.columns) <= far.values(key.target_columns)
    )


def _create(content: _Content, keys: Sequence[ForeignKey], engine: Engine) -> None:
    table, quoted = content.table, engine.dialect.quoted
    named = {
        quoted(column.name): kind for column, kind in zip(table.columns, content.types, strict=True)
    }
    lines = [f"{name} {kind}" for name, kind in named.items()]
    if table.primary_key:
        lines.append(f"PRIMARY KEY ({', '.join(map(quoted, table.primary_key))})")
    for key in keys:
        if key.table == table.name:
            near, far = (", ".join(map(quoted, ends)) for ends in (key.columns, key.target_columns))
            lines.append(f"FOREIGN KEY ({near}) REFERENCES {quoted(key.target_table)} ({far})")
    engine.run(f"CREATE TABLE {quoted(table.name)} ({', '.join(lines)})")
    engine.fill(table.name, named, content.rows)


def _holding_key(table: Table, rows: Rows) -> tuple[str, ...]:
    """The primary key, if the rows keep it."""
    names = [column.name for column in table.columns]
    if any(name not in names for name in table.primary_key):
        return ()
    places = [names.index(name) for name in table.primary_key]
    found = [tuple(row[place] for place in places) for row in rows]
    unique = len(set(found)) == len(found) and all(None not in key for key in found)
    return table.primary_key if unique else ()


class Postgres:
    """A new database on a server."""

    dialect = dialect_named("postgres")

    def __init__(self, url: str, name: str) -> None:
        import psycopg

        self._name = f"engines_{name}"
        with psycopg.connect(url, autocommit=True) as server:
            server.execute(f'DROP DATABASE IF EXISTS "{self._name}" WITH (FORCE)')
            server.execute(
                f"CREATE DATABASE \"{self._name}\" TEMPLATE template0 LOCALE 'C' ENCODING 'UTF8'"
            )
        start, _, _ = url.rpartition("/")
        self.url = f"{start}/{self._name}"
        self._connection = psycopg.connect(self.url, autocommit=True)
        self._connection.execute("SET statement_timeout = '30s'")

    def run(self, sql: str) -> Rows:
        cursor = self._connection.execute(sql.encode())
        return cursor.fetchall() if cursor.description else []

    def fill(self, table: str, columns: Mapping[str, str], rows: Rows) -> None:
        into = f"COPY {self.dialect.quoted(table)} ({', '.join(columns)}) FROM STDIN"
        with self._connection.cursor() as cursor, cursor.copy(into) as copy:
            for row in rows:
                copy.write_row(row)

    def close(self) -> None:
        self._connection.close()


class DuckDB:
    """A new file."""

    dialect = dialect_named("duckdb")

    def __init__(self, folder: Path, name: str) -> None:
        import duckdb

        self.path = folder / f"{name}.duckdb"
        self.path.unlink(missing_ok=True)
        self._connection = duckdb.connect(str(self.path))
        self._connection.execute("SET threads = 1")

    def run(self, sql: str) -> Rows:
        return self._connection.execute(sql).fetchall()

    def fill(self, table: str, columns: Mapping[str, str], rows: Rows) -> None:
        if not rows:
            return
        types = enumerate(columns.values(), 1)
        values = ", ".join(f"unnest(${number}::{kind}[])" for number, kind in types)
        for start in range(0, len(rows), BATCH):
            part = rows[start : start + BATCH]
            self._connection.execute(
                f"INSERT INTO {self.dialect.quoted(table)} SELECT {values}",
                [list(column) for column in zip(*part, strict=True)],
            )

    def close(self) -> None:
        self._connection.close()
