"""DuckDB inside a worker process, helped with workbooks and with encodings that it doesn't know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlwright.database.duckdb.connection import Filled
from sqlwright.database.duckdb.engine import DuckdbEngine
from sqlwright.database.files.assisted.decoded import add_decoded
from sqlwright.database.files.driver import is_installed

if is_installed():  # before the process is confined
    from sqlwright.database.files.excel import loading


def fill(connection: Filled, opening: Mapping[str, Any]) -> None:
    """Give a connection what an opening asks for beyond DuckDB's own readers. Raises ReadFailed."""
    if opening.get("decoded"):
        add_decoded(connection)
    if opening.get("workbook") or opening.get("sheets"):
        loading.fill(connection.execute, opening)


ENGINE = DuckdbEngine(fill=fill)
