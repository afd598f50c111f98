"""A check that the library is there. It is imported in workers alone."""

from __future__ import annotations

import importlib.util

from sqlwright.errors import DatabaseUnavailable

LIBRARIES = ("duckdb",)
"""Packages that a worker imports."""


def require_driver(what: str) -> None:
    """Raise DatabaseUnavailable unless DuckDB is installed."""
    if importlib.util.find_spec("duckdb") is None:
        raise DatabaseUnavailable(
            f"{what}: reading it needs the package duckdb, which isn't installed.",
            hint="Install it: pip install 'sqlwright[duckdb]'",
        )
