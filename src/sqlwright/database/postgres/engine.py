"""PostgreSQL inside a worker process: guarded connections for generated SQL, trusted ones for
sqlwright's own.

`GuardedConnection` is one of the two layers that keep generated SQL harmless. By itself it does
this: the server parses the text as the query of a cursor, and so refuses whatever isn't one plain
query; it runs by the extended protocol, which takes one statement, in a read-only transaction under
limits of time; the transaction is rolled back after each query, which undoes every setting, and
locks that outlive transactions are released. What a login may do that reads alone doesn't cover
(files of the server, other servers, signals) is told by `login.py`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg
from psycopg import capabilities, errors, pq
from psycopg.adapt import PyFormat, Transformer

from sqlwright.database.failures import Refused
from sqlwright.database.postgres.cells import as_cell
from sqlwright.database.postgres.failures import FAILURES, explain_failure, may_run_again
from sqlwright.database.postgres.session import Clock, Session, next_result
from sqlwright.database.workers.engine import OfServer

if TYPE_CHECKING:
    from typing import Literal

    from sqlwright.database.failures import Failure
    from sqlwright.types import Cell

    Row = tuple[Cell, ...]

T = TypeVar("T")

EXPLAINS = frozenset({"EXPLAIN (FORMAT JSON)", "EXPLAIN (FORMAT JSON, VERBOSE)"})
"""Words before a query that has to be explained."""
CHUNK_ROWS = 64
"""Rows that the driver holds at a time."""
TRIES = 3
"""Times that a query is sent at most, as long as none of its rows came."""
_CHUNKS = {pq.ExecStatus.SINGLE_TUPLE, pq.ExecStatus.TUPLES_CHUNK}
_CHECK = b"DECLARE query NO SCROLL CURSOR FOR "
_PLACES = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|\?")


class GuardedConnection:
    """A session that only answers queries."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._began = False
        self.interrupt = session.interrupt
        self.close = session.rest

    @property
    def phase(self) -> Literal["prepare", "run"]:
        """Stage that the last query reached: only prepared, or run, if only to its first row."""
        return "run" if self._began else "prepare"

    def execute(self, sql: str, explain: str = "") -> tuple[tuple[str, ...], Iterator[Row]]:
        """Column names and a lazy iterator of rows; with `explain`, one of `EXPLAINS`, those of the
        query's plan, and nothing of it runs. Raises Refused or the driver's errors."""
        self._began = False
        if "\0" in sql:
            raise Refused("the text contains a NUL character")
        if explain and explain not in EXPLAINS:
            raise Refused("only a plain query may run")
        return _tried(lambda: self._execute(sql, explain))

    def finish(self) -> None:
        """Roll back, and release the locks that outlive transactions."""
        self._session.end()

    def _execute(self, sql: str, explain: str) -> tuple[tuple[str, ...], Iterator[Row]]:
        self._began = False
        connection = self._session.begin()
        self._check(connection, sql)
        self._began = not explain
        text = f"{explain} {sql}" if explain else sql
        rows = Rows(connection, text, (), self._session.sorted)
        return rows.names, iter(rows)

    def _check(self, connection: psycopg.Connection[Any], sql: str) -> None:
        """Have the server parse the text as the query of a cursor, without running it: it refuses
        everything but one query that writes nothing in its WITH. A cursor itself would do, too, but
        the server runs the queries of cursors by one process alone."""
        result = connection.pgconn.prepare(b"", _CHECK + sql.encode())
        if result.status == pq.ExecStatus.FATAL_ERROR:
            error = self._session.sorted(errors.error_from_result(result, "utf-8"))
            if error.sqlstate == "0A000" and "DECLARE CURSOR" in str(error):
                raise Refused("only a plain query may run")
            raise error


