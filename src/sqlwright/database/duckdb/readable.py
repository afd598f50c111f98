"""Tables and views of a connection: what there is, and what a list of some leaves readable."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

from sqlwright.database.duckdb.statement_check import Names, functions_called, tables_read

Name = tuple[str, str]
"""Namespace and own name of a table, folded."""
_USUAL = "main"


class Asked(Protocol):
    """The part of `connection.Session` that answers here."""

    def all(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a statement."""
        ...

    def view_tree(self, create: str) -> dict[str, Any] | None:
        """The query of a CREATE VIEW; None where it can't be told."""
        ...


def readable(session: Asked, listed: Collection[str] | None) -> Names:
    """The names that a query may use; with a list of names in the schema, nothing else, and no view
    that shows what others hold."""
    names, _ = _stored(session)
    if listed is not None:
        hidden = showing(session, listed)
        names &= {_named(name, names) for name in listed if name not in hidden}
    catalog = str(session.all("SELECT current_catalog()")[0][0])
    return Names(frozenset(names), _defined(session), _USUAL, catalog.lower())


def showing(session: Asked, listed: Collection[str]) -> dict[str, list[str]]:
    """Listed views by what they read that isn't listed; functions of the database's own are among
    it, since they may read anything."""
    names, creates = _stored(session)
    defined = _defined(session)
    seen = {_named(name, names) for name in listed}
    found: dict[str, list[str]] = {}
    for name in listed:
        create = creates.get(_named(name, names))
        if create is None:
            continue
        tree = session.view_tree(create)
        if tree is None:
            found[name] = ["what can't be told"]
            continue
        read = {(space or _USUAL, own) for space, own in tables_read(tree)}
        others = {_written(one) for one in (read & names) - seen}
        if others := others | (functions_called(tree) & defined):
            found[name] = sorted(others)
    return found


def _stored(session: Asked) -> tuple[set[Name], Mapping[Name, str]]:
    """Tables and views, and the views' texts."""
    tables = session.all(
        "SELECT schema_name, table_name FROM duckdb_tables() "
        "WHERE database_name = current_catalog() AND NOT internal"
    )
    views = session.all(
        "SELECT schema_name, view_name, sql FROM duckdb_views() "
        "WHERE database_name = current_catalog() AND NOT internal"
    )
    creates = {(str(s).lower(), str(n).lower()): str(sql) for s, n, sql in views}
    return {(str(s).lower(), str(n).lower()) for s, n in tables} | creates.keys(), creates


def _defined(session: Asked) -> frozenset[str]:
    rows = session.all("SELECT function_name FROM duckdb_functions() WHERE NOT internal")
    return frozenset(str(name).lower() for (name,) in rows)


def _named(name: str, names: Collection[Name]) -> Name:
    """The table that a name in the schema means: one with a dot in it may be either."""
    folded = name.lower()
    space, dot, own = folded.partition(".")
    if dot and (_USUAL, folded) not in names:
        return space, own
    return _USUAL, folded


def _written(name: Name) -> str:
    space, own = name
    return own if space == _USUAL else f"{space}.{own}"
