"""Tables and views of a connection: what there is, and what a list of some leaves readable."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

from sqlwright.database.duckdb.statement_check import (
    Names,
    check_tree,
    functions_called,
    tables_read,
)
from sqlwright.database.failures import ReadFailed, Refused

Name = tuple[str, str]
"""Namespace and own name of a table, folded."""
_USUAL = "main"
MACROS = """
    SELECT schema_name, function_name, function_type, macro_definition, parameters,
        parameter_types, comment
    FROM duckdb_functions() WHERE database_name = current_catalog() AND NOT internal
    ORDER BY schema_name, function_name, len(parameters)
"""
"""Each macro of the file, one of several by its name where they differ in their arguments."""


class AnswersStatements(Protocol):
    """The part of `connection.DuckDBSession` that answers here."""

    def all(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a statement."""
        ...

    def tree(self, sql: str) -> dict[str, Any]:
        """The one query of a text. Raises Refused and the library's errors."""
        ...

    def view_tree(self, create: str) -> dict[str, Any] | None:
        """The query of a CREATE VIEW; None where it can't be told."""
        ...


def readable(
    session: AnswersStatements, listed: Collection[str] | None, named: Collection[Name] = ()
) -> Names:
    """The names that a query may use; with a list of names in the schema, nothing else, and no view
    that shows what others hold. Raises Refused for a named macro whose body names more."""
    names, _ = _stored(session)
    if listed is not None:
        hidden = showing(session, listed, named)
        names &= {_named(name, names) for name in listed if name not in hidden}
    catalog = str(session.all("SELECT current_catalog()")[0][0])
    usable = Names(frozenset(names), _defined(session), frozenset(named), _USUAL, catalog.lower())
    _check_macros(session, usable)
    return usable


def body_query(kind: str, body: str) -> str:
    """A macro's body as a query of its own."""
    return body if kind == "table_macro" else f"SELECT (\n{body}\n)"


def _check_macros(session: AnswersStatements, names: Names) -> None:
    for space, own, kind, body, *_ in session.all(MACROS) if names.named else ():
        if (str(space).lower(), str(own).lower()) not in names.named:
            continue
        try:
            check_tree(session.tree(body_query(str(kind), str(body))), names)
        except (Refused, ReadFailed) as error:
            raise Refused(f"the macro {own} can't be among the functions: {error}") from None


def showing(
    session: AnswersStatements, listed: Collection[str], named: Collection[Name] = ()
) -> dict[str, list[str]]:
    """Listed views by what they read that isn't listed; functions of the database's own that aren't
    named are among it, since they may read anything."""
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
        others |= {
            own
            for space, own in functions_called(tree)
            if own in defined and (space or _USUAL, own) not in named
        }
        if others:
            found[name] = sorted(others)
    return found


def _stored(session: AnswersStatements) -> tuple[set[Name], Mapping[Name, str]]:
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


def _defined(session: AnswersStatements) -> frozenset[str]:
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
