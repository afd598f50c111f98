"""The part that databases on servers share beside what all engines do."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from typing import TypeVar

from sqlwright.database.address import Address
from sqlwright.database.failures import Failure, ReadFailed, no_answer
from sqlwright.database.guarded import GuardedDatabase, error_result
from sqlwright.database.plain_address import ignored_note
from sqlwright.database.reader import DatabaseReader
from sqlwright.database.workers.pool import Pool
from sqlwright.database.workers.process import Stop, WorkerStopped
from sqlwright.protocols import Limits
from sqlwright.sql.tree import StopReading
from sqlwright.types import ExecutionResult

T = TypeVar("T")

OPEN_SECONDS = 10.0
"""The time that connecting to a server may take in all, where its address says nothing else."""


class ServedDatabase(GuardedDatabase):
    """A database on a server, known by its address."""

    def __init__(self, address: Address, pool: Pool | None = None) -> None:
        self._address = address
        self._open_seconds = OPEN_SECONDS
        self.ignored: tuple[str, ...] = ()
        super().__init__(pool)

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
