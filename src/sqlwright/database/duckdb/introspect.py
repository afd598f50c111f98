"""Tables, views, columns, comments and declared keys, as DuckDB tells them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sqlwright.database.failures import READ_FAILURES, read_failure
from sqlwright.database.functions import MOST_LABELS, labels_told
from sqlwright.database.reader import DatabaseReader
from sqlwright.errors import UnsafeQuery
from sqlwright.schema import Column, ForeignKey, Schema, Table
from sqlwright.sql.dialects import DUCKDB
from sqlwright.sql.tokens import view_body

_HERE = "database_name = current_catalog() AND NOT internal"
_TABLES = f"""
    SELECT schema_name, table_name, 'table', comment, '', table_oid FROM duckdb_tables()
    WHERE {_HERE} AND NOT temporary
    UNION ALL
    SELECT schema_name, view_name, 'view', comment, sql, view_oid FROM duckdb_views()
    WHERE {_HERE} AND NOT temporary
    ORDER BY 3, schema_name <> 'main', schema_name, 6
"""
_COLUMNS = f"""
    SELECT schema_name, table_name, column_name, data_type, is_nullable, comment, {{generated}}
    FROM duckdb_columns() WHERE {_HERE} {{one}}
    ORDER BY schema_name, table_name, column_index
"""
_KEYS = f"""
    SELECT schema_name, table_name, constraint_type, constraint_column_names,
        referenced_table, referenced_column_names
    FROM duckdb_constraints()
    WHERE {_HERE.replace(" AND NOT internal", "")}
        AND constraint_type IN ('PRIMARY KEY', 'FOREIGN KEY')
    ORDER BY table_oid, constraint_index
"""
_ENUM = re.compile(r"^ENUM\((.*)\)$", re.DOTALL)
_LABEL = re.compile(r"'((?:[^']|'')*)'")
LONGEST_DEFINITION = 4_000
"""Characters of a view's query that is kept; a longer one isn't, since half of one misleads."""


def read_schema(connection: DatabaseReader, name: str) -> Schema:
    """The whole schema: the usual namespace first, tables before views. Raises ReadFailed."""
    listed = list(connection.rows(_TABLES))
    columns = _columns(connection, [(str(row[0]), str(row[1])) for row in listed])
    keys = list(connection.rows(_KEYS))
    primary = {
        _name(space, table): tuple(map(str, names))
        for space, table, kind, names, _, _ in keys
        if kind == "PRIMARY KEY" and isinstance(names, tuple)
    }
    tables = []
    for space, own, kind, comment, create, _ in listed:
        full = _name(space, own)
        if full in columns:
            tables.append(
                Table(
                    name=full,
                    columns=tuple(columns[full]),
                    primary_key=primary.get(full, ()),
                    kind="view" if kind == "view" else "table",
                    namespace="" if space == DUCKDB.namespace else str(space),
                    description=str(comment or ""),
                    definition=_view_query(str(create)) if kind == "view" else "",
                )
            )
    schema = Schema(name, tuple(tables), dialect=DUCKDB.name)
    return Schema(name, schema.tables, tuple(_foreign_keys(keys, schema)), schema.dialect)


def _name(space: object, own: object) -> str:
    return str(own) if space == DUCKDB.namespace else f"{space}.{own}"


def _columns(
    connection: DatabaseReader, tables: Iterable[tuple[str, str]]
) -> Mapping[str, list[Column]]:
    """Columns by table. A view that can't be bound (its table is gone, its file may not be read)
    spoils the whole list; then each table is asked for alone, and that one left out."""
    found: dict[str, list[Column]] = defaultdict(list)
    generated = "is_generated"
    try:
        list(connection.rows("SELECT is_generated FROM duckdb_columns() LIMIT 0"))
    except READ_FAILURES as error:
        _require_sql(error)
        generated = "false"  # before DuckDB 2.0
    try:
        rows = list(connection.rows(_COLUMNS.format(generated=generated, one="")))
    except READ_FAILURES as error:
        _require_sql(error)
        rows = list(_each(connection, tables, generated))
    for space, table, column, kind, nullable, comment, made in rows:
        found[_name(space, table)].append(
            _column(str(column), str(kind), bool(nullable), str(comment or ""), bool(made))
        )
    return found


def _each(
    connection: DatabaseReader, tables: Iterable[tuple[str, str]], generated: str
) -> Iterator[tuple[Any, ...]]:
    one = _COLUMNS.format(generated=generated, one="AND schema_name = ? AND table_name = ?")
    for table in tables:
        try:
            yield from list(connection.rows(one, table))
        except READ_FAILURES as error:
            _require_sql(error)


def _require_sql(error: Exception) -> None:
    if read_failure(error).kind not in {"sql", "unsafe"}:
        raise error


def _column(name: str, kind: str, nullable: bool, comment: str, made: bool) -> Column:
    labels = _ENUM.match(kind)
    if labels is None:
        return Column(name, kind, nullable, made, description=comment)
    known = tuple(label.replace("''", "'") for label in _LABEL.findall(labels[1]))
    return Column(
        name, "ENUM", nullable, made, description=comment, value_description=labels_told(known),
        labels=known[:MOST_LABELS],
    )  # fmt: skip


def _view_query(create: str) -> str:
    """The query of a view; empty where it can't be read or is too long."""
    try:
        query = view_body(create).strip().removesuffix(";")
    except UnsafeQuery:
        return ""
    return query if len(query) <= LONGEST_DEFINITION else ""


def _foreign_keys(keys: Iterable[tuple[Any, ...]], schema: Schema) -> Iterator[ForeignKey]:
    seen = set()
    for space, own, kind, near, target, far in keys:
        if kind != "FOREIGN KEY" or not near or not far:
            continue
        table, other = schema.table(_name(space, own)), schema.table(_name(space, target))
        if table is None or other is None or len(near) != len(far):
            continue
        found = ForeignKey(table.name, tuple(near), other.name, tuple(far))
        if found not in seen:
            seen.add(found)
            yield found
