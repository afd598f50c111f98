"""Questions asked by workers elsewhere. A thread for each worker hands it one question after
another, and starts the next worker when it ends or hangs.

A question whose worker ends is asked again; if it costs three, it is failed, and the run goes on.
So with a database that ends three workers when it is opened: it is left out.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby
from queue import SimpleQueue
from typing import Protocol

from sqlwright.errors import DatabaseUnavailable, ModelUnavailable, SqlwrightError, UserError
from sqlwright.lab.datasets.example import Example
from sqlwright.lab.evaluation.executing.executor import Keep, Notice, Plan, Skipped, lost
from sqlwright.lab.evaluation.executing.opened import OpenDatabase, open_database
from sqlwright.lab.evaluation.records import Record
from sqlwright.lab.evaluation.settings import in_order
from sqlwright.local.models import EmbeddedModels

PATIENCE = 3
"""Workers that a question or a database may cost. With two, ten workers killed at random within
forty questions failed one that had nothing to do with it (`benchmarks/evaluate_kills.py`)."""
WORTH_OPENING = 4
"""Questions that must be waiting on a database that a worker has open already for another one to
open it, too; chosen, since opening takes about as long as a few questions."""


@dataclass(frozen=True, slots=True)
class Open:
    """Open a question's database, and close the one that was open."""

    example: Example


Order = Open | Example
"""Open a database, or ask a question of it."""
Answered = tuple[Record, str]
"""A record, and its trace where it is kept."""
Reply = str | Answered | UserError | ModelUnavailable
"""The dialect of the database that was opened, what was answered, or the error."""


Came = Answered | Skipped | str | Future[None]


class WorkerEnded(Exception):
    """A worker ended, or hangs; the text says why."""


class Worker(Protocol):
    """Does as it is told, somewhere else."""

    def do(self, order: Order, seconds: float) -> Reply:
        """Hand over an order and wait for the reply. Raises WorkerEnded, after so many seconds
        too."""
        ...

    def kill(self) -> None:
        """End it now, whatever it does: from any thread, and more than once."""
        ...

    def close(self) -> None:
        """End it and let go of it, from the thread that gives it orders."""
        ...


class Source(Protocol):
    """Starts workers."""

    opening_seconds: float
    """Seconds that opening a database may take a worker, its own start included; preparing a large
    database takes long."""

    def start(self, plan: Plan, notice: Notice) -> Worker:
        """A new worker, which needn't be ready; `notice` takes its lines."""
        ...

    def close(self) -> None:
        """Let go of everything."""
        ...


class Answering:
    """A worker's inside: the models it loaded once, and the database that is open."""

    def __init__(self, plan: Plan, notice: Notice) -> None:
        self._plan, self._notice = plan, notice
        self._models = EmbeddedModels()
        self._open: OpenDatabase | None = None
        self._never = threading.Event()

    def do(self, order: Order) -> Reply:
        """Do as told. What isn't an error of the user's is raised: it ends the worker."""
        try:
            if self._open is not None and isinstance(order, Example):
                return self._open.answer(order, self._never)
            assert isinstance(order, Open)
            if self._open is not None:
                self._open.session.close()
                self._open = None
            self._open = open_database(self._plan, order.example, self._models, self._notice)
            return self._open.session.workspace.schema.dialect
        except (UserError, ModelUnavailable) as error:
            return error


