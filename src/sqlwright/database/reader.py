"""Reading by SQL that sqlwright itself wrote: schemas, samples, whole tables.

A file may come from anybody, and one view or generated column in it can ask for any time and
memory. So nothing of it is read in the process of the caller: the statements run in a worker, under
limits of memory and time, and their rows come over in chunks.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from sqlwright.database.failures import Failure, ReadFailed, no_answer
from sqlwright.database.workers.pool import is_crowded
from sqlwright.database.workers.process import (
    Reply,
    Worker,
    WorkerDied,
    WorkerStopped,
    start_failure,
)

if TYPE_CHECKING:
    from sqlwright.database.workers.pool import Pool
    from sqlwright.database.workers.process import Stop
    from sqlwright.types import Cell

    Row = tuple[Cell, ...]

READING_BYTES = 512 * 1024 * 1024
"""Memory of a worker that reads."""
CHUNK_ROWS = 2_048
"""Rows of one answer of the worker at most."""
CHUNK_BYTES = 4 * 1024 * 1024
"""Bytes of one answer at most."""
ROW_BYTES = 16 * 1024 * 1024
"""The largest row that is brought over."""
_ENDLESS = 86_400.0
"""Seconds, a day: stands for no time limit."""


class DatabaseReader:
    """Borrows a worker from its first statement until it is closed. One thread uses it, any may
    `interrupt` it. What was read of the last statement is lost when another one begins."""

    def __init__(
        self,
        pool: Pool,
        request: dict[str, Any],
        seconds: float | None = None,
        stop: Stop | None = None,
    ) -> None:
        """`seconds` is the time for everything that is read in all; `stop` may end it before."""
        self._pool = pool
        self._wanted = stop or (lambda: None)
        self._request = request | {
            "memory_bytes": READING_BYTES,
            "rows": CHUNK_ROWS,
            "result_bytes": CHUNK_BYTES,
            "row_bytes": ROW_BYTES,
        }
        self._seconds = _ENDLESS if seconds is None else seconds
        self._until = time.monotonic() + self._seconds
        self._late = 0.0
        """Seconds in which a worker started, which says nothing of the file and isn't counted."""
        self._worker: Worker | None = None
        self._statement = 0
        self._unfinished = False
        self._retries = 4
        self._interrupted = threading.Event()

    def rows(self, sql: str, parameters: Sequence[Cell] = ()) -> Iterator[Row]:
        """Rows one by one, as stored; text that isn't valid UTF-8 with replacement characters.

        Raises ReadFailed, which `explain_failure` sorts.
        """
        self._statement += 1
        reply = self._ask({"read": sql, "parameters": list(parameters)})
        return self._chunks(reply, self._statement)

    def shown(self, tables: Collection[str]) -> dict[str, list[str]]:
        """Listed virtual tables by what they show of tables that aren't listed."""
        found: dict[str, list[str]] = self._ask({"shown": sorted(tables)})[0]["shown"]
        return found

    @contextlib.contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Gives some statements less time than is left."""
        until, whole = self._until, self._seconds
        if time.monotonic() + seconds < until:
            self._until, self._seconds = time.monotonic() + seconds, seconds
        try:
            yield
        finally:
            self._until, self._seconds = until, whole

    @property
    def left(self) -> float:
        """Seconds that are left for everything that is read."""
        return max(self._until + self._late - time.monotonic(), 0.0)

    def interrupt(self) -> None:
        """Stop the running statement soon, from any thread."""
        self._interrupted.set()

    def close(self) -> None:
        """Give the worker back."""
        worker, self._worker = self._worker, None
        if worker is not None:
            if self._unfinished:
                worker.kill()
            self._pool.give_back(worker)

    def _chunks(self, reply: Reply, statement: int) -> Iterator[Row]:
        head, rows = reply
        yield from rows
        while head["more"]:
            if statement != self._statement:
                message = "another statement was begun before this one ended"
                raise ReadFailed(Failure("sql", message))
            head, rows = self._ask({"more": True})
            yield from rows

    def _ask(self, what: dict[str, Any]) -> Reply:
        self._interrupted.clear()
        began = time.monotonic()
        while "failure" in (reply := self._ask_once(what))[0]:
            worker = self._worker
            if worker is not None and is_crowded(reply) and self._stop() is None:
                self.close()
                if self._pool.ask_again(worker, began, self._until - began):
                    continue
            raise ReadFailed(Failure(**reply[0]["failure"]), copy=reply[0]["copy"])
        return reply

    def _ask_once(self, what: dict[str, Any]) -> Reply:
        if self._worker is not None and not self._worker.alive:
            self.close()
        if "more" in what and self._worker is None:
            raise ReadFailed(Failure("unavailable", "the process that was reading has ended"))
        try:
            if self._worker is None:
                self._worker = self._pool.take(self._request["place"], self._stop)
            began = time.monotonic()
            self._worker.await_ready(self._interruption)
            self._late += time.monotonic() - began
            left = max(self._until + self._late - time.monotonic(), 0.0)
            head, rows = self._worker.ask(self._request | what | {"seconds": left}, self._stop)
        except WorkerStopped as error:
            raise ReadFailed(self._stopped(error)) from None
        except WorkerDied as error:
            if error.idle and "more" not in what and self._retries:
                self._retries -= 1  # it was killed while it had nothing to do
                return self._ask_once(what)
            raise ReadFailed(Failure("memory", "the process that was reading has ended")) from None
        except OSError as error:
            raise ReadFailed(Failure("unavailable", start_failure(error), "not_started")) from None
        except BaseException:  # what it would send next belongs to no one
            if self._worker is not None:
                self._worker.kill()
            raise
        self._unfinished = bool(head.get("more"))
        if head.pop("large") and not self._unfinished:
            self._worker.kill()
        return head, rows

    def _stopped(self, error: WorkerStopped) -> Failure:
        silent = error.during in {"opening", "stopping"} and not self._request["place"].folder
        if silent and str(error) == "timeout":
            return Failure("unavailable", no_answer(self._seconds), "slow")
        return Failure("interrupted", str(error))

    def _stop(self) -> str | None:
        if reason := self._interruption() or self._wanted():
            return reason
        return "timeout" if time.monotonic() > self._until + self._late else None

    def _interruption(self) -> str | None:
        return "interrupted" if self._interrupted.is_set() else None
