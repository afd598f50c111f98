"""DuckDB inside a worker process, over files of which some are workbooks."""

from __future__ import annotations

from sqlwright.database.duckdb.engine import DuckdbEngine
from sqlwright.database.files.excel.loading import fill

ENGINE = DuckdbEngine(fill=fill)
