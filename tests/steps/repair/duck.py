"""The shop of tests/databases in DuckDB's dialect, for steps that run queries there."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import pytest

from sqlwright.protocols import Database, Limits, Run, Workspace
from sqlwright.schema import Schema
from sqlwright.types import ExecutionError, ExecutionResult

_TYPES = {"number": "DOUBLE", "text": "VARCHAR", "date": "VARCHAR", "boolean": "BOOLEAN"}


@dataclass
class DuckShop:
    """What steps ask of a database, over a connection of this process."""

    connection: Any
    dialect: str = "duckdb"

    def execute(self, sql: str, run: Run, *, limits: Limits | None = None) -> ExecutionResult:
        """Rows, or the engine's error."""
        del run, limits
        import duckdb

        try:
            found = self.connection.execute(sql)
            names = tuple(column[0] for column in found.description)
            return ExecutionResult(names, tuple(map(tuple, found.fetchall())))
        except duckdb.Error as error:
            return ExecutionResult(error=ExecutionError("sql", str(error), "prepare"))


def duck_workspace(shop: Workspace, path: Path) -> Iterator[Workspace]:
    """The shop's workspace with its tables in DuckDB."""
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect(":memory:")
    with sqlite3.connect(path) as stored:
        for table in shop.schema.tables:
            rows = stored.execute(f'SELECT * FROM "{table.name}"').fetchall()
            columns = ", ".join(
                f'"{one.name}" {_stored_type(rows, place)}'
                for place, one in enumerate(table.columns)
            )
            connection.execute(f'CREATE TABLE "{table.name}" ({columns})')
            marks = ", ".join("?" for _ in table.columns)
            if rows:
                connection.executemany(f'INSERT INTO "{table.name}" VALUES ({marks})', rows)
    schema = Schema(shop.schema.name, shop.schema.tables, shop.schema.foreign_keys, "duckdb")
    database = cast("Database", DuckShop(connection))
    yield replace(shop, database=database, schema=schema)
    connection.close()


def _stored_type(rows: list[tuple[Any, ...]], place: int) -> str:
    values = [row[place] for row in rows if row[place] is not None]
    if values and all(isinstance(value, int) for value in values):
        return "BIGINT"
    if values and all(isinstance(value, int | float) and not math.isnan(value) for value in values):
        return "DOUBLE"
    return "VARCHAR"
