"""Rules of a dialect that nothing is written for."""

from __future__ import annotations

from sqlwright.errors import UnsafeQuery
from sqlwright.sql.dialects import Dialect
from sqlwright.sql.guards.rules import Rules


def rules(dialect: Dialect) -> Rules:
    """Raises UnsafeQuery."""
    raise UnsafeQuery(f"queries in the dialect '{dialect.name}' can't be checked yet")
