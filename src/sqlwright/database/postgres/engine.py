"""PostgreSQL inside a worker process: guarded connections for generated SQL, trusted ones for
sqlwright's own.

`GuardedConnection` is one of the two layers that keep generated SQL harmless. By itself it does
this: the server parses the text as the query of a cursor, and so refuses whatever isn't one plain
query; it runs by the extended protocol, which takes one statement, in a read-only transaction under
limits of time; the transaction is rolled back after each query, which undoes every setting, and
locks that outlive transactions are released. What a login may do that reads alone doesn't cover
(files of the server, other servers, signals) is told by `read_login` (`database.py`).

A session that was lost opens again. All its settings are the transaction's own: a pooler between
here and the server gives the session to somebody else after each, who must find it as it was, and
whose settings must change no answer.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import select
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg
from psycopg import capabilities, errors, pq
from psycopg.adapt import PyFormat, Transformer
from psycopg.conninfo import conninfo_to_dict

from sqlwright.database.failures import Failure, Refused, no_answer
from sqlwright.database.postgres.cells import ARRAYS, as_cell, register, register_own
from sqlwright.database.postgres.failures import (
    FAILURES,
    Sorted,
    connect_failure,
    explain_failure,
    is_lost,
    may_run_again,
)
from sqlwright.database.workers.engine import OfServer

if TYPE_CHECKING:
    from typing import Literal

    from sqlwright.types import Cell

    Row = tuple[Cell, ...]

CANCEL_SECONDS = 2.0
"""Seconds that asking the server to stop may take."""
STARTING_SECONDS = 3.0
"""Seconds that a server which is starting is waited for at most."""
IDLE_SECONDS = 5.0
"""Seconds after which a session may have been forgotten on the way: whether it is answered is tried
first."""
LOOK_SECONDS = 1.0
"""Seconds that the answer may take then."""
_SHARE = 0.5
"""The part of the time of a statement that goes into waiting at most."""
_AGAIN_SECONDS = 0.1
"""Seconds after which a server that was starting is tried again."""
_LATE_SECONDS = 0.25
"""Seconds by which the server's own time limit is longer: the caller stops a query at its limit."""
_MOST_MILLISECONDS = 2**31 - 1
"""The server takes no larger number."""
_SETTINGS = {
    "standard_conforming_strings": "on",
    "datestyle": "ISO, YMD",
    "intervalstyle": "postgres",
    "bytea_output": "hex",
    "lock_timeout": "2s",
    "idle_in_transaction_session_timeout": "60s",
    "row_security": "on",
}
"""Settings of every transaction. Its time zone stays the login's own: others see the same."""
_UNSURE = {"client_connection_check_interval": "500ms"}
"""Settings that not every server and system has. With this one, a query whose worker was killed
ends."""
_OWN_PATH = "BEGIN READ ONLY; SET LOCAL search_path TO DEFAULT"
_ASKED_PATH = "SELECT pg_catalog.set_config('search_path', %s, true)"
_PATH = """
    SELECT coalesce(nullif((
        SELECT pg_catalog.string_agg(pg_catalog.quote_ident(s), ', ' ORDER BY n)
        FROM pg_catalog.unnest(pg_catalog.current_schemas(false)) WITH ORDINALITY AS p(s, n)
    ), ''), 'pg_catalog') || ', pg_temp'
"""
"""The namespaces that are there now, and temporary tables last: nothing slips in between later."""
_BEGIN = (
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = {timeout}; "
)
_FINISH = "ROLLBACK; SELECT pg_catalog.pg_advisory_unlock_all()"
_IN_TRANSACTION = {pq.TransactionStatus.INTRANS, pq.TransactionStatus.INERROR}


class PostgresSession:
    """A session on the server that opens again when it was lost. Not thread-safe, but `interrupt`
    may come from another thread."""

    def __init__(self, opening: Mapping[str, Any], clock: Clock) -> None:
        self.opening = opening
        self.interrupted = False
        self._clock = clock
        self._begun = time.monotonic()
        self._connection, self._settings = connect(opening, clock)

    def begin(self) -> psycopg.Connection[Any]:
        """Begin a transaction; in a new session where the old one was lost meanwhile."""
        self.end()
        self.interrupted = False
        begun = _BEGIN.format(timeout=self._clock.timeout)
        before, self._begun = self._begun, time.monotonic()
        try:
            if self._begun - before > IDLE_SECONDS:
                _look(self._connection.pgconn, min(LOOK_SECONDS, self._clock.left * _SHARE))
            self._connection.execute(begun + self._settings)
        except psycopg.Error as error:
            if not is_lost(error):
                raise
            self.reconnect()
            self._connection.execute(begun + self._settings)
        return self._connection

    def end(self) -> None:
        """Undo everything, and stop what still runs."""
        raw = self._connection.pgconn
        if raw.transaction_status == pq.TransactionStatus.ACTIVE:
            self._connection.cancel_safe(timeout=CANCEL_SECONDS)
            while next_result(raw) is not None:
                pass
        if raw.transaction_status in _IN_TRANSACTION:
            self._connection.execute(_FINISH)

    def reconnect(self) -> None:
        """Open another session in this one's place."""
        self._connection.close()
        self._connection, self._settings = connect(self.opening, self._clock)

    def interrupt(self) -> None:
        """Have the server stop the running query, from any thread."""
        self.interrupted = True
        with contextlib.suppress(psycopg.Error):
            self._connection.cancel_safe(timeout=CANCEL_SECONDS)

    def rest(self) -> None:
        """End what was begun, and close where that can't be done."""
        try:
            self.end()
        except psycopg.Error:
            self._connection.close()

    def close(self) -> None:
        """Close at once, queries or not."""
        self._connection.close()

    def sorted(self, error: psycopg.Error) -> psycopg.Error:
        """The same error; one that says the statement was stopped, by who asked for it."""
        if error.sqlstate != "57014" or self.interrupted:
            return error
        if self._clock.passed:
            return Sorted(Failure("timeout", "stopped by the server at its time limit"))
        return Sorted(Failure("unavailable", "stopped by somebody on the server"))


