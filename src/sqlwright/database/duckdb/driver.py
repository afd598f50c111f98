"""A check that the library is there, which is imported in workers alone; and new DuckDB files,
written by sqlwright itself: the demo's business. Nothing else writes."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Sequence
from pathlib import Path

from sqlwright.errors import DatabaseUnavailable, WorkspaceError

LIBRARIES = ("duckdb",)
"""Packages that a worker imports."""


def require_driver(what: str) -> None:
    """Raise DatabaseUnavailable unless DuckDB is installed."""
    if importlib.util.find_spec("duckdb") is None:
        raise DatabaseUnavailable(
            f"{what}: reading it needs the package duckdb, which isn't installed.",
            hint="Install it: pip install 'sqlwright[duckdb]'",
        )


Row = tuple[object, ...]


def write_duckdb(path: Path, script: str, tables: Iterable[tuple[str, Sequence[Row]]]) -> None:
    """Write a new file: the tables that a script makes, and their rows. Aside first, then renamed.
    Raises DatabaseUnavailable without the driver, and WorkspaceError when it can't be written."""
    require_driver(str(path))
    import duckdb

    aside = path.with_name(path.name + ".part")
    aside.unlink(missing_ok=True)
    try:
        with duckdb.connect(str(aside)) as connection:
            connection.execute("BEGIN")
            connection.execute(script)
            for table, rows in tables:
                marks = ", ".join("?" * len(rows[0]))
                connection.executemany(f"INSERT INTO {table} VALUES ({marks})", list(rows))
            connection.execute("COMMIT")
        aside.replace(path)
    except BaseException as error:
        for left in (aside, aside.with_name(f"{aside.name}.wal")):
            left.unlink(missing_ok=True)
        if isinstance(error, duckdb.Error | OSError):
            raise WorkspaceError(
                f"{path} can't be written: {error}.", hint="Make room, or choose another place."
            ) from error
        raise
