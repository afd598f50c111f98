"""The part that databases on servers share beside what all engines do."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Collection, Container
from dataclasses import dataclass, replace
from typing import ClassVar, Generic, Protocol, Self, TypeVar

from sqlwright.database.address import Address, ignored_note
from sqlwright.database.failures import Failure, ReadFailed, no_answer
from sqlwright.database.guarded import SCHEMA_SECONDS, GuardedDatabase, error_result, named_tables
from sqlwright.database.reader import DatabaseReader
from sqlwright.database.workers.pool import Pool
from sqlwright.database.workers.process import Stop, WorkerStopped
from sqlwright.errors import UnsafeQuery
from sqlwright.protocols import Limits
from sqlwright.schema import Schema
from sqlwright.sql.guard import check_query
from sqlwright.sql.guards.rules import NOTHING_OWN, Own, Readable
from sqlwright.sql.tree import StopReading
from sqlwright.types import ExecutionResult

T = TypeVar("T")

OPEN_SECONDS = 10.0
"""The time that connecting to a server may take in all, where its address says nothing else."""


_SETTLE_SECONDS = 0.2
"""Seconds between two looks at whether changes may still be on their way."""


class Known(Protocol):
    """The schema of a server, and the names that the check of a query goes by."""

    @property
    def schema(self) -> Schema: ...
    @property
    def readable(self) -> Readable: ...
    @property
    def own(self) -> Own: ...
    @property
    def columns(self) -> Container[str] | None: ...
    def only(self, names: Collection[str]) -> Self:
        """The same with these tables alone."""
        ...


K = TypeVar("K", bound=Known)


@dataclass(frozen=True, slots=True)
class Told:
    """`Known` where nothing but the schema is read each time."""

    schema: Schema
    own: Own = NOTHING_OWN
    usual: str = ""
    """The usual namespace, where queries may write it."""
    columns_count: bool = False
    """True if the check goes by the names of columns."""

    @property
    def readable(self) -> Readable:
        paths = [table.path for table in self.schema.tables]
        return frozenset([*paths, *((self.usual, *p) for p in paths if self.usual and len(p) == 1)])

    @property
    def columns(self) -> Container[str] | None:
        named = (ref.column for ref in self.schema.columns)
        return frozenset(named) if self.columns_count else None

    def only(self, names: Collection[str]) -> Told:
        return replace(self, schema=self.schema.only(names))


class ServedDatabase(GuardedDatabase, Generic[K]):
    """A database on a server, known by its address. Subclasses say what has to be known of it."""

    known_seconds: ClassVar[float] = float("inf")
    """The time after which it is read again, whatever is asked."""
    look_seconds: ClassVar[float] = float("inf")
    """The time after which it is read again for a query that is refused by it."""

    def __init__(
        self,
        address: Address,
        tables: Collection[str] | None = None,
        functions: Collection[str] = (),
        pool: Pool | None = None,
    ) -> None:
        """With `tables` nothing but these tables and views is known of or can be asked about;
        `functions` of its own may be called; with `pool` its workers run the queries. Raises
        DatabaseUnavailable and ConfigError."""
        self.check_address(address)
        self._address = address
        self._open_seconds = OPEN_SECONDS
        self.ignored: tuple[str, ...] = ()
        self._known: tuple[float, K] | None = None
        self._prepare(address)
        super().__init__(pool)
        try:
            self._begin(functions)
            if tables is not None:
                self._tables = self._named(tables)
        except BaseException:
            self.close()
            raise

    @classmethod
    def at(
        cls,
        address: Address,
        tables: Collection[str] | None = None,
        functions: Collection[str] = (),
    ) -> Self:
        return cls(address, tables, functions)

    @abstractmethod
    def _prepare(self, address: Address) -> None:
        """Read what the address says, before any process is started. Raises DatabaseUnavailable."""

    @abstractmethod
    def _begin(self, functions: Collection[str]) -> None:
        """Connect for the first time, and find functions by their names. Raises DatabaseUnavailable
        and ConfigError."""

    @abstractmethod
    def _look(self, reader: DatabaseReader) -> K:
        """Read all that has to be known, of all tables. Raises ReadFailed."""

    def schema(self, *, seconds: float = SCHEMA_SECONDS) -> Schema:
        """Tables, views, columns and keys that the login may read, read afresh. Raises
        DatabaseUnavailable, also when that takes longer than so many seconds."""
        return self._read_known(seconds).schema

    @property
    def url(self) -> str:
        return self._address.url

    @property
    def identity(self) -> str:
        return self._address.identity

    def noticed(self, tables: Collection[str]) -> tuple[str, ...]:
        """A note on options of the address that aren't used, with every answer."""
        del tables
        return ignored_note(self.ignored)

    def _check(self, sql: str, stop: StopReading | None) -> None:
        before = self._known
        looked = before is None or time.monotonic() - before[0] < self.look_seconds
        try:
            self._check_by(self._known_now(stop), sql, stop)
        except UnsafeQuery:
            if looked:
                raise
            self._check_by(self._read_known(SCHEMA_SECONDS, stop), sql, stop)

    def _check_by(self, known: K, sql: str, stop: StopReading | None) -> None:
        check_query(
            sql, self.dialect, readable=known.readable, own=known.own, columns=known.columns,
            stop=stop,
        )  # fmt: skip

    def _known_now(self, stop: StopReading | None = None) -> K:
        """All that is known, read again where it is too old."""
        known = self._known
        if known is None or time.monotonic() - known[0] > self.known_seconds:
            return self._read_known(SCHEMA_SECONDS, stop)
        return known[1]

    def _read_known(self, seconds: float, stop: StopReading | None = None) -> K:
        """All that has to be known, read afresh; checks of queries that went by other names are
        forgotten."""
        known = self._read(self._look, seconds, stop)
        if self._tables is not None:
            known = known.only(self._tables)
        before, self._known = self._known, (time.monotonic(), known)
        if before is not None and (before[1].schema, before[1].own) != (known.schema, known.own):
            with self._lock:
                self._checked.clear()
        return known

    def _named(self, tables: Collection[str]) -> tuple[str, ...]:
        """Tables by their names in the schema. Raises ConfigError."""
        known = self._known[1] if self._known else self._read_known(self._open_seconds)
        named = named_tables(tables, known.schema, self.url)
        self._known = (time.monotonic(), known.only(named))
        return named

    def _wait(self, settled: Callable[[], bool], seconds: float, stop: StopReading) -> None:
        """Wait until something has settled, so many seconds at most."""
        until = time.monotonic() + seconds
        while not settled() and time.monotonic() < until:
            stop()
            time.sleep(_SETTLE_SECONDS)

    def _read(
        self,
        read: Callable[[DatabaseReader], T],
        seconds: float | None = None,
        stop: StopReading | None = None,
    ) -> T:
        """The value of `read`, read once more where the connection was lost meanwhile, all of it
        within so many seconds (default: what connecting may take); `stop`, which may raise
        WorkerStopped, ends it. Raises DatabaseUnavailable."""
        seconds = self._open_seconds if seconds is None else seconds
        until = time.monotonic() + seconds
        with self._reading_errors():
            try:
                return self._read_once(read, seconds, stop)
            except ReadFailed as error:
                if error.failure.cause != "lost":
                    raise
            return self._read_once(read, until - time.monotonic(), stop)

    def _connect(self, seconds: float | None, stop: StopReading | None = None) -> DatabaseReader:
        request = self._request(Limits())
        return DatabaseReader(self._pool, request, seconds, _reason_of(stop))

    def _read_once(
        self, read: Callable[[DatabaseReader], T], seconds: float, stop: StopReading | None
    ) -> T:
        reader = self._connect(seconds, stop)
        try:
            return read(reader)
        finally:
            reader.close()

    def _timed_out(self, error: WorkerStopped, seconds: float) -> ExecutionResult:
        if error.during == "opening":
            return error_result(Failure("unavailable", no_answer(seconds), "slow"), "prepare")
        if error.during == "stopping":
            message = f"{no_answer(seconds)}, and not when it was told to stop"
            return error_result(Failure("timeout", message, "slow"))
        return super()._timed_out(error, seconds)


def _reason_of(stop: StopReading | None) -> Stop | None:
    """The same as a function that gives the reason."""
    if stop is None:
        return None

    def reason() -> str | None:
        try:
            stop()
        except WorkerStopped as error:
            return str(error)
        return None

    return reason
