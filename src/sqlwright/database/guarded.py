"""The part that all engines share: a query is checked, runs in a worker process under limits, and
its failures are sorted."""

from __future__ import annotations

import signal
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, cast

from sqlwright.database.address import Address
from sqlwright.database.failures import READ_FAILURES, Failure, read_failure
from sqlwright.database.reader import DatabaseReader
from sqlwright.database.workers.pool import Pool
from sqlwright.database.workers.process import Stop, WorkerDied, WorkerStopped, start_failure
from sqlwright.errors import ConfigError, DatabaseUnavailable, UnsafeQuery
from sqlwright.protocols import Limits, Run
from sqlwright.schema import Schema
from sqlwright.sql.tokens import UnreadableQuery
from sqlwright.sql.tree import StopReading
from sqlwright.types import ErrorCause, ErrorKind, ExecutionError, ExecutionResult
from sqlwright.types.functions import OwnFunction
from sqlwright.types.plans import QueryCost, ScanLimit


@dataclass(frozen=True, slots=True)
class TableReading:
    """One table."""

    name: str
    told: str
    """Its files and their settings, in one line."""
    columns: tuple[tuple[str, str], ...]
    """Names and types."""
    notes: tuple[str, ...]
    """Notes of what was left out or read in another way than the files say."""
    details: tuple[str, ...] = ()
    """The guesses about columns, and how many cells each concerns."""


@dataclass(frozen=True, slots=True)
class Readings:
    """All tables of a database."""

    tables: tuple[TableReading, ...]
    notes: tuple[str, ...]
    """Notes of files that no table was made of."""
    corrections: str
    """A file of corrections, as YAML, that says all of this."""
    place: Path
    """The path under which that file is obeyed."""


@dataclass(frozen=True, slots=True)
class LoginRights:
    """A login beyond reading."""

    name: str
    more: tuple[str, ...]
    """All that it could do besides reading, in words; empty for one that only reads."""


SCHEMA_SECONDS = 10.0
"""The time that reading a schema may take."""
_CHECKED_MOST = 4_096
"""Queries whose check is remembered at most."""
_SHOWN_MOST = 40
"""Names of tables shown at most where one isn't there."""
_LEAST_SECONDS = 0.001
"""Seconds that a query may take at least, where its check took all the time there was."""


