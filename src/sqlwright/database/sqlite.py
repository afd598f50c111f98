"""A SQLite file that can't be written through: schema, guarded queries, trusted reading."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, cast

from sqlwright.database.failures import FAILURES, Failure, explain_failure, needs_copy
from sqlwright.database.files import DatabaseFile, FileSource, Token
from sqlwright.database.introspect import read_schema
from sqlwright.database.planning import PLAN_LIMITS, PLAN_ROWS, read_stored_orders
from sqlwright.database.reader import DatabaseReader
from sqlwright.database.stored import Stored, read_stored
from sqlwright.database.workers.pool import Pool
from sqlwright.database.workers.process import Stop, WorkerDied, WorkerStopped, start_failure
from sqlwright.errors import ConfigError, DatabaseUnavailable, UnsafeQuery
from sqlwright.protocols import Limits, Run
from sqlwright.schema import Schema, fold_name
from sqlwright.sql.guard import check_query
from sqlwright.sql.tokens import UnreadableQuery, quote_name
from sqlwright.sql.tree import StopReading
from sqlwright.types import ErrorCause, ErrorKind, ExecutionError, ExecutionResult
from sqlwright.types.plans import EnginePlan, Instruction, PlanNode

Explain = Literal["", "EXPLAIN", "EXPLAIN QUERY PLAN"]

_HINTS: Mapping[ErrorCause, str] = {
    "not_started": "Files are read by processes of their own, which that keeps from starting.",
    "locked": "Close the program that holds it, or try again in a moment.",
    "damaged": "If it is encrypted, decrypt a copy; else restore a backup, or try "
    "`sqlite3 FILE .recover`.",
    "slow": "It may have views of views that multiply: drop those in a copy.",
}
_HINT = "Check that the file and its folder may be read."

OPEN_SECONDS = 3.0
"""The time that opening a file may take; waiting for another program's lock takes one."""
SCHEMA_SECONDS = 10.0
"""The time that reading a schema may take."""
_ATTEMPTS = 3
"""Attempts at most to run a query on a database that another program changes meanwhile."""
_CHECKED_MOST = 4_096
"""Queries whose check is remembered at most."""
_LEAST_SECONDS = 0.001
"""Seconds that a query may take at least, where its check took all the time there was."""


