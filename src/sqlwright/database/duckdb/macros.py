"""Macros and enumerations of a DuckDB file: which of them a query may use.

A macro is SQL text that takes the place of its call, so its body is held to what holds a query.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from sqlwright.database.duckdb.readable import MACROS, body_query
from sqlwright.database.enumerations import MOST_LABELS
from sqlwright.database.functions import Name, written
from sqlwright.protocols import RowReader
from sqlwright.schema import Schema, fold_name
from sqlwright.sql.dialects import DUCKDB
from sqlwright.sql.guards.rules import Own
from sqlwright.types.functions import OwnFunction

_TYPES = """
    SELECT schema_name, type_name, labels FROM duckdb_types()
    WHERE database_name = current_catalog() AND NOT internal AND logical_type = 'ENUM'
"""


@dataclass(frozen=True, slots=True)
class Macros:
    """A file's own macros and enumerations, as far as queries may use them."""

    own: Own
    named: tuple[OwnFunction, ...]
    bodies: tuple[tuple[str, str], ...]
    """Each named macro's name and its body as a query."""


def stored_macros(connection: RowReader) -> list[Name]:
    """Every macro of the file. Raises ReadFailed."""
    return [(str(space), str(own)) for space, own, *_ in connection.rows(MACROS)]


def read_macros(connection: RowReader, named: Collection[Name], schema: Schema) -> Macros:
    """The macros that are named, and the enumerations of a schema's columns. Raises ReadFailed."""
    found, bodies, others = [], [], set()
    for space, own, kind, body, names, types, comment in connection.rows(MACROS):
        name = (str(space), str(own))
        if name not in named:
            if space == DUCKDB.namespace:
                others.add(fold_name(str(own)))
            continue
        usual = space == DUCKDB.namespace
        found.append(
            OwnFunction(
                str(own), "" if usual else str(space), _arguments(names, types),
                "rows" if kind == "table_macro" else "", str(comment or ""),
            )
        )  # fmt: skip
        bodies.append((written(name, DUCKDB.namespace), body_query(str(kind), str(body))))
    calls = frozenset(name for one in named for name in _spelled(one))
    shown = {column.labels for table in schema.tables for column in table.columns if column.labels}
    types_used = frozenset(
        name
        for space, own, labels in connection.rows(_TYPES)
        if isinstance(labels, tuple) and tuple(map(str, labels))[:MOST_LABELS] in shown
        for name in _spelled((str(space), str(own)))
    )
    own_names = Own(calls, types_used, frozenset(others))
    return Macros(own_names, tuple(found), tuple(bodies))


def _spelled(name: Name) -> list[str]:
    """The names that a query may use for it."""
    space, own = map(fold_name, name)
    return [f"{space}.{own}", *([own] if space == DUCKDB.namespace else [])]


def _arguments(names: object, types: object) -> str:
    if not isinstance(names, tuple):
        return ""
    kinds = types if isinstance(types, tuple) else ()
    return ", ".join(
        f"{name} {kinds[at]}" if at < len(kinds) and kinds[at] else str(name)
        for at, name in enumerate(names)
    )
