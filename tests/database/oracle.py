"""SQLite's own authorizer as a judge of the guard's second layer.

`Oracle` prepares a text without running it and tells what SQLite would read and call.
"""

from __future__ import annotations

from typing import NamedTuple

import apsw

from sqlwright.schema import fold_name

SCRIPT = """
CREATE TABLE orders (id INTEGER PRIMARY KEY, state TEXT, "order" REAL, secret_id INTEGER);
CREATE TABLE secrets (id INTEGER PRIMARY KEY, token TEXT);
CREATE TABLE "order items" (id, "a b", [c d], item TEXT);
CREATE TABLE "window" (id, filter, "values");
CREATE TABLE "count" (id, "date");
CREATE TABLE "\u212aelvin" (id, temperature);
CREATE TABLE kelvin (id, cold);
CREATE TABLE pins (pin);
CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, age INTEGER);
CREATE VIEW open_orders AS SELECT * FROM orders WHERE state = 'open';
CREATE VIEW leaking AS SELECT o.id, s.token FROM orders o, secrets s WHERE s.id = o.secret_id;
CREATE VIEW deep(one, two) AS WITH x(a) AS (SELECT id FROM leaking) SELECT a, 2 FROM x;
CREATE VIEW "\u00d6" AS SELECT token FROM secrets;
CREATE VIEW "\u00f6" AS SELECT state FROM orders;
CREATE VIRTUAL TABLE notes USING fts5(body);
CREATE VIRTUAL TABLE notes_archive USING fts5(body);
CREATE VIRTUAL TABLE places USING rtree(id, low, high);
"""


class Reading(NamedTuple):
    """What preparing a text asks the authorizer for, folded."""

    tables: frozenset[str]
    functions: frozenset[str]
    others: frozenset[str]
    """Actions that a query has no need of."""


class Oracle:
    """SQLite's authorizer over a database of `SCRIPT`, everything in it allowed."""

    def __init__(self) -> None:
        self._connection = apsw.Connection(":memory:", statementcachesize=0)
        self._connection.config(apsw.SQLITE_DBCONFIG_DQS_DML, 1)
        self._connection.execute(SCRIPT)
        names = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')"
        # Virtual tables prepare what they need when they are first looked at.
        for (name,) in list(self._connection.execute(names)):
            list(self._connection.execute(f'SELECT * FROM "{name}" LIMIT 0'))
        self.views: dict[str, str] = dict(
            self._connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'view'")
        )
        self._seen: list[tuple[int, str, str]] = []
        self._connection.authorizer = self._authorize

    def prepare(self, sql: str) -> Reading | None:
        """What the text would read and call; None when SQLite doesn't accept it as a statement."""
        self._seen.clear()
        cursor = self._connection.cursor()
        cursor.exec_trace = lambda *_: False  # prepared, not run
        try:
            cursor.execute(sql)
            return None
        except apsw.ExecTraceAbort:
            pass
        except (apsw.Error, ValueError):
            return None
        seen = self._seen
        return Reading(
            frozenset(_name(one) for code, one, _ in seen if code == apsw.SQLITE_READ and one),
            frozenset(fold_name(two) for code, _, two in seen if code == apsw.SQLITE_FUNCTION),
            frozenset(
                apsw.mapping_authorizer_function[code]
                for code, one, _ in seen
                if code not in _READING and (code, one) != (apsw.SQLITE_PRAGMA, "data_version")
            ),
        )

    def _authorize(self, code: int, one: str | None, two: str | None, *_: str | None) -> int:
        self._seen.append((code, one or "", two or ""))
        return apsw.SQLITE_OK


def _name(table: str) -> str:
    """Folded; the schema's table has two names."""
    return fold_name(table).replace("sqlite_schema", "sqlite_master")


_READING = {apsw.SQLITE_SELECT, apsw.SQLITE_READ, apsw.SQLITE_FUNCTION, apsw.SQLITE_RECURSIVE}
_OPERATORS = frozenset(
    {"->", "->>", "like", "glob", "match", "regexp", "current_date", "current_time"}
    | {"current_timestamp"}
)
"""Functions that SQLite calls for what isn't written as a call."""


def disagreement(
    sql: str, accepted: frozenset[str], functions: frozenset[str], oracle: Oracle
) -> str:
    """What SQLite would do that a check which accepted the text, reading these tables and knowing
    these functions, doesn't know of; empty when there is nothing."""
    reading = oracle.prepare(sql)
    if reading is None:
        return ""
    if reading.others:
        return f"does {sorted(reading.others)}"
    unnoticed = reading.tables - set(map(_name, accepted))
    if unnoticed:
        return f"reads {sorted(unnoticed)}"
    unknown = reading.functions - functions - _OPERATORS
    return f"calls {sorted(unknown)}" if unknown else ""