class SqliteDatabase:
    """`protocols.Database` over one file. All methods may be called from any thread.

    The file is opened for a moment in this process too (`schema`, `reader`). POSIX drops all of a
    process's locks on a file when any descriptor of it is closed, so a program that writes the same
    file through another SQLite library should do that from another process, or not meanwhile.
    """

    def __init__(
        self, path: Path, tables: Collection[str] | None = None, pool: Pool | None = None
    ) -> None:
        """With `tables` nothing but these tables and views is known of or can be read; with `pool`
        its workers run the queries. Raises DatabaseUnavailable, and ConfigError for a table that
        isn't there and for a view that reads one that may not be read."""
        self._file = DatabaseFile(path)
        self._lock = threading.Lock()
        self._closed = False
        self._stored: tuple[Token, Stored] | None = None
        self._checked: set[str] = set()
        self._tables: tuple[str, ...] | None = None
        self._pool = pool or Pool(lambda: self._request(self._source(), Limits()))
        try:
            with self.reader(seconds=SCHEMA_SECONDS) as connection:
                if tables is not None:
                    self._tables = self._named(tables, connection)
        except BaseException:
            self.close()
            raise

    @property
    def dialect(self) -> str:
        return "sqlite"

    @property
    def path(self) -> Path:
        """The file, absolute."""
        return self._file.path

    @property
    def url(self) -> str:
        return f"sqlite:///{self._file.path}"

    @property
    def tables(self) -> tuple[str, ...] | None:
        """The only tables and views that may be read, by their stored names; None for all."""
        return self._tables

    def schema(self, *, seconds: float = SCHEMA_SECONDS) -> Schema:
        """Tables, views, columns and declared keys, read afresh. Raises DatabaseUnavailable, also
        when that takes longer than so many seconds."""
        with (
            self.reader(seconds=min(seconds, SCHEMA_SECONDS)) as connection,
            self._binding_errors(),
        ):
            schema = read_schema(connection, self._file.path.stem)
        return schema if self._tables is None else schema.only(self._tables)

    @contextlib.contextmanager
    def reader(self, *, seconds: float | None = None) -> Iterator[DatabaseReader]:
        """Reads by SQL that sqlwright itself wrote, in a worker process, with bounded memory and
        `seconds` for all of it; one thread uses it, any may `interrupt` it. Raises
        DatabaseUnavailable."""
        reader = self._connect(seconds)
        try:
            yield reader
        finally:
            reader.close()

    def execute(self, sql: str, run: Run, *, limits: Limits | None = None) -> ExecutionResult:
        """Check, then run one query in the worker process. Every failure is in the result."""
        return self._answer(sql, run, limits or run.limits)

    def plan(self, sql: str, run: Run) -> EnginePlan:
        """Check, then compile one query in the worker process, and run nothing of it."""
        outline = self._answer(sql, run, PLAN_LIMITS, "EXPLAIN QUERY PLAN")
        listed = self._answer(sql, run, PLAN_LIMITS, "EXPLAIN")
        error = outline.error or listed.error
        if error is None and listed.truncated:
            error = ExecutionError("memory", f"its plan has more than {PLAN_ROWS:,} instructions")
        if error is not None:
            return EnginePlan(error=error)
        with self.reader(seconds=SCHEMA_SECONDS) as connection, self._binding_errors():
            stored = read_stored_orders(connection, self._tables)
        return EnginePlan(
            tuple(
                Instruction(*cast("Any", (*row[:5], row[5] or "", row[6]))) for row in listed.rows
            ),
            tuple(PlanNode(*cast("Any", (row[0], row[1], row[3]))) for row in outline.rows),
            stored,
        )

    def _answer(
        self, sql: str, run: Run, allowed: Limits, explain: Explain = ""
    ) -> ExecutionResult:
        started = time.monotonic()
        try:
            if _stop(run):
                raise WorkerStopped("cancelled")
            self.check(sql, _stop_at(started + allowed.seconds, run))
            left = max(started + allowed.seconds - time.monotonic(), _LEAST_SECONDS)
            within = replace(allowed, seconds=left)
            result = self._run({"sql": sql, "explain": explain}, within, lambda: _stop(run))
        except UnsafeQuery as error:
            result = _error(_refused(error), "prepare")
        except DatabaseUnavailable as error:
            result = _failed("unavailable", " ".join(filter(None, (str(error), error.hint))))
        except WorkerStopped as error:
            result = _stopped(str(error), run, allowed)
        except WorkerDied as error:
            result = self._died(error)
        except OSError as error:
            result = _error(Failure("unavailable", start_failure(error), "not_started"))
        return replace(result, elapsed=time.monotonic() - started)

    def fingerprint(self) -> str:
        """Changes when the stored data may have changed; some microseconds."""
        with self._lock:
            parts = (*self._file.token(), self._file.change_counter())
        return "-".join(f"{part:x}" for part in parts)

    @property
    def worker_pids(self) -> tuple[int, ...]:
        """Process ids of the workers that live now."""
        return self._pool.pids

    @property
    def confinement(self) -> tuple[str, ...]:
        """Rights that the worker processes have given up, as `confinement.confine` names it; empty
        before the first has answered."""
        return self._pool.holds

    def close(self) -> None:
        """End the worker processes and remove temporary copies. Safe to call twice."""
        if not self._closed:
            self._closed = True
            self._pool.close()
            with self._lock:
                self._file.close()

    def __enter__(self) -> SqliteDatabase:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _source(self) -> FileSource:
        with self._lock:
            return self._file.source()

    def _connect(self, seconds: float | None) -> DatabaseReader:
        source = self._source()
        try:
            return self._open_checked(source, seconds)
        except FAILURES as error:
            # SQLite tries for long to make sense of a log's index that is none.
            stuck = source.mode == "live" and explain_failure(error).kind == "interrupted"
            if source.mode == "copy" or not (stuck or needs_copy(error)):
                raise self._unavailable(error) from error
        with self._lock:
            self._file.require_copy(source)
        with self._binding_errors():
            return self._open_checked(self._source(), seconds)

    def _open_checked(self, source: FileSource, seconds: float | None) -> DatabaseReader:
        reader = DatabaseReader(self._pool, self._request(source, Limits()), seconds)
        try:
            with reader.within(OPEN_SECONDS):
                list(reader.rows("SELECT count(*) FROM sqlite_schema"))
        except BaseException:
            reader.close()
            raise
        return reader

    @contextlib.contextmanager
    def _binding_errors(self) -> Iterator[None]:
        """Turn the binding's errors into DatabaseUnavailable."""
        try:
            yield
        except FAILURES as error:
            raise self._unavailable(error) from error

    def _unavailable(self, error: BaseException) -> DatabaseUnavailable:
        failure = explain_failure(error)
        if failure.kind == "interrupted":
            failure = Failure("unavailable", "reading its schema takes too long", "slow")
        hint = _HINTS.get(failure.cause, _HINT)
        return DatabaseUnavailable(f"{self._file.path}: {failure.message}.", hint=hint)

    def check(self, sql: str, stop: StopReading | None = None) -> None:
        """Raise UnsafeQuery unless the text is one query that only reads, and only what may be
        read. `execute` does this first."""
        stored = self._stored_now()
        with self._lock:
            if sql in self._checked:
                return
        check_query(sql, self.dialect, views=stored.views, hidden=stored.hidden, stop=stop)
        with self._lock:
            if len(self._checked) >= _CHECKED_MOST:
                self._checked.clear()
            self._checked.add(sql)

    def _stored_now(self) -> Stored:
        with self._lock:
            token, known = self._file.token(), self._stored
        if known is not None and known[0] == token:
            return known[1]
        with self.reader(seconds=SCHEMA_SECONDS) as connection, self._binding_errors():
            stored = read_stored(connection, self._tables)
        with self._lock:
            if known is None or known[1] != stored:
                self._checked.clear()
            self._stored = (token, stored)
        return stored

    def _named(self, tables: Collection[str], connection: DatabaseReader) -> tuple[str, ...]:
        """Tables by their stored names. Raises ConfigError."""
        with self._binding_errors():
            everything = read_stored(connection, ())
        by_name = {fold_name(name): name for name in everything.names} | {
            name: name for name in everything.names
        }
        absent = [name for name in tables if name not in by_name and fold_name(name) not in by_name]
        if absent:
            known = ", ".join(sorted(everything.names)[:40])
            raise ConfigError(
                f"{self._file.path} has no table {absent[0]!r}, which tables lists",
                hint=f"There are: {known}.",
            )
        named = tuple(dict.fromkeys(by_name.get(n) or by_name[fold_name(n)] for n in tables))
        self._require_own_data(named, connection)
        stored = everything.without(named)
        until = time.monotonic() + Limits().seconds
        for view in named:
            if view in stored.views:
                try:
                    check_query(f"SELECT * FROM {quote_name(view)}", views=stored.views,
                                hidden=stored.hidden, stop=_stop_at(until))  # fmt: skip
                except WorkerStopped:
                    raise DatabaseUnavailable(
                        f"{self._file.path}: what the view {view} reads takes too long to check.",
                        hint="Leave the view out of the tables.",
                    ) from None
                except UnsafeQuery as error:
                    raise ConfigError(
                        f"the view {view} can't be among the tables: {error} among them",
                        hint="List what it reads, too, or leave the view out.",
                    ) from None
        return named

    def _require_own_data(self, named: Collection[str], connection: DatabaseReader) -> None:
        """Raise ConfigError for a virtual table that shows what other tables hold."""
        with self._binding_errors():
            shown = connection.shown(named)
        for name, others in shown.items():
            raise ConfigError(
                f"{name} can't be among the tables: it shows what {others[0]} holds",
                hint=f"List {others[0]}, too, or leave {name} out.",
            )

    def _request(self, source: FileSource, limits: Limits) -> dict[str, Any]:
        return {
            "uri": source.uri,
            "folder_id": source.folder_id,
            # An immutable opening has to be renewed at every change. The others see changes
            # themselves, unless the file was overwritten by one with the same count of changes.
            "token": source.token if source.mode in {"immutable", "copy"} else source.token[:3],
            "holds_locks": source.mode == "live",
            "seconds": limits.seconds,
            "rows": limits.rows,
            "result_bytes": limits.result_bytes,
            "cell_bytes": limits.cell_bytes,
            "memory_bytes": limits.memory_bytes,
            "tables": None if self._tables is None else list(self._tables),
        }

    def _run(self, what: Mapping[str, str], limits: Limits, stop: Stop) -> ExecutionResult:
        for attempt in range(1, _ATTEMPTS + 1):
            source = self._source()
            request = self._request(source, limits) | dict(what)
            head, rows = self._pool.ask(request, stop)
            if attempt < _ATTEMPTS:
                if source.mode == "immutable" and self._file.token() != source.token:
                    continue  # written meanwhile, without a lock to prevent it
                if head.get("copy") and source.mode != "copy":
                    with self._lock:
                        self._file.require_copy(source)
                    continue
            if "failure" in head:
                return _error(Failure(**head["failure"]), head["phase"])
            return ExecutionResult(
                tuple(head["names"]),
                rows,
                truncated=head["truncated"],
                shortened=tuple((row, column) for row, column in head["shortened"]),
            )
        return _failed("unavailable", "the database is being changed all the time; try again")

    def _died(self, error: WorkerDied) -> ExecutionResult:
        if self._closed:
            return _failed("cancelled", "the database was closed")
        if error.signal == signal.SIGXCPU:
            return _failed("timeout", "the query used more processor time than it is allowed")
        if error.signal == signal.SIGKILL:
            return _failed("memory", "the query's process was killed, most likely to free memory")
        return _failed("unavailable", "the query's process ended unexpectedly")