class _Group:
    """One database: the questions that wait for it, and the workers that have it open."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self.first = examples[0]
        self.db_id = self.first.db_id
        self.waiting = deque(examples)
        self.holders = 0


@dataclass
class _Shared:
    """All that the threads have in common; the lock is held to change any of it."""

    plan: Plan
    source: Source
    groups: list[_Group]
    came: SimpleQueue[Came] = field(default_factory=SimpleQueue)
    """Answers, lines and the ends of threads, for the caller."""
    costs: Counter[str] = field(default_factory=Counter)
    """Workers that a question, or the opening of a database, has cost."""
    running: set[Worker] = field(default_factory=set)
    stopping: bool = False
    lock: threading.RLock = field(default_factory=threading.RLock)

    def next_group(self) -> _Group | None:
        """The database to open: one that no worker has, as long as there are some."""
        with self.lock:
            waiting = [] if self.stopping else [one for one in self.groups if one.waiting]
            free = next((one for one in waiting if not one.holders), None)
            shared = [one for one in waiting if len(one.waiting) >= WORTH_OPENING]
            chosen = free or max(shared, key=lambda one: len(one.waiting), default=None)
            if chosen is not None:
                chosen.holders += 1
            return chosen

    def costs_too_much(self, order: str) -> bool:
        """True if the order has cost as many workers as it may, with one more that ended."""
        with self.lock:
            self.costs[order] += 1
            return self.costs[order] >= PATIENCE and not self.stopping

    def stop(self) -> None:
        """End all workers; their threads end with them."""
        with self.lock:
            self.stopping = True
            for worker in self.running:
                worker.kill()


@dataclass
class Workers:
    """Asks by workers, as many as the settings say."""

    plan: Plan
    notice: Notice
    source: Source
    skipped: list[Skipped] = field(default_factory=list)

    def run(self, examples: Sequence[Example], keep: Keep) -> None:
        """As `Executor` says; what is under way when it ends early is dropped with its worker."""
        asked = groupby(in_order(examples), key=lambda example: example.database)
        shared = _Shared(self.plan, self.source, [_Group(list(group)) for _, group in asked])
        count = max(1, min(self.plan.settings.workers, len(examples)))
        threads = ThreadPoolExecutor(count, thread_name_prefix="worker")
        try:
            for _ in range(count):
                threads.submit(_Thread(shared).run).add_done_callback(shared.came.put)
            left = len(examples)
            while left:
                left -= self._taken(shared.came.get(), keep)
        except BaseException:
            shared.stop()
            threads.shutdown()
            with suppress(OSError, SqlwrightError):
                while not shared.came.empty():
                    if isinstance(came := shared.came.get(), tuple):
                        keep(*came)
            raise
        finally:
            shared.stop()
            threads.shutdown()
            self.source.close()

    def _taken(self, came: Came, keep: Keep) -> int:
        """The number of questions that are done with what a thread has handed over."""
        if isinstance(came, tuple):
            keep(*came)
            return 1
        if isinstance(came, Skipped):
            self.skipped.append(came)
            self.notice(str(came))
            return came.questions
        if isinstance(came, str):
            self.notice(came)
        else:
            came.result()  # raises what ended the thread
        return 0


class _Thread:
    """One thread, and the worker that it has at the moment."""

    def __init__(self, shared: _Shared) -> None:
        self._shared = shared
        self._worker: Worker | None = None
        self._open: _Group | None = None
        self._dialect = ""

    def run(self) -> None:
        """Ask of one database after another, by one worker after another."""
        try:
            while (group := self._shared.next_group()) is not None:
                try:
                    while group.waiting and not self._shared.stopping:
                        self._go_on(group)
                finally:
                    with self._shared.lock:
                        group.holders -= 1
        finally:
            self._end()

    def _go_on(self, group: _Group) -> None:
        """Take the next step: open the database, or ask a question of it."""
        worker = self._worker or self._started()
        if worker is None:
            return
        if self._open is group:
            self._ask(worker, group)
        else:
            self._open_database(worker, group)

    def _started(self) -> Worker | None:
        shared = self._shared
        with shared.lock:
            if not shared.stopping:
                self._worker = shared.source.start(shared.plan.elsewhere(), shared.came.put)
                shared.running.add(self._worker)
            return self._worker

    def _open_database(self, worker: Worker, group: _Group) -> None:
        self._open, order = None, Open(group.first)
        try:
            reply = worker.do(order, self._shared.source.opening_seconds)
        except WorkerEnded as ended:
            self._end()
            if not self._shared.costs_too_much(f"open {group.db_id}"):
                again = f"{group.db_id} is opened again: its worker ended: {ended}"
                self._shared.came.put(again)
                return
            reply = DatabaseUnavailable(
                f"{PATIENCE} workers ended when they opened it: {ended}",
                hint="Give fewer with --workers if memory is short; each takes about 250 MB.",
            )
        if isinstance(reply, DatabaseUnavailable):
            self._skip(group, reply)
        elif isinstance(reply, Exception):
            raise reply
        else:
            self._open, self._dialect = group, str(reply)

    def _skip(self, group: _Group, error: DatabaseUnavailable) -> None:
        """Leave out a database with all that waits for it."""
        with self._shared.lock:
            if group.waiting:
                self._shared.came.put(Skipped(group.db_id, len(group.waiting), error))
                group.waiting.clear()

    def _ask(self, worker: Worker, group: _Group) -> None:
        shared = self._shared
        with shared.lock:
            if not group.waiting:
                return
            example = group.waiting.popleft()
        try:
            reply = worker.do(example, shared.plan.settings.question_seconds)
        except WorkerEnded as ended:
            self._end()
            if shared.costs_too_much(f"ask {example.id}"):
                shared.came.put(f"{example.id} is failed: its worker ended again: {ended}")
                reply = lost(example, self._dialect), ""
            else:
                shared.came.put(f"{example.id} is asked again: its worker ended: {ended}")
                group.waiting.appendleft(example)
                return
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, tuple):
            shared.came.put(reply)

    def _end(self) -> None:
        """Do without the worker."""
        if self._worker is not None:
            with self._shared.lock:
                self._shared.running.discard(self._worker)
            self._worker.close()
        self._worker = self._open = None
