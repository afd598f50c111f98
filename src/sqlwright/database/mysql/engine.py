"""MySQL and MariaDB inside a worker process.

`GuardedConnection` is one of the two layers that keep generated SQL harmless: a text runs only if
it begins as a query and the server itself, preparing it, says that it gives rows; it runs in a
transaction that can't write, under the server's limits, and everything it began ends with it.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlwright.database.failures import Refused
from sqlwright.database.mysql import LOOSELY
from sqlwright.database.mysql.failures import FAILURES, explain_failure
from sqlwright.database.mysql.session import Session
from sqlwright.database.workers.engine import OfServer

if TYPE_CHECKING:
    from typing import Literal

    from sqlwright.database.failures import Failure
    from sqlwright.types import Cell

    Row = tuple[Cell, ...]

SQL_BYTES = 1_000_000
"""UTF-8 bytes of a statement at most."""
AGAIN_SECONDS = 0.05
"""Seconds after which a query is stopped once more."""
EXPLAIN = "EXPLAIN FORMAT=JSON"
_BLANK = re.compile(
    r"(?:\s|\(|/\*.*?\*/|--(?=[\s\x00-\x1f])[^\n]*(?:\n|$)|#[^\n]*(?:\n|$))*", re.DOTALL
)
_FIRST = re.compile(r"(?:SELECT|WITH|VALUES|TABLE)\b", re.IGNORECASE)
_VERSIONED = re.compile(r"/\*M?!")
_LITERAL = re.compile(
    r"'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.|\"\")*\"|`(?:[^`]|``)*`|\?", re.DOTALL
)


class GuardedConnection:
    """A connection that only answers queries. Not thread-safe, but `interrupt` may come from
    another thread."""

    def __init__(self, opening: Mapping[str, Any], seconds: Callable[[], float]) -> None:
        self._session = Session(opening, seconds)
        self._phase: Literal["prepare", "run"] = "prepare"

    @property
    def phase(self) -> Literal["prepare", "run"]:
        """Stage that the last query reached."""
        return self._phase

    def execute(self, sql: str, explain: str = "") -> tuple[tuple[str, ...], Iterator[Row]]:
        """Column names and a lazy iterator of rows; with `explain`, those of the query's plan.
        Raises Refused or PyMySQL's errors."""
        self._phase = "prepare"
        _require_query(sql)
        if explain not in {"", EXPLAIN, LOOSELY}:
            raise Refused("this plan can't be asked for")
        self._session.begin(transaction=True)
        if explain == LOOSELY:
            self._session.group_loosely()
            explain = ""
        if not self._session.columns(sql):
            raise Refused("only a plain query may run")
        self._phase = "run"
        return self._session.stream(f"{explain} {sql}" if explain else sql)

    def finish(self) -> None:
        """End the transaction and whatever the query left in the session."""
        self._session.reset()

    def interrupt(self) -> None:
        """Stop the running query on the server, from any thread."""
        self._session.stop()
        # It may have come between two statements, before the query itself.
        time.sleep(AGAIN_SECONDS)
        self._session.stop()

    def close(self) -> None:
        """Close at once."""
        self._session.close()


class TrustedConnection:
    """A read-only connection for SQL that sqlwright itself wrote; a parameter's place is `?`."""

    def __init__(self, opening: Mapping[str, Any], seconds: Callable[[], float]) -> None:
        self._session = Session(opening, seconds)

    def rows(self, sql: str, parameters: Sequence[Cell] = ()) -> Iterator[Row]:
        """Rows one by one. Raises PyMySQL's errors."""
        self._session.end()
        self._session.begin(transaction=False)
        return self._session.stream(self._filled(sql, parameters))[1]

    def shown(self, tables: Collection[str]) -> dict[str, list[str]]:
        """Nothing: no table shows what others hold."""
        del tables
        return {}

    def interrupt(self) -> None:
        """Stop the running statement on the server, from any thread."""
        self._session.stop()

    def close(self) -> None:
        """Close at once."""
        self._session.close()

    def _filled(self, sql: str, parameters: Sequence[Cell]) -> str:
        if not parameters:
            return sql
        waiting = iter(parameters)

        def literal(found: re.Match[str]) -> str:
            return self._session.escaped(next(waiting)) if found[0] == "?" else found[0]

        return _LITERAL.sub(literal, sql)


def _require_query(sql: str) -> None:
    """Refuse what doesn't begin as a query, and comments that the server would run."""
    if "\0" in sql:
        raise Refused("the text contains a NUL character")
    if len(sql) > SQL_BYTES or len(sql.encode()) > SQL_BYTES:
        raise Refused("the text is too long")
    if _VERSIONED.search(sql):
        raise Refused("comments that the server runs are not allowed")
    blank = _BLANK.match(sql)
    assert blank is not None
    if not _FIRST.match(sql, blank.end()):
        raise Refused("only a plain query may run")


class _Mysql(OfServer):
    """`workers.engine.Engine` for MySQL and MariaDB servers."""

    failures = FAILURES
    idle_bytes = 96 * 1024 * 1024
    addresses = 256 * 1024 * 1024

    def __init__(self) -> None:
        self._seconds = 0.0

    def guarded(self, opening: Mapping[str, Any]) -> GuardedConnection:
        return GuardedConnection(opening, lambda: self._seconds)

    def trusted(self, opening: Mapping[str, Any]) -> TrustedConnection:
        return TrustedConnection(opening, lambda: self._seconds)

    def explain(self, error: BaseException) -> Failure:
        return explain_failure(error)

    def set_seconds(self, seconds: float) -> None:
        """Tell the time that the next statement may take."""
        self._seconds = seconds


ENGINE = _Mysql()