def _stop_at(until: float, run: Run | None = None) -> StopReading:
    """A function that raises WorkerStopped when it is called after a time, or the run is to
    stop."""

    def stop() -> None:
        reason = _stop(run) if run is not None else None
        if reason is None and time.monotonic() > until:
            reason = "timeout"
        if reason is not None:
            raise WorkerStopped(reason)

    return stop


def _stop(run: Run) -> str | None:
    return "cancelled" if run.cancelled.is_set() or run.remaining() <= 0 else None


def _stopped(reason: str, run: Run, limits: Limits) -> ExecutionResult:
    if reason == "timeout":
        return _failed("timeout", f"stopped after {limits.seconds:g} s, the time a query may take")
    if run.cancelled.is_set():
        return _failed("cancelled", "cancelled")
    return _failed("cancelled", "the time limit of the whole question has passed")


def _refused(error: UnsafeQuery) -> Failure:
    if isinstance(error, UnreadableQuery):
        return Failure("sql", str(error), error.cause, error.name)
    return Failure("unsafe", str(error))


def _failed(kind: ErrorKind, message: str) -> ExecutionResult:
    return ExecutionResult(error=ExecutionError(kind, message))


def _error(failure: Failure, phase: Literal["prepare", "run"] = "run") -> ExecutionResult:
    kind = cast("ErrorKind", failure.kind)
    error = ExecutionError(kind, failure.message, phase, failure.cause, failure.name)
    return ExecutionResult(error=error)
