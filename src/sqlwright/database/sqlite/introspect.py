"""Tables, views, columns and declared keys, as SQLite tells them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any

from sqlwright.database.reader import DatabaseReader
from sqlwright.database.sqlite.failures import FAILURES, explain_failure
from sqlwright.errors import UnsafeQuery
from sqlwright.schema import Column, ForeignKey, Schema, Table
from sqlwright.sql.tokens import view_body

_TABLES = """
    SELECT s.name, l.type, s.sql
    FROM sqlite_schema AS s JOIN pragma_table_list AS l ON l.name = s.name AND l.schema = 'main'
    WHERE s.type IN ('table', 'view') AND l.type <> 'shadow'
        AND s.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
    ORDER BY s.rowid
"""
_COLUMNS = """
    SELECT s.name, x.name, x.type, x."notnull", x.pk, x.hidden
    FROM sqlite_schema AS s, pragma_table_xinfo(s.name) AS x
    WHERE s.type IN ('table', 'view') {one}
    ORDER BY s.rowid, x.cid
"""
_KEYS = """
    SELECT s.name, k.id, k.seq, k."table", k."from", k."to"
    FROM sqlite_schema AS s, pragma_foreign_key_list(s.name) AS k
    WHERE s.type = 'table' {one}
    ORDER BY s.rowid, k.id DESC, k.seq
"""
_HIDDEN, _GENERATED = 1, {2, 3}
LONGEST_DEFINITION = 4_000
"""Characters of a view's query that is kept; a longer one isn't, since half of one misleads."""


def read_schema(
    connection: DatabaseReader, name: str, only: Collection[str] | None = None
) -> Schema:
    """The whole schema, or that of some tables only, in stored order. Raises the binding's errors
    when the file is damaged."""
    rows = connection.rows(_TABLES)
    listed = [(str(n), str(k), str(sql)) for n, k, sql in rows if only is None or n in only]
    kinds = {table: kind for table, kind, _ in listed}
    definitions = {table: _view_query(sql) for table, kind, sql in listed if kind == "view"}
    columns: dict[str, list[tuple[Column, int]]] = defaultdict(list)
    for table, column, declared, required, key, hidden in _each(connection, _COLUMNS, kinds, only):
        if table in kinds and hidden != _HIDDEN:
            made = Column(
                name=str(column),
                type=str(declared or "").removesuffix("GENERATED ALWAYS").rstrip(),
                nullable=not required,
                generated=hidden in _GENERATED,
            )
            columns[table].append((made, key))
    tables = tuple(
        Table(
            name=table,
            columns=tuple(column for column, _ in columns[table]),
            primary_key=tuple(
                c.name for c, _ in sorted((p for p in columns[table] if p[1]), key=lambda p: p[1])
            ),
            kind="view" if kind == "view" else "table",
            definition=definitions.get(table, ""),
        )
        for table, kind in kinds.items()
        if columns[table]
    )
    schema = Schema(name, tables)
    return Schema(name, tables, tuple(_foreign_keys(_each(connection, _KEYS, kinds, only), schema)))


def _view_query(create: str) -> str:
    """The query of a view; empty where it can't be read or is too long."""
    try:
        query = view_body(create).strip()
    except UnsafeQuery:
        return ""
    return query if len(query) <= LONGEST_DEFINITION else ""


def _each(
    connection: DatabaseReader, sql: str, names: Collection[str], only: object
) -> list[tuple[Any, ...]]:
    """All rows at once; when one object spoils that (a view of a lost table, a virtual table of an
    unknown module), object by object without the broken ones."""
    try:
        some = "" if only is None else f"AND s.name IN ({', '.join('?' * len(names))})"
        return list(connection.rows(sql.format(one=some), tuple(names) if some else ()))
    except FAILURES as error:
        if explain_failure(error).kind != "sql":
            raise
    rows: list[tuple[Any, ...]] = []
    for name in names:
        try:
            rows += connection.rows(sql.format(one="AND s.name = ?"), (name,))
        except FAILURES as error:
            if explain_failure(error).kind != "sql":
                raise
    return rows


def _foreign_keys(rows: Iterable[tuple[Any, ...]], schema: Schema) -> Iterable[ForeignKey]:
    grouped: dict[tuple[str, int], list[tuple[Any, ...]]] = defaultdict(list)
    for table, key, _, target, near, far in rows:
        grouped[table, key].append((target, near, far))
    seen = set()
    for (name, _), parts in grouped.items():
        table, target = schema.table(name), schema.table(str(parts[0][0]))
        if table is None or target is None:
            continue
        near_columns = _stored(table, [near for _, near, _ in parts])
        far_names = [far for _, _, far in parts]
        if all(far is None for far in far_names):
            far_columns: tuple[str, ...] | None = target.primary_key
        else:
            far_columns = _stored(target, far_names)
        if near_columns and far_columns and len(near_columns) == len(far_columns):
            found = ForeignKey(table.name, near_columns, target.name, far_columns)
            if found not in seen:
                seen.add(found)
                yield found


def _stored(table: Table, names: Iterable[Any]) -> tuple[str, ...] | None:
    columns = [table.column(str(name)) for name in names]
    if any(column is None for column in columns):
        return None
    return tuple(column.name for column in columns if column is not None)