class GuardedDatabase(ABC):
    """`protocols.Database` by an engine in worker processes. All methods may be called from any
    thread. Subclasses say how to open, check and read the schema of theirs."""

    estimates: ClassVar[bool] = True
    """True if `cost` tells how much a query reads."""
    hints: ClassVar[Mapping[ErrorCause, str]] = {
        "not_started": "Databases are read by processes of their own, which that keeps from "
        "starting.",
    }
    """Advice on a database that can't be read, by the cause."""
    hint: ClassVar[str] = "Check that it is there and may be read."
    """The same for every other cause."""

    def __init__(self, pool: Pool | None = None) -> None:
        """With `pool` its workers run the queries."""
        self._lock = threading.Lock()
        self._closed = False
        self._checked: set[str] = set()
        self._tables: tuple[str, ...] | None = None
        self._pool = pool or Pool(lambda: self._request(Limits()))

    @classmethod
    @abstractmethod
    def at(
        cls,
        address: Address,
        tables: Collection[str] | None = None,
        functions: Collection[str] = (),
    ) -> Self:
        """The database at an address, opened; with `tables` it is as if there were no others, and
        `functions` of its own may be called. Raises DatabaseUnavailable and ConfigError."""

    @classmethod
    def check_address(cls, address: Address) -> None:
        """Raise DatabaseUnavailable when it is plain, without connecting, that nothing is there to
        be opened."""
        del address  # a server is asked when it is opened

    def begin(self, run: Run | None) -> None:  # noqa: B027 - most engines have nothing to look at
        """Look at what has to be known first, within a run's time. Raises Cancelled, too."""

    @property
    @abstractmethod
    def dialect(self) -> str:
        """A name of `sql.dialects`."""

    @property
    @abstractmethod
    def url(self) -> str:
        """Without secrets."""

    @property
    @abstractmethod
    def identity(self) -> str:
        """Tells databases apart, whoever asks; no secrets."""

    @property
    def path(self) -> Path | None:
        """The file or folder that holds it; None on a server."""
        return None

    @property
    def tables(self) -> tuple[str, ...] | None:
        """The only tables and views that may be read, by their stored names; None for all."""
        return self._tables

    @property
    def functions(self) -> tuple[OwnFunction, ...]:
        """The functions of its own that queries may call. Raises DatabaseUnavailable."""
        return ()

    @abstractmethod
    def schema(self, *, seconds: float = SCHEMA_SECONDS) -> Schema:
        """Tables, views, columns and declared keys, read afresh. Raises DatabaseUnavailable, also
        when that takes longer than so many seconds."""

    @abstractmethod
    def fingerprint(self) -> str:
        """Changes when the stored data may have changed; cheap."""

    def size(self) -> int | None:
        """About how many bytes are stored; None when it can't be told at once."""
        return None

    def table_marks(
        self, schema: Schema, stop: StopReading | None = None
    ) -> Mapping[str, str] | None:
        """A mark of each table by its name, which changes when its rows may have changed; an empty
        one where that can't be told of it, so that it is read again. What has no mark, as most
        views, changes with the whole database. None when it can't be told of any. `stop` is called
        now and then and may raise."""
        del schema, stop
        return None

    def settle(self, stop: StopReading, *, kept: bool) -> None:  # noqa: B027 - most tell at once
        """Wait, some seconds at most, until `fingerprint` and `table_marks` tell of all that was
        changed before; `kept` is true if anything that was read under earlier ones may be kept.
        `stop` is called now and then and may raise. Raises DatabaseUnavailable."""

    def rights(self) -> LoginRights | None:
        """The rights of the login, were it not for sqlwright; None where there is no login. Raises
        DatabaseUnavailable."""
        return None

    def noticed(self, tables: Collection[str]) -> tuple[str, ...]:
        del tables  # nothing is guessed
        return ()

    def doubted(
        self, tables: Collection[str], columns: Collection[tuple[str, str]]
    ) -> tuple[str, ...]:
        del tables, columns  # nothing is guessed
        return ()

    def readings(self) -> Readings | None:
        """The way in which files were read as tables; None where nothing is guessed. Raises
        DatabaseUnavailable and ConfigError."""
        return None

    def cost(self, sql: str, run: Run) -> QueryCost:
        """The engine's estimate of a query, nothing of which runs. Every failure is in it."""
        del sql, run
        return QueryCost()

    @abstractmethod
    def _request(self, limits: Limits) -> dict[str, Any]:
        """The part of a request that every one to a worker holds. Raises DatabaseUnavailable."""

    @abstractmethod
    def _check(self, sql: str, stop: StopReading | None) -> None:
        """Raise UnsafeQuery unless the text is one query that only reads what may be read."""

    @contextmanager
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

    def check(self, sql: str, stop: StopReading | None = None) -> None:
        """Raise UnsafeQuery unless the text is one query that only reads, and only what may be
        read. `execute` does this first."""
        self._before_check()
        with self._lock:
            if sql in self._checked:
                return
        self._check(sql, stop)
        with self._lock:
            if len(self._checked) >= _CHECKED_MOST:
                self._checked.clear()
            self._checked.add(sql)

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
        """End the worker processes. Safe to call twice."""
        if not self._closed:
            self._closed = True
            self._pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _before_check(self) -> None:  # noqa: B027 - most engines have nothing to look at
        """Look whether checks that are remembered still hold."""

    def _connect(self, seconds: float | None) -> DatabaseReader:
        return DatabaseReader(self._pool, self._request(Limits()), seconds)

    def _limited(self, limits: Limits) -> dict[str, Any]:
        """The limits of a request to a worker."""
        return {
            "holds_locks": False,
            "seconds": limits.seconds,
            "rows": limits.rows,
            "result_bytes": limits.result_bytes,
            "cell_bytes": limits.cell_bytes,
            "memory_bytes": limits.memory_bytes,
        }

    def _answer(self, sql: str, run: Run, allowed: Limits, explain: str = "") -> ExecutionResult:
        started = time.monotonic()
        try:
            if stop_reason(run):
                raise WorkerStopped("cancelled")
            self.check(sql, stop_at(started + allowed.seconds, run))
            if allowed.scan is not None and not explain:
                left = started + allowed.seconds - time.monotonic()
                within = run.fork(run.events, seconds=min(left, run.remaining()))
                self._check_cost(sql, within, allowed.scan)
            left = max(started + allowed.seconds - time.monotonic(), _LEAST_SECONDS)
            asked = {"sql": sql, "explain": explain}
            result = self._run(asked, replace(allowed, seconds=left), lambda: stop_reason(run))
        except UnsafeQuery as error:
            result = _refused(error)
        except _Costly as error:
            result = error_result(Failure("costly", str(error)), "prepare")
        except DatabaseUnavailable as error:
            result = failed_result("unavailable", " ".join(filter(None, (str(error), error.hint))))
            if stop_reason(run):
                result = _cancelled(run)
            elif time.monotonic() >= started + allowed.seconds:  # it was asked for the schema
                late = WorkerStopped("timeout", "opening")
                result = self._timed_out(late, allowed.seconds)
        except WorkerStopped as error:
            timeout = str(error) == "timeout"
            result = self._timed_out(error, allowed.seconds) if timeout else _cancelled(run)
        except WorkerDied as error:
            result = self._died(error)
        except OSError as error:
            result = error_result(Failure("unavailable", start_failure(error), "not_started"))
        return replace(result, elapsed=time.monotonic() - started)

    def _check_cost(self, sql: str, run: Run, most: ScanLimit) -> None:
        """Raise `_Costly` for a query that would read more than it may. One that the engine can't
        make sense of runs, and fails with the engine's own words."""
        cost = self.cost(sql, run)
        if cost.error is None and (excess := most.excess(cost)):
            raise _Costly(excess)

    def _run(self, what: Mapping[str, str], limits: Limits, stop: Stop) -> ExecutionResult:
        reply = self._pool.ask(self._request(limits) | dict(what), stop)
        return result_of(*reply)

    @contextmanager
    def _reading_errors(self) -> Iterator[None]:
        """Turn the errors of reading into DatabaseUnavailable."""
        try:
            yield
        except READ_FAILURES as error:
            raise self._unavailable(read_failure(error)) from error

    def _unavailable(self, failure: Failure) -> DatabaseUnavailable:
        if failure.kind == "interrupted":
            failure = Failure("unavailable", "reading its schema takes too long", "slow")
        hint = self.hints.get(failure.cause, self.hint)
        return DatabaseUnavailable(f"{self._shown_name}: {failure.message}.", hint=hint)

    @property
    def _shown_name(self) -> str:
        """The database in messages."""
        return self.url if self.path is None else str(self.path)

    def _timed_out(self, error: WorkerStopped, seconds: float) -> ExecutionResult:
        """The result of a query that was stopped at its limit."""
        message = f"stopped after {seconds:g} s, the time a query may take"
        if error.during == "busy":
            message += ": other queries took all of it"
        return failed_result("timeout", message)

    def _died(self, error: WorkerDied) -> ExecutionResult:
        if self._closed:
            return failed_result("cancelled", "the database was closed")
        if error.signal == signal.SIGXCPU:
            return failed_result("timeout", "the query used more processor time than it is allowed")
        if error.signal == signal.SIGKILL:
            return failed_result(
                "memory", "the query's process was killed, most likely to free memory"
            )
        return failed_result("unavailable", "the query's process ended unexpectedly")


