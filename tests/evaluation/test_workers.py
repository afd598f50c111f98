"""Workers that follow a script: replaced, given up, and given questions in turn."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from sqlwright.lab.datasets.example import Example
from sqlwright.lab.evaluation.executing.executor import LOST, Notice, Plan, lost
from sqlwright.lab.evaluation.executing.workers import Open, Order, Reply, WorkerEnded, Workers
from sqlwright.lab.evaluation.records import Record
from sqlwright.lab.evaluation.settings import EvaluationSettings


class ScriptedWorker:
    """Answers at once, or ends at what the script names."""

    def __init__(self, ends_at: Sequence[str], orders: list[tuple[int, Order]], number: int):
        self.ends_at, self.orders, self.number = ends_at, orders, number
        self.closed = threading.Event()

    def do(self, order: Order, seconds: float) -> Reply:
        self.orders.append((self.number, order))
        example = order.example if isinstance(order, Open) else order
        what = f"{'open' if isinstance(order, Open) else 'ask'} {example.db_id}"
        if what in self.ends_at:
            raise WorkerEnded("it was scripted")
        if "hang" in self.ends_at:
            self.closed.wait(seconds)
            raise WorkerEnded("it was killed")
        time.sleep(0.001)
        return "postgres" if isinstance(order, Open) else (lost(example, "postgres"), "")

    def kill(self) -> None:
        self.closed.set()

    close = kill


class ScriptedWorkers:
    """Starts them."""

    opening_seconds = 60.0

    def __init__(self, *ends_at: str) -> None:
        self.ends_at, self.closed = ends_at, False
        self.started: list[ScriptedWorker] = []
        self.orders: list[tuple[int, Order]] = []

    def start(self, plan: Plan, notice: Notice) -> ScriptedWorker:
        self.started.append(ScriptedWorker(self.ends_at, self.orders, len(self.started)))
        return self.started[-1]

    def close(self) -> None:
        self.closed = True


def examples(**counts: int) -> list[Example]:
    return [
        Example(f"{db_id}-{number}", db_id, "?", "SELECT 1", Path(db_id))
        for db_id, count in counts.items()
        for number in range(count)
    ]


def asked_by(
    source: ScriptedWorkers, asked: list[Example], workers: int = 2
) -> tuple[Workers, list[str]]:
    kept: list[str] = []
    plan = Plan(EvaluationSettings(workers=workers), "spider")
    asking = Workers(plan, lambda line: None, source)
    asking.run(asked, lambda record, trace: kept.append(record.id))
    assert all(worker.closed.is_set() for worker in source.started)
    assert source.closed
    return asking, kept


def test_each_question_is_kept_once_and_a_small_database_is_one_worker_s() -> None:
    source = ScriptedWorkers()
    asked = examples(a=3, b=2, c=3, d=1)
    _, kept = asked_by(source, asked)
    assert Counter(kept) == Counter(one.id for one in asked)
    opened = Counter(order.example.db_id for _, order in source.orders if isinstance(order, Open))
    assert opened == {"a": 1, "b": 1, "c": 1, "d": 1}


def test_a_large_database_is_shared_by_all() -> None:
    source = ScriptedWorkers()
    _, kept = asked_by(source, examples(a=30), workers=3)
    assert len(kept) == len(set(kept)) == 30
    by = Counter(number for number, order in source.orders if isinstance(order, Example))
    assert sorted(by) == [0, 1, 2]
    assert min(by.values()) >= 8


def test_there_are_no_more_workers_than_questions() -> None:
    source = ScriptedWorkers()
    asked_by(source, examples(a=1, b=1), workers=8)
    assert len(source.started) == 2


def test_a_database_that_ends_three_workers_when_it_is_opened_is_left_out() -> None:
    source = ScriptedWorkers("open b")
    asking, kept = asked_by(source, examples(a=3, b=5, c=2))
    assert sorted(kept) == ["a-0", "a-1", "a-2", "c-0", "c-1"]
    (skipped,) = asking.skipped
    assert (skipped.db_id, skipped.questions) == ("b", 5)
    assert "3 workers ended when they opened it" in str(skipped)


def test_a_question_costs_three_workers_at_most() -> None:
    source = ScriptedWorkers("ask b")
    _, kept = asked_by(source, examples(a=2, b=3))
    assert sorted(kept) == ["a-0", "a-1", "b-0", "b-1", "b-2"]
    asks = Counter(o.id for _, o in source.orders if isinstance(o, Example))
    assert asks == {"a-0": 1, "a-1": 1, "b-0": 3, "b-1": 3, "b-2": 3}


def test_what_is_failed_is_in_its_database_s_dialect() -> None:
    records: list[Record] = []
    plan = Plan(EvaluationSettings(workers=1), "spider")
    workers = Workers(plan, lambda line: None, ScriptedWorkers("ask b"))
    workers.run(examples(b=1), lambda record, trace: records.append(record))
    assert [(one.status, one.message, one.dialect) for one in records] == [
        ("failed", LOST, "postgres")
    ]


def test_where_no_worker_can_open_anything_each_database_costs_three() -> None:
    source = ScriptedWorkers("open a", "open b")
    asking, kept = asked_by(source, examples(a=3, b=2))
    assert kept == []
    assert Counter({one.db_id: one.questions for one in asking.skipped}) == {"a": 3, "b": 2}
    assert len(source.started) == 6


def test_a_worker_without_an_end_does_not_keep_the_run_from_being_interrupted() -> None:
    source = ScriptedWorkers("hang")
    asking = Workers(Plan(EvaluationSettings(workers=2), "spider"), lambda line: None, source)
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        asking.run(examples(a=3, b=2), lambda record, trace: None)
    assert source.closed


def test_what_was_answered_is_kept_when_the_run_is_interrupted() -> None:
    source, kept = ScriptedWorkers(), []

    def keep(record: object, trace: str) -> None:
        kept.append(record)
        if len(kept) == 2:
            raise KeyboardInterrupt

    workers = Workers(Plan(EvaluationSettings(workers=3), "spider"), lambda line: None, source)
    with pytest.raises(KeyboardInterrupt):
        workers.run(examples(a=30), keep)
    assert len(kept) >= 3
