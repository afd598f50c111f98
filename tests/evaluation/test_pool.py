"""The pool with workers that follow a script: replaced, given up, and given questions in turn."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from sqlwright.errors import UserError
from sqlwright.lab.datasets.example import Example
from sqlwright.lab.evaluation.executing.executor import LOST, Plan, lost
from sqlwright.lab.evaluation.executing.orders import (
    Answered,
    Ask,
    Gone,
    Load,
    Open,
    Order,
    Ready,
    Reply,
)
from sqlwright.lab.evaluation.executing.pool import FALSE_STARTS, Pool, Worker
from sqlwright.lab.evaluation.records import Record
from sqlwright.lab.evaluation.settings import EvaluationSettings


class ScriptedWorker:
    """Answers at once, or ends at what the script names."""

    def __init__(self, ends_at: Sequence[str], orders: list[tuple[int, Order]], number: int):
        self.ends_at, self.orders, self.number = ends_at, orders, number
        self.owed: deque[Reply] = deque()
        self.killed = False

    def send(self, order: Order) -> None:
        self.orders.append((self.number, order))
        named = {Load: "load", Open: "open {}", Ask: "ask {}"}[type(order)]
        what = named.format(order.example.db_id if not isinstance(order, Load) else "")
        if what in self.ends_at:
            self.owed.append(Gone("it was scripted"))
        elif isinstance(order, Ask):
            self.owed.append(Answered(lost(order.example, "postgres"), ""))
        else:
            self.owed.append(Ready("postgres" if isinstance(order, Open) else ""))

    def kill(self) -> None:
        self.killed = True


class ScriptedWorkers:
    """Hires them, and hands over one reply at a time, in turn."""

    start_seconds = 60.0

    def __init__(self, *ends_at: str) -> None:
        self.ends_at, self.closed = ends_at, False
        self.hired: list[ScriptedWorker] = []
        self.orders: list[tuple[int, Order]] = []

    def hire(self) -> ScriptedWorker:
        self.hired.append(ScriptedWorker(self.ends_at, self.orders, len(self.hired)))
        return self.hired[-1]

    def wait(self, workers: Sequence[Worker], seconds: float) -> Iterator[tuple[Worker, Reply]]:
        for worker in list(workers):
            assert isinstance(worker, ScriptedWorker)
            if worker.owed:
                yield worker, worker.owed.popleft()

    def close(self) -> None:
        self.closed = True


def examples(**counts: int) -> list[Example]:
    return [
        Example(f"{db_id}-{number}", db_id, "?", "SELECT 1", Path(db_id))
        for db_id, count in counts.items()
        for number in range(count)
    ]


def pooled(
    workforce: ScriptedWorkers, asked: list[Example], workers: int = 2
) -> tuple[Pool, list[str]]:
    kept: list[str] = []
    pool = Pool(Plan(EvaluationSettings(workers=workers), "spider"), lambda line: None, workforce)
    pool.run(asked, lambda record, trace: kept.append(record.id))
    assert all(worker.killed for worker in workforce.hired)
    assert workforce.closed
    return pool, kept


def test_each_question_is_kept_once_and_a_small_database_is_one_worker_s() -> None:
    workforce = ScriptedWorkers()
    asked = examples(a=3, b=2, c=3, d=1)
    _, kept = pooled(workforce, asked)
    assert Counter(kept) == Counter(one.id for one in asked)
    opened = Counter(
        order.example.db_id for _, order in workforce.orders if isinstance(order, Open)
    )
    assert opened == {"a": 1, "b": 1, "c": 1, "d": 1}


def test_a_large_database_is_shared_by_all() -> None:
    workforce = ScriptedWorkers()
    _, kept = pooled(workforce, examples(a=30), workers=3)
    assert len(kept) == len(set(kept)) == 30
    by = Counter(number for number, order in workforce.orders if isinstance(order, Ask))
    assert sorted(by) == [0, 1, 2]
    assert min(by.values()) >= 8


def test_there_are_no_more_workers_than_questions() -> None:
    workforce = ScriptedWorkers()
    pooled(workforce, examples(a=1, b=1), workers=8)
    assert len(workforce.hired) == 2


def test_a_database_that_ends_three_workers_when_it_is_opened_is_left_out() -> None:
    workforce = ScriptedWorkers("open b")
    pool, kept = pooled(workforce, examples(a=3, b=5, c=2))
    assert sorted(kept) == ["a-0", "a-1", "a-2", "c-0", "c-1"]
    (skipped,) = pool.skipped
    assert (skipped.db_id, skipped.questions) == ("b", 5)
    assert "3 workers ended when they opened it" in str(skipped)


def test_a_question_costs_three_workers_at_most() -> None:
    workforce = ScriptedWorkers("ask b")
    _, kept = pooled(workforce, examples(a=2, b=3))
    assert sorted(kept) == ["a-0", "a-1", "b-0", "b-1", "b-2"]
    asks = Counter(o.example.id for _, o in workforce.orders if isinstance(o, Ask))
    assert asks == {"a-0": 1, "a-1": 1, "b-0": 3, "b-1": 3, "b-2": 3}


def test_what_is_failed_is_in_its_database_s_dialect() -> None:
    records: list[Record] = []
    plan = Plan(EvaluationSettings(workers=1), "spider")
    pool = Pool(plan, lambda line: None, ScriptedWorkers("ask b"))
    pool.run(examples(b=1), lambda record, trace: records.append(record))
    assert [(one.status, one.message, one.dialect) for one in records] == [
        ("failed", LOST, "postgres")
    ]


def test_workers_that_never_get_ready_end_the_run() -> None:
    workforce = ScriptedWorkers("load")
    with pytest.raises(UserError, match="workers in a row ended before they were ready: it was"):
        pooled(workforce, examples(a=3))
    assert len(workforce.hired) <= FALSE_STARTS + 1
    assert workforce.closed


def test_what_was_answered_is_kept_when_the_run_is_interrupted() -> None:
    workforce, kept = ScriptedWorkers(), []

    def keep(record: object, trace: str) -> None:
        kept.append(record)
        if len(kept) == 2:
            raise KeyboardInterrupt

    pool = Pool(Plan(EvaluationSettings(workers=3), "spider"), lambda line: None, workforce)
    with pytest.raises(KeyboardInterrupt):
        pool.run(examples(a=30), keep)
    assert len(kept) >= 3
