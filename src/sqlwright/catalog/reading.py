"""Reading a database within a time limit, and cancellable at any moment."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from types import TracebackType

from sqlwright.database.failures import READ_FAILURES, read_failure
from sqlwright.errors import DatabaseUnavailable
from sqlwright.protocols import RowReader, Run
from sqlwright.types import Cell

CHUNK = 2_048
"""Rows between two looks at the clock."""
_CONNECTING = {"lost", "refused", "starting", "not_connected", "slow", "crowded"}
"""Causes that a server has."""
_AWAY = "Check that the server runs and the network holds, then try again."
_HELD = "Check that no program holds it locked and that the file is whole."


class OutOfTime(Exception):
    """A statement was stopped because its share of time had passed."""


class Unreadable(Exception):
    """A statement failed: a view of a lost table, a value too large, and the like."""


@dataclass
class TimedReader:
    """A reader with a deadline.

    As a context manager it watches the clock and the run's cancellation from a thread and
    interrupts statements that go on too long. Statements fail with `OutOfTime` when the deadline
    has passed, `Cancelled` when the run was cancelled, `DatabaseUnavailable` when the file can't be
    read any more and `Unreadable` when only this statement can't be answered.
    """

    reader: RowReader
    run: Run
    seconds: float | None = None
    """Time for everything that is read; None is no limit beside the run's own."""
    pause: float = 0.0
    """Rest after each chunk of rows, as a share of the time that reading it took: a server has
    others to serve."""
    _deadline: float = field(init=False)
    _done: threading.Event = field(init=False, default_factory=threading.Event)
    _thread: threading.Thread | None = field(init=False, default=None)
    _lock: threading.Lock = field(init=False, default_factory=threading.Lock)
    _running: bool = field(init=False, default=False)
    _slice: float = field(init=False, default=float("inf"))

    def __post_init__(self) -> None:
        end = float("inf") if self.seconds is None else self.run.clock() + self.seconds
        self._deadline = end

    def __enter__(self) -> TimedReader:
        self._thread = threading.Thread(target=self._watch, name="sqlwright-watch", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._done.set()
        if self._thread is not None:
            self._thread.join()

    def remaining(self) -> float:
        """Seconds left."""
        return min(self._deadline, self._slice) - self.run.clock()

    def limit(self, seconds: float | None) -> None:
        """Give what follows this many seconds, within the whole; None lifts it."""
        self._slice = float("inf") if seconds is None else self.run.clock() + seconds

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Give what is done within the block at most this many seconds of what it has."""
        before = self._slice
        self._slice = min(before, self.run.clock() + seconds)
        try:
            yield
        finally:
            self._slice = before

    def check(self) -> None:
        """Raise `Cancelled` or `OutOfTime` when it is time to stop."""
        self.run.check()
        if self.remaining() <= 0:
            raise OutOfTime

    def chunks(
        self, sql: str, parameters: Sequence[Cell] = (), *, size: int = CHUNK
    ) -> Iterator[list[tuple[Cell, ...]]]:
        """A statement's rows, some thousands at a time, checking the clock between."""
        self.check()
        began = self.run.clock()
        rows = self._rows(sql, parameters)
        while chunk := self._stepped(rows, size):
            if self.pause:
                self.run.cancelled.wait(self.pause * (self.run.clock() - began))
            yield chunk
            self.check()
            began = self.run.clock()

    def all(self, sql: str, parameters: Sequence[Cell] = ()) -> list[tuple[Cell, ...]]:
        """All rows of a statement that has few."""
        return [row for chunk in self.chunks(sql, parameters) for row in chunk]

    def single_row(self, sql: str, parameters: Sequence[Cell] = ()) -> tuple[Cell, ...]:
        """The first row, or an empty tuple."""
        rows = self.all(sql, parameters)
        return rows[0] if rows else ()

    def _rows(self, sql: str, parameters: Sequence[Cell]) -> Iterator[tuple[Cell, ...]]:
        with self._running_statement():
            return iter(self.reader.rows(sql, parameters))

    def _stepped(self, rows: Iterator[tuple[Cell, ...]], size: int) -> list[tuple[Cell, ...]]:
        with self._running_statement():
            return list(islice(rows, size))

    def _running_statement(self) -> _Running:
        return _Running(self)

    def _watch(self) -> None:
        """Interrupt what runs too long. Only while a statement runs: an interrupt that finds none
        would hit the next one."""
        while not self._done.wait(0.02):
            if self.run.cancelled.is_set() or self.run.remaining() <= 0 or self.remaining() <= 0:
                with self._lock:
                    if self._running:
                        self.reader.interrupt()


@dataclass
class _Running:
    """Marks that a statement is being stepped, and sorts why it failed."""

    reading: TimedReader

    def __enter__(self) -> None:
        with self.reading._lock:
            self.reading._running = True

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self.reading._lock:
            self.reading._running = False
        if not isinstance(error, READ_FAILURES):
            return
        failure = read_failure(error)
        if failure.kind == "interrupted":
            self.reading.check()
            raise OutOfTime from error
        if failure.kind == "unavailable":
            raise DatabaseUnavailable(
                f"The database could not be read any further: {failure.message}.",
                hint=_AWAY if failure.cause in _CONNECTING else _HELD,
            ) from error
        raise Unreadable(failure.message) from error