class TrustedConnection:
    """A read-only session for SQL that sqlwright itself wrote, with `?` for parameters."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.interrupt = session.interrupt
        self.close = session.rest

    def rows(self, sql: str, parameters: Sequence[Cell] = ()) -> Iterator[Row]:
        """Rows one by one. Raises the driver's errors, which `explain_failure` sorts."""
        numbers = itertools.count(1)
        text = _PLACES.sub(lambda m: f"${next(numbers)}" if m[0] == "?" else m[0], sql)
        session = self._session
        rows = _tried(lambda: Rows(session.begin(), text, parameters, session.sorted))
        return self._until_end(rows)

    def shown(self, tables: Collection[str]) -> dict[str, list[str]]:
        """Nothing: what a view shows is read with the schema."""
        del tables
        return {}

    def _until_end(self, rows: Rows) -> Iterator[Row]:
        yield from rows
        self._session.end()


class Rows:
    """The rows of one statement that was sent by the extended protocol, a chunk at a time."""

    def __init__(
        self,
        connection: psycopg.Connection[Any],
        sql: str,
        parameters: Sequence[Cell],
        sort: Callable[[psycopg.Error], psycopg.Error],
    ) -> None:
        """Raises the statement's errors as `sort` says."""
        self._raw = connection.pgconn
        self._sort = sort
        self._transformer = Transformer(connection)
        values: Sequence[Any] | None = None
        types: Sequence[int] | None = None
        if parameters:
            formats = [PyFormat.TEXT] * len(parameters)
            values = self._transformer.dump_sequence(parameters, formats)
            types = self._transformer.types
        self._raw.send_query_params(sql.encode(), values, param_types=types)
        if capabilities.has_stream_chunked():
            self._raw.set_chunked_rows_mode(CHUNK_ROWS)
        else:
            self._raw.set_single_row_mode()
        self._result = self._next()
        described = self._result
        self.names = tuple(
            (described.fname(column) or b"").decode("utf-8", "replace")
            for column in range(described.nfields)
        )

    def __iter__(self) -> Iterator[Row]:
        result, first = self._result, True
        del self._result
        while result.status in _CHUNKS:
            self._transformer.set_pgresult(result, set_loaders=first)
            first = False
            for row in self._transformer.load_rows(0, result.ntuples, tuple):
                yield tuple(as_cell(cell) if type(cell) is list else cell for cell in row)
            result = self._next()
        while next_result(self._raw) is not None:
            pass

    def _next(self) -> pq.abc.PGresult:
        result = next_result(self._raw)
        if result is None:
            raise psycopg.OperationalError("the statement gave no result")
        if result.status == pq.ExecStatus.FATAL_ERROR:
            error = errors.error_from_result(result, "utf-8")
            while self._raw.status == pq.ConnStatus.OK and next_result(self._raw) is not None:
                pass
            raise self._sort(error)
        return result


def _tried(run: Callable[[], T]) -> T:
    """The value of `run`, which is run again where others were the reason that it failed; a query
    that ends its own server's process would do so again."""
    for _ in range(TRIES - 1):
        try:
            return run()
        except psycopg.Error as error:
            if not may_run_again(error):
                raise
    return run()


class _Postgres(OfServer):
    """`workers.engine.Engine` for PostgreSQL servers."""

    failures = FAILURES
    addresses = 512 * 1024 * 1024
    idle_bytes = 128 * 1024 * 1024

    def __init__(self) -> None:
        self._clock = Clock()
        self._session: Session | None = None

    def guarded(self, opening: Mapping[str, Any]) -> GuardedConnection:
        return GuardedConnection(self._open(opening))

    def trusted(self, opening: Mapping[str, Any]) -> TrustedConnection:
        return TrustedConnection(self._open(opening))

    def explain(self, error: BaseException) -> Failure:
        return explain_failure(error)

    def set_seconds(self, seconds: float) -> None:
        """Tell the time that the next statement may take, so that the server stops it, too."""
        self._clock.set_seconds(seconds)

    def _open(self, opening: Mapping[str, Any]) -> Session:
        """The one session of this process: a server has few to give, and opening takes long."""
        if self._session is not None:
            if self._session.opening == opening:
                return self._session
            self._session.close()
        self._session = Session(opening, self._clock)
        return self._session


ENGINE = _Postgres()
