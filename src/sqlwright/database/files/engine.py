"""DuckDB inside a worker process, over files that aren't databases."""

from __future__ import annotations

from sqlwright.database.duckdb.engine import ENGINE

__all__ = ["ENGINE"]