class _Costly(Exception):
    """A query would read more than is allowed."""


def named_tables(tables: Collection[str], schema: Schema, shown: str) -> tuple[str, ...]:
    """Tables by their stored names, each once; `shown` is the database in the message. Raises
    ConfigError."""
    found = {name: schema.table(name) for name in tables}
    for name, table in found.items():
        if table is None:
            raise no_such_table(name, (one.name for one in schema.tables), shown)
    return tuple(dict.fromkeys(table.name for table in found.values() if table is not None))


def require_own(shown: Mapping[str, Sequence[str]], words: str = "it shows what {} holds") -> None:
    """Raise ConfigError for a listed table that shows what others hold, which aren't listed."""
    for name, others in shown.items():
        raise ConfigError(
            f"{name} can't be among the tables: {words.format(others[0])}",
            hint=f"List {others[0]}, too, or leave {name} out.",
        )


def no_such_table(name: str, stored: Iterable[str], shown: str) -> ConfigError:
    """The error of a list of tables that names one which isn't stored."""
    known = ", ".join(sorted(stored)[:_SHOWN_MOST])
    return ConfigError(
        f"{shown} has no table {name!r}, which tables lists", hint=f"There are: {known}."
    )


def result_of(head: Mapping[str, Any], rows: tuple[tuple[Any, ...], ...]) -> ExecutionResult:
    """The result that a worker's reply tells."""
    if "failure" in head:
        return error_result(Failure(**head["failure"]), head["phase"])
    return ExecutionResult(
        tuple(head["names"]),
        rows,
        truncated=head["truncated"],
        shortened=tuple((row, column) for row, column in head["shortened"]),
    )


def stop_at(until: float, run: Run | None = None) -> StopReading:
    """A function that raises WorkerStopped when it is called after a time, or the run is to
    stop."""

    def stop() -> None:
        reason = stop_reason(run) if run is not None else None
        if reason is None and time.monotonic() > until:
            reason = "timeout"
        if reason is not None:
            raise WorkerStopped(reason)

    return stop


def stop_reason(run: Run) -> str | None:
    """The reason why nothing more may run for a question; None when it may."""
    return "cancelled" if run.cancelled.is_set() or run.remaining() <= 0 else None


def failed_result(kind: ErrorKind, message: str) -> ExecutionResult:
    """The result of a query that didn't get to run."""
    return ExecutionResult(error=ExecutionError(kind, message))


def error_result(failure: Failure, phase: Literal["prepare", "run"] = "run") -> ExecutionResult:
    """The result of a query that failed."""
    kind = cast("ErrorKind", failure.kind)
    error = ExecutionError(kind, failure.message, phase, failure.cause, failure.name)
    return ExecutionResult(error=error)


def _cancelled(run: Run) -> ExecutionResult:
    if run.cancelled.is_set():
        return failed_result("cancelled", "cancelled")
    return failed_result("cancelled", "the time limit of the whole question has passed")


def _refused(error: UnsafeQuery) -> ExecutionResult:
    told = ExecutionError("unsafe", str(error), "prepare", by_check=True)
    if isinstance(error, UnreadableQuery):
        told = replace(told, kind="sql", cause=error.cause, name=error.name)
    return ExecutionResult(error=told)
