"""A database that has what databases have, on each engine: namespaces, names that need quotes,
comments, every type, a view, a partitioned table (`tests/cases/engines`)."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[1] / "cases" / "engines"
ENGINES = ("postgres", "duckdb", "files", "mariadb", "sqlalchemy")
DIALECT = """
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg

class Dialect(PGDialect_psycopg):
    pass
"""
"""A dialect that nothing is written for, of a package of somebody's."""


@dataclass(frozen=True)
class Rich:
    """One of these databases."""

    engine: str
    url: str
    change: Callable[[str], None]
    """Runs a statement as the owner; of a folder of files, over a database that they are
    exported from anew."""
    items: str = "sales.«Order Items»"
    """The table of orders as a query names it."""

    def place(self, text: str) -> str:
        """A text with what is this database's own put in."""
        mark = "`" if self.engine == "mariadb" else '"'
        text = text.replace("{db}", self.url).replace("{items}", self.items)
        return text.replace("«", mark).replace("»", mark)


def make_rich(engine: str, request: pytest.FixtureRequest, folder: Path) -> Rich:
    """Make the database on an engine; skips where that isn't installed."""
    if engine in {"duckdb", "files"}:
        return _in_duckdb(engine, folder)
    if engine == "mariadb":
        server = request.getfixturevalue("mariadb_server")
        name = request.getfixturevalue("mariadb_database")(_script("mysql"))
        url = server.reader(name)
        return Rich(engine, url, lambda sql: server.run(sql, name), "«Order Items»")
    postgres = request.getfixturevalue("postgres_server")
    name = request.getfixturevalue("postgres_database")(_script("postgres"))
    tables = "SELECT ON ALL TABLES IN SCHEMA"
    url = postgres.reader(name, "USAGE ON SCHEMA sales", f"{tables} public", f"{tables} sales")
    if engine == "sqlalchemy":
        pytest.importorskip("sqlalchemy", reason="SQLAlchemy isn't installed")
        url = f"materialize://{url.partition('://')[2]}"
    return Rich(engine, url, lambda sql: postgres.run(sql, name))


def install_dialect(folder: Path) -> Path:
    """A folder of packages with one that brings a SQLAlchemy dialect: `materialize`."""
    told = folder / "sqlalchemy_materialize-1.dist-info"
    for place, text in [
        (folder / "of_somebody" / "__init__.py", DIALECT),
        (told / "entry_points.txt", "[sqlalchemy.dialects]\nmaterialize=of_somebody:Dialect"),
        (told / "METADATA", "Name: sqlalchemy-materialize\nVersion: 1"),
    ]:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
    return folder


def _script(name: str) -> str:
    return (SCRIPTS / f"{name}.sql").read_text("utf-8")


def _in_duckdb(engine: str, folder: Path) -> Rich:
    duckdb = pytest.importorskip("duckdb", reason="duckdb isn't installed")
    folder.mkdir(parents=True, exist_ok=True)
    path, exported = folder / "rich.duckdb", folder / "exported"

    def change(sql: str) -> None:
        with duckdb.connect(str(path)) as connection:
            connection.execute(sql)
            if engine == "files":
                shutil.rmtree(exported, ignore_errors=True)
                exported.mkdir()
                tables = connection.execute("SELECT schema_name, table_name FROM duckdb_tables()")
                for namespace, table in tables.fetchall():
                    target = exported / f"{table}.csv"
                    connection.execute(f"COPY {namespace}.\"{table}\" TO '{target}' (HEADER)")

    change(_script("duckdb"))
    if engine == "files":
        return Rich(engine, str(exported), change, "Order_Items")
    return Rich(engine, str(path), change)
