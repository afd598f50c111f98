"""Databases made from scripts, and readings over them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from sqlwright.catalog.reading import TimedReader
from sqlwright.database.sqlite.database import SqliteDatabase, read_schema
from sqlwright.protocols import Run
from sqlwright.schema import Schema

Opened = tuple[Schema, TimedReader]


@pytest.fixture
def make(tmp_path: Path) -> Callable[[str], Path]:
    """Makes a database file from a script."""

    def made(script: str, name: str = "made.db") -> Path:
        path = tmp_path / name
        connection = sqlite3.connect(path)
        connection.executescript(script)
        connection.commit()
        connection.close()
        return path

    return made


@pytest.fixture
def opened(make: Callable[[str], Path]) -> Iterator[Callable[..., Opened]]:
    """Makes a database and opens it for reading."""
    with ExitStack() as stack:

        def reading(
            script: str | Path, seconds: float | None = None, run: Run | None = None
        ) -> Opened:
            path = make(script) if isinstance(script, str) else script
            reader = stack.enter_context(stack.enter_context(SqliteDatabase(path)).reader())
            schema = read_schema(reader, path.stem)
            return schema, stack.enter_context(TimedReader(reader, run or Run(), seconds))

        yield reading
