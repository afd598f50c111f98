"""Limits a guarded connection to some of the stored tables; the others seem not to exist.

With a list of tables, every query is first prepared against a mirror: an empty database in memory
that holds the listed tables and nothing else. What it doesn't know fails there, with SQLite's own
words, so that a hidden table and one that doesn't exist can't be told apart by any text.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable
from typing import NamedTuple

import apsw

from sqlwright.database.sqlite.allowed import SCHEMA_TABLES, TABLE_FUNCTIONS
from sqlwright.database.sqlite.statement import Statement
from sqlwright.schema import fold_name
from sqlwright.sql.tokens import quote_name

_STORED = """
    SELECT name, CASE WHEN sql LIKE 'CREATE VIRTUAL %' THEN 'virtual' ELSE type END
    FROM sqlite_schema WHERE type IN ('table', 'view')
"""
_OBJECTS = """
    WITH l AS MATERIALIZED (SELECT name, type FROM pragma_table_list WHERE schema = 'main')
    SELECT s.name, l.type, s.sql, s.tbl_name, s.type
    FROM sqlite_schema AS s LEFT JOIN l ON l.name = s.name AND s.type IN ('table', 'view')
    ORDER BY s.type = 'view', s.type = 'index', s.rowid
"""


class Readable(NamedTuple):
    """Names, folded as SQLite folds them."""

    named: frozenset[str]
    """Tables that a query may name."""
    internal: frozenset[str] = frozenset()
    """Tables in which a virtual table keeps its own data: read by its module while a query runs,
    besides."""
    mirrored: tuple[str, ...] | None = None
    """CREATE texts of the listed tables, their indexes and views; None without a list."""


def stored_tables(connection: apsw.Connection, listed: Collection[str] | None) -> Readable:
    """All stored tables and views, or the listed ones (folded names). Runs without the authorizer:
    some modules (R*Tree) prepare their internal writes when their table is first looked at, and
    need no more than that to be read."""
    # Only what a list of tables needs asks SQLite for their kinds: it goes through every view then.
    objects = list(Statement(connection).rows(_STORED if listed is None else _OBJECTS))
    tables = [(str(name), str(kind)) for name, kind, *_ in objects if kind is not None]
    for name, kind in tables:
        if kind == "virtual":
            with contextlib.suppress(apsw.Error):
                connection.execute(f"SELECT 1 FROM {quote_name(name)} LIMIT 0")
    stored = {fold_name(name) for name, _ in tables}
    stored -= {name for name in stored if name.startswith("sqlite_")}
    if listed is None:
        return Readable(frozenset(stored | SCHEMA_TABLES | TABLE_FUNCTIONS))
    named = stored.intersection(listed) - set(map(fold_name, shown_by(connection, listed)))
    texts = tuple(
        str(sql)
        for name, _, sql, owner, kind in objects
        if sql and kind != "trigger" and fold_name(str(owner if kind == "index" else name)) in named
    )
    internal = _own_data(tables, listed) - named
    # A stored table that bears a table function's name takes its place.
    return Readable(frozenset(named | (TABLE_FUNCTIONS - stored)), internal, texts)


def shown_by(connection: apsw.Connection, listed: Collection[str]) -> dict[str, list[str]]:
    """The listed virtual tables that show what others hold, with the names of those: a full-text
    index of another table's content answers for it, a vocabulary lists the words of an index."""
    objects = Statement(connection).rows(_OBJECTS)
    tables = [(str(name), str(kind)) for name, kind, *_ in objects if kind]
    allowed = _own_data(tables, listed).union(listed)
    found = {}
    for name, kind in tables:
        if kind == "virtual" and fold_name(name) in listed:
            others = [read for read in _read_by(connection, name) if fold_name(read) not in allowed]
            if others:
                found[name] = others
    return found


def _own_data(tables: Iterable[tuple[str, str]], listed: Collection[str]) -> frozenset[str]:
    """The shadow tables of the listed virtual tables, by their exact names.

    `tables` are names and kinds as `pragma_table_list` gives them. SQLite, too, finds a shadow
    table's owner by what stands before the last underscore.
    """
    tables = list(tables)
    owners = {fold_name(name) for name, kind in tables if kind == "virtual"} & set(listed)
    shadows = (fold_name(name) for name, kind in tables if kind == "shadow")
    return frozenset(name for name in shadows if name.rpartition("_")[0] in owners)


def _read_by(connection: apsw.Connection, name: str) -> list[str]:
    """Tables that a virtual table reads besides itself when it is read."""
    seen: dict[str, None] = {}

    def note(action: int, first: str | None, *_: str | None) -> int:
        if action == apsw.SQLITE_READ:
            seen[first or ""] = None
        return apsw.SQLITE_OK

    before = connection.authorizer
    connection.authorizer = note
    try:
        # Some can't be read without a MATCH, or have lost what they read; they have no row to give.
        with contextlib.suppress(apsw.Error):
            for _ in connection.execute(f"SELECT * FROM {quote_name(name)} LIMIT 1"):
                break
    except UnicodeDecodeError:
        pass
    finally:
        connection.authorizer = before
    # An R*Tree asks how many rows ANALYZE counted of its own table.
    return [read for read in seen if fold_name(read) not in {fold_name(name), "sqlite_stat1"}]


def make_mirror(connection: apsw.Connection, texts: Iterable[str]) -> None:
    """Make listed tables in an empty database in memory. What can't be made isn't there."""
    for text in texts:
        cursor = connection.cursor()
        cursor.exec_trace = _first_alone()
        with contextlib.suppress(apsw.Error):
            cursor.execute(text)


def _first_alone() -> apsw.ExecTracer:
    """Lets one statement run: a hostile file may hold more in a table's text."""
    seen = 0

    def trace(*_: object) -> bool:
        nonlocal seen
        seen += 1
        return seen == 1

    return trace
