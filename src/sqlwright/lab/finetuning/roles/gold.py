"""Tables and columns that a gold query reads, by their stored names."""

from __future__ import annotations

from collections.abc import Collection

from sqlwright.schema import ColumnRef, Schema
from sqlwright.sql.reading import columns_used, tables_used


def gold_tables(sql: str, schema: Schema) -> tuple[str, ...]:
    """The tables and views that a query reads, in the schema's order; none where it reads one that
    the schema doesn't have, or is no query."""
    found = [schema.table(name) for name in tables_used(sql, schema.dialect)]
    if not all(found):
        return ()
    return ordered({table.name for table in found if table is not None}, schema)


def gold_columns(sql: str, schema: Schema) -> frozenset[ColumnRef]:
    """The columns that a query names."""
    return frozenset(columns_used(sql, schema))


def ordered(tables: Collection[str], schema: Schema) -> tuple[str, ...]:
    """Tables in the schema's order."""
    return tuple(table.name for table in schema.tables if table.name in tables)
