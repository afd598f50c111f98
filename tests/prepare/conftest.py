"""Databases of each engine, made from scripts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest


@dataclass
class Place:
    """A database of one engine and a way to change it."""

    engine: str
    url: str
    change: Callable[[str], None]


@pytest.fixture(params=["duckdb", "postgres", "mariadb"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str], Place]:
    """Makes a database of each engine from a script."""
    engine: str = request.param

    def made(script: str) -> Place:
        if engine == "duckdb":
            duckdb = pytest.importorskip("duckdb", reason="duckdb isn't installed")
            path = tmp_path / "pets.duckdb"

            def change(sql: str) -> None:
                with duckdb.connect(str(path)) as connection:
                    connection.execute(sql)

            change(script)
            return Place(engine, str(path), change)
        server: Any = request.getfixturevalue(f"{engine}_server")
        if engine == "postgres":  # what is made later may be read, too
            script = "ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO PUBLIC;" + script
        name = server.create(script)
        url = (
            server.reader(name, "SELECT ON ALL TABLES IN SCHEMA public")
            if engine == "postgres"
            else server.reader(name)
        )
        return Place(engine, url, lambda sql: server.run(sql, name))

    made.engine = engine  # type: ignore[attr-defined]
    return made
