"""The time that a reader has is for reading, not for the start of its process."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from sqlwright.database.failures import ReadFailed
from sqlwright.database.reader import DatabaseReader
from sqlwright.database.workers.process import WorkerStopped

Stop = Callable[[], str | None]


class Slow:
    """A pool of one worker that starts or answers slowly."""

    alive = True

    def __init__(self, start: float, answer: float = 0.0) -> None:
        self.start, self.answer = start, answer

    def take(self, place: object, stop: Stop) -> Slow:
        return self

    def give_back(self, worker: Slow) -> None: ...

    def kill(self) -> None: ...

    def await_ready(self, stop: Stop) -> None:
        self._pass(self.start, stop)
        self.start = 0.0

    def ask(self, fields: dict[str, Any], stop: Stop) -> tuple[dict[str, Any], list[Any]]:
        self._pass(self.answer, stop)
        return {"more": False, "large": False}, [(fields["seconds"],)]

    @staticmethod
    def _pass(seconds: float, stop: Stop) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            time.sleep(0.01)
            if reason := stop():
                raise WorkerStopped(reason)


def reader(pool: Any, seconds: float) -> DatabaseReader:
    return DatabaseReader(pool, {"place": None}, seconds)


def test_a_process_that_starts_slowly_leaves_all_the_time_there_is() -> None:
    reading = reader(Slow(start=0.6), 0.5)
    with reading.within(0.4):
        ((left,),) = reading.rows("SELECT 1")
    assert 0.0 < left <= 0.4


def test_a_slow_answer_is_ended() -> None:
    with pytest.raises(ReadFailed, match="timeout"):
        list(reader(Slow(start=0.3, answer=5.0), 0.2).rows("SELECT 1"))


def test_the_wait_for_a_process_can_be_interrupted() -> None:
    pool = Slow(start=5.0)
    reading = reader(pool, 60.0)
    pool.take = lambda *_: (reading.interrupt(), pool)[1]  # type: ignore[method-assign]
    with pytest.raises(ReadFailed, match="interrupted"):
        list(reading.rows("SELECT 1"))
