"""A prepared database of a script, on one of several engines."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sqlwright.prepare import open_workspace, prepare
from sqlwright.protocols import Workspace

ENGINES = ("sqlite", "duckdb", "postgres")


@contextmanager
def prepared_on(
    engine: str, script: str, folder: Path, request: pytest.FixtureRequest
) -> Iterator[Workspace]:
    """The script's database on an engine, prepared and opened for as long as the block runs."""
    address = str(folder / f"made.{engine}")
    if engine == "sqlite":
        with sqlite3.connect(address) as sqlite:
            sqlite.executescript(script)
        sqlite.close()
    elif engine == "duckdb":
        duckdb = pytest.importorskip("duckdb", reason="duckdb isn't installed")
        with duckdb.connect(address) as duck:
            duck.execute(script)
    else:
        server = request.getfixturevalue("postgres_server")
        address = server.url(server.create(script))
    prepare(address, folder=folder / "prepared")
    workspace = open_workspace(address, folder=folder / "prepared")
    yield workspace
    workspace.database.close()