class Clock:
    """The time that the next statement may take, as the worker is told it before each."""

    def __init__(self) -> None:
        self._seconds = 0.0
        self._until = 0.0

    def set_seconds(self, seconds: float) -> None:
        self._seconds = seconds + _LATE_SECONDS
        self._until = time.monotonic() + self._seconds

    @property
    def timeout(self) -> int:
        """Milliseconds for the server."""
        return max(1, min(int(self._seconds * 1000), _MOST_MILLISECONDS))

    @property
    def passed(self) -> bool:
        return self.left <= 0

    @property
    def left(self) -> float:
        """Seconds that the caller waits."""
        return self._until - _LATE_SECONDS - time.monotonic()


def next_result(raw: pq.abc.PGconn) -> pq.abc.PGresult | None:
    """The next result, waited for so that another thread can interrupt."""
    # Where reading fails, the last thing that the server said is the result.
    with contextlib.suppress(psycopg.OperationalError):
        while raw.flush():
            select.select([raw.socket], [raw.socket], [])
            raw.consume_input()
        while raw.is_busy():
            select.select([raw.socket], [], [])
            raw.consume_input()
    return raw.get_result()


def connect(opening: Mapping[str, Any], clock: Clock) -> tuple[psycopg.Connection[Any], str]:
    """A session, and the statements that set what a transaction in it goes by. Variables of the
    environment that libpq looks at come with the opening, since a worker has none of its own. A
    server that is starting is waited for as long as the clock allows, some seconds at most. Raises
    `Sorted`."""
    os.environ.update(opening["environment"])
    try:
        given = conninfo_to_dict(opening["text"])
    except psycopg.Error:  # its message quotes the address, password included
        message = "PostgreSQL's library can't read this URL"
        raise Sorted(Failure("unavailable", message, "bad_address")) from None
    until = time.monotonic() + min(STARTING_SECONDS, clock.left * _SHARE)
    connection = _connection({**opening["defaults"], **given}, until)
    try:
        return connection, _settings_of(connection, opening["path"])
    except psycopg.Error as error:
        connection.close()
        failure = connect_failure(error)  # a pooler tells only now what the server refuses
        if failure.cause == "not_connected" and is_lost(error):
            failure = explain_failure(error)
        raise Sorted(failure) from None


def _connection(parameters: Mapping[str, Any], until: float) -> psycopg.Connection[Any]:
    while True:
        began = time.monotonic()
        try:
            return psycopg.connect(**parameters, autocommit=True, prepare_threshold=None)
        except (psycopg.Error, OSError, ValueError) as error:
            failure = connect_failure(error)
            if failure.cause == "slow":
                failure = replace(failure, message=no_answer(round(time.monotonic() - began)))
            if failure.cause != "starting" or time.monotonic() >= until:
                raise Sorted(failure) from None
        time.sleep(_AGAIN_SECONDS)


def _settings_of(connection: psycopg.Connection[Any], asked: str) -> str:
    if register(connection):
        connection.execute("SET client_encoding = 'SQL_ASCII'")
    register_own(connection, connection.execute(ARRAYS).fetchall())
    settings = dict(_SETTINGS)
    for name, value in _UNSURE.items():
        with contextlib.suppress(psycopg.Error):
            connection.execute(f"SELECT pg_catalog.set_config('{name}', '{value}', true)")
            settings[name] = value
    connection.execute(_OWN_PATH)
    if asked:
        connection.execute(_ASKED_PATH, [asked])
    (path,) = connection.execute(_PATH).fetchone() or ("",)
    connection.execute("ROLLBACK")
    fixed = "; ".join(f"SET LOCAL {name} = '{value}'" for name, value in settings.items())
    return f"{fixed}; SET LOCAL search_path = {path}"


def _look(raw: pq.abc.PGconn, seconds: float) -> None:
    """Raise an error that `is_lost` unless the session is answered soon."""
    until = time.monotonic() + seconds
    raw.send_query(b"SELECT 1")
    raw.flush()
    while raw.is_busy():
        if not select.select([raw.socket], [], [], max(until - time.monotonic(), 0))[0]:
            raise psycopg.OperationalError(no_answer(seconds))
        raw.consume_input()
    while raw.get_result() is not None:
        pass


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

    def __init__(self, session: PostgresSession) -> None:
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

    def __init__(self, session: PostgresSession) -> None:
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
        self._session: PostgresSession | None = None

    def guarded(self, opening: Mapping[str, Any]) -> GuardedConnection:
        return GuardedConnection(self._open(opening))

    def trusted(self, opening: Mapping[str, Any]) -> TrustedConnection:
        return TrustedConnection(self._open(opening))

    def explain(self, error: BaseException) -> Failure:
        return explain_failure(error)

    def set_seconds(self, seconds: float) -> None:
        """Tell the time that the next statement may take, so that the server stops it, too."""
        self._clock.set_seconds(seconds)

    def _open(self, opening: Mapping[str, Any]) -> PostgresSession:
        """The one session of this process: a server has few to give, and opening takes long."""
        if self._session is not None:
            if self._session.opening == opening:
                return self._session
            self._session.close()
        self._session = PostgresSession(opening, self._clock)
        return self._session


ENGINE = _Postgres()
