"""The cases' tables on each engine."""

from __future__ import annotations

import csv
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

CASES = Path(__file__).parents[1] / "cases" / "caveats"
ENGINES = ("sqlite", "duckdb", "csv", "postgres", "mariadb")


def script(dialect: str) -> str:
    """The tables' SQL. SQLite alone holds texts in a column of numbers; elsewhere all are texts."""
    text = (CASES / "data.sql").read_text("utf-8")
    if dialect == "sqlite":
        return text.replace("MIXED", "REAL")
    return text.replace("MIXED", "VARCHAR(20)")


def build(engine: str, request: pytest.FixtureRequest, folder: Path) -> str:
    """The address of a database of these tables. Skips where the engine isn't there."""
    if engine == "sqlite":
        with closing(sqlite3.connect(folder / "data.sqlite")) as connection:
            connection.executescript(script("sqlite"))
        return str(folder / "data.sqlite")
    if engine == "duckdb":
        duckdb = pytest.importorskip("duckdb", reason="duckdb isn't installed")
        with duckdb.connect(str(folder / "data.duckdb")) as connection:
            connection.execute(script("duckdb"))
        return str(folder / "data.duckdb")
    if engine == "csv":
        pytest.importorskip("duckdb", reason="duckdb isn't installed")
        return str(_files(folder / "data"))
    create: Callable[[str], str] = request.getfixturevalue(f"{engine}_server").create
    server: Any = request.getfixturevalue(f"{engine}_server")
    if engine == "mariadb":
        return str(server.reader(create(script("mariadb"))))
    return str(server.url(create(script("postgres"))))


def _files(folder: Path) -> Path:
    """Each table as a file; numbers in quotes are texts in it, too."""
    folder.mkdir()
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(script("sqlite"))
        names = re.findall(r"CREATE TABLE (\w+)", script("sqlite"))
        for name in names:
            rows = connection.execute(f"SELECT * FROM {name}")
            with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file)
                writer.writerow([column[0] for column in rows.description])
                writer.writerows(rows)
    return folder
