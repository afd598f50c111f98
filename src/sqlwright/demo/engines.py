"""The demo's business on other engines: the same tables and rows, typed as is usual there."""

from __future__ import annotations

import random
from pathlib import Path

from sqlwright.demo.business import SEED, business_rows, business_script

ENGINES = ("sqlite", "duckdb", "postgres")
"""Engines that the demo is loaded into."""


def script() -> str:
    """The statements that make its tables, for engines with types: amounts are decimals."""
    text = business_script().replace(") WITHOUT ROWID;", ");")
    return text.replace(" REAL", " NUMERIC(12, 2)")


def write_duckdb_business(path: Path) -> None:
    """Write it to a new DuckDB file. Raises DatabaseUnavailable and WorkspaceError."""
    from sqlwright.database.duckdb.written import write_duckdb

    write_duckdb(path, script(), business_rows(random.Random(SEED)))


def fill_postgres_business(url: str) -> None:
    """Load it into a PostgreSQL database that has no tables. Raises DatabaseUnavailable."""
    from sqlwright.database.postgres.written import fill_postgres

    fill_postgres(url, script(), business_rows(random.Random(SEED)))
