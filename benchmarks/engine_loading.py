"""Databases of SQLite loaded into PostgreSQL and DuckDB, for `benchmarks/engines.py`.

A column has the type that is nearest to its declared one, if every stored value fits it, else it
holds texts. Keys are declared where the rows keep them. Names stay exactly as they are, so that in
PostgreSQL those with capitals have to be quoted.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from sqlwright.form.write.kinds import is_date, is_timestamp
from sqlwright.schema import Column, Schema, Table
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

    def fill(self, table: str, types: Sequence[str], rows: Rows) -> None: ...

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
TEXT = Fit("", "TEXT", lambda _: True, lambda value: _as_text(value))


def _as_text(value: Value) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace").replace("\0", "")
    return str(value).replace("\0", "")


def fitting(declared: str, values: Sequence[Value]) -> Fit:
    """The type of a column."""
    known = [value for value in values if value is not None]
    for fit in FITS:
        if re.search(fit.declared, declared.casefold()) and all(map(fit.holds, known)):
            return fit
    return TEXT


def load(source: sqlite3.Connection, schema: Schema, engine: Engine) -> Schema:
    """Fill an engine's empty database; its schema, with the joins that the first one has."""
    tables = []
    for table in schema.tables:
        if table.kind == "view":
            continue
        names = ", ".join(quote_name(column.name) for column in table.columns)
        rows = source.execute(f"SELECT {names} FROM {quote_name(table.name)}").fetchall()
        tables.append(_loaded(table, rows, engine))
    keys = tuple(
        key for key in schema.foreign_keys
        if {key.table, key.target_table} <= {table.name for table in tables}
    )  # fmt: skip
    loaded = Schema(schema.name, tuple(tables), keys, engine.dialect.name)
    for statement in _foreign_keys(loaded, engine.dialect):
        try:
            engine.run(statement)
        except Exception:  # noqa: BLE001 - whichever the driver raises where the rows break a key
            continue
    return loaded


def _loaded(table: Table, rows: Rows, engine: Engine) -> Table:
    fits = [
        fitting(column.type, [row[place] for row in rows])
        for place, column in enumerate(table.columns)
    ]
    quoted = engine.dialect.quoted
    made = [
        tuple(None if v is None else fit.made(v) for v, fit in zip(row, fits, strict=True))
        for row in rows
    ]
    primary = _holding_key(table, made)
    lines = [f"{quoted(c.name)} {fit.type}" for c, fit in zip(table.columns, fits, strict=True)]
    if primary:
        lines.append(f"PRIMARY KEY ({', '.join(map(quoted, primary))})")
    engine.run(f"CREATE TABLE {quoted(table.name)} ({', '.join(lines)})")
    engine.fill(table.name, [fit.type for fit in fits], made)
    columns = tuple(
        Column(column.name, fit.type.lower(), column.name not in primary)
        for column, fit in zip(table.columns, fits, strict=True)
    )
    return replace(table, columns=columns, primary_key=primary)


def _holding_key(table: Table, rows: Rows) -> tuple[str, ...]:
    """The primary key, if the rows keep it."""
    names = [column.name for column in table.columns]
    if any(name not in names for name in table.primary_key):
        return ()
    places = [names.index(name) for name in table.primary_key]
    found = [tuple(row[place] for place in places) for row in rows]
    unique = len(set(found)) == len(found) and all(None not in key for key in found)
    return table.primary_key if unique else ()


def _foreign_keys(schema: Schema, dialect: Dialect) -> Iterator[str]:
    if dialect.name == "duckdb":
        return  # they can only be declared with the table
    for key in schema.foreign_keys:
        near = ", ".join(map(dialect.quoted, key.columns))
        far = ", ".join(map(dialect.quoted, key.target_columns))
        yield (
            f"ALTER TABLE {dialect.quoted(key.table)} ADD FOREIGN KEY ({near}) "
            f"REFERENCES {dialect.quoted(key.target_table)} ({far})"
        )


class Postgres:
    """A new database on a server."""

    dialect = dialect_named("postgres")

    def __init__(self, url: str, name: str) -> None:
        import psycopg

        self._name = f"engines_{name}"
        with psycopg.connect(url, autocommit=True) as server:
            server.execute(f'DROP DATABASE IF EXISTS "{self._name}" WITH (FORCE)')
            server.execute(
                f'CREATE DATABASE "{self._name}" TEMPLATE template0 LOCALE \'C\' ENCODING \'UTF8\''
            )
        start, _, _ = url.rpartition("/")
        self.url = f"{start}/{self._name}"
        self._connection = psycopg.connect(self.url, autocommit=True)
        self._connection.execute("SET statement_timeout = '30s'")

    def run(self, sql: str) -> Rows:
        cursor = self._connection.execute(sql.encode())
        return cursor.fetchall() if cursor.description else []

    def fill(self, table: str, types: Sequence[str], rows: Rows) -> None:
        with self._connection.cursor() as cursor:
            with cursor.copy(f"COPY {self.dialect.quoted(table)} FROM STDIN") as copy:
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

    def fill(self, table: str, types: Sequence[str], rows: Rows) -> None:
        if not rows:
            return
        columns = ", ".join(f"unnest(${n}::{kind}[]) AS c{n}" for n, kind in enumerate(types, 1))
        for start in range(0, len(rows), BATCH):
            part = rows[start : start + BATCH]
            self._connection.execute(
                f"INSERT INTO {self.dialect.quoted(table)} SELECT {columns}",
                [list(values) for values in zip(*part, strict=True)],
            )

    def close(self) -> None:
        self._connection.close()
