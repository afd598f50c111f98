"""A bounded number of workers that ask questions, replaced when they end or hang.

A question whose worker ends is asked again by another; if it costs three, it is failed, and the
run goes on. So with a database that ends three workers when it is opened: it is left out. Workers
of whatever kind are hired, sent orders and waited for through `Workforce`.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pickle import PickleError
from typing import Protocol

from sqlwright.errors import DatabaseUnavailable, SqlwrightError, UserError
from sqlwright.lab.datasets.example import Example
from sqlwright.lab.evaluation.executing.assigning import Group, Waiting
from sqlwright.lab.evaluation.executing.executor import Keep, Notice, Plan, Skipped, lost
from sqlwright.lab.evaluation.executing.orders import (
    Answered,
    Ask,
    Gone,
    Load,
    Open,
    Order,
    Refused,
    Reply,
    Told,
    Unopened,
)

OPENING_SECONDS = 4 * 3600.0
"""Seconds that opening a database may take; preparing a large one takes long."""
FALSE_STARTS = 5
"""Workers in a row that may end before they are ready; chosen."""
PATIENCE = 3
"""Workers that a question or a database may cost. With two, ten workers killed at random within
forty questions failed one that had nothing to do with it (`benchmarks/evaluate_kills.py`)."""
LOOK_SECONDS = 1.0
"""Seconds between looks for workers that hang."""


class Worker(Protocol):
    """One that does as it is told, somewhere else."""

    def send(self, order: Order) -> None:
        """Hand over an order without waiting for the reply."""
        ...

    def kill(self) -> None:
        """End it now, whatever it does; safe to call twice."""
        ...


class Workforce(Protocol):
    """A source of workers."""

    start_seconds: float
    """Seconds a worker may take until it is ready."""

    def hire(self) -> Worker:
        """A new worker, which needn't be ready."""
        ...

    def wait(self, workers: Sequence[Worker], seconds: float) -> Iterable[tuple[Worker, Reply]]:
        """The replies that have come, or come within so many seconds. `Gone` is a worker's last."""
        ...

    def close(self) -> None:
        """Let go of everything."""
        ...


@dataclass(eq=False)
class _Post:
    """A worker and what it is at."""

    worker: Worker
    since: float
    ready: bool = False
    group: Group | None = None
    """The database that it has open, or opens."""
    opening: bool = False
    dialect: str = ""
    """Of the database that it has open."""
    example: Example | None = None

    @property
    def idle(self) -> bool:
        return self.ready and not self.opening and self.example is None


@dataclass
class Pool:
    """Asks by workers, as many as the settings say."""

    plan: Plan
    notice: Notice
    workforce: Workforce
    skipped: list[Skipped] = field(default_factory=list)
    _posts: list[_Post] = field(default_factory=list)
    _costs: Counter[str] = field(default_factory=Counter)
    """Workers that each question has cost."""
    _false_starts: int = 0
    _left: int = 0
    """Questions that have no record yet and aren't skipped."""

    def run(self, examples: Sequence[Example], keep: Keep) -> None:
        """As `Executor` says; what is under way when it ends early is dropped with its worker."""
        waiting = Waiting(examples)
        self._left = len(examples)
        try:
            while self._left:
                self._hire()
                self._assign(waiting)
                workers = [post.worker for post in self._posts]
                for worker, reply in self.workforce.wait(workers, LOOK_SECONDS):
                    self._take(self._post_of(worker), reply, waiting, keep)
                self._end_overdue(keep)
        except BaseException:
            with suppress(OSError, EOFError, PickleError, SqlwrightError):
                for _, reply in self.workforce.wait([post.worker for post in self._posts], 0.0):
                    if isinstance(reply, Answered):
                        keep(reply.record, reply.trace)
            raise
        finally:
            for post in self._posts:
                post.worker.kill()
            self._posts.clear()
            self.workforce.close()

    def _hire(self) -> None:
        """Have as many workers as there are questions for, up to the number wanted."""
        while len(self._posts) < min(max(1, self.plan.settings.workers), self._left):
            post = _Post(self.workforce.hire(), time.monotonic())
            self._posts.append(post)
            self._send(post, Load(self.plan.elsewhere()))

    def _post_of(self, worker: Worker) -> _Post:
        return next(post for post in self._posts if post.worker is worker)

    def _assign(self, waiting: Waiting) -> None:
        for post in self._posts:
            if post.idle:
                self._occupy(post, waiting)

    def _occupy(self, post: _Post, waiting: Waiting) -> None:
        """The next question of the open database, or another database."""
        if post.group is not None and post.group.waiting:
            post.example = post.group.waiting.popleft()
            self._send(post, Ask(post.example))
            return
        group = waiting.next_group()
        if group is None or group is post.group:
            return
        self._leave(post)
        post.group, post.opening = group, True
        group.holders += 1
        self._send(post, Open(group.waiting[0]))

    def _send(self, post: _Post, order: Order) -> None:
        post.since = time.monotonic()
        post.worker.send(order)

    def _take(self, post: _Post, reply: Reply, waiting: Waiting, keep: Keep) -> None:
        if isinstance(reply, Told):
            self.notice(reply.line)
        elif isinstance(reply, Gone):
            self._bury(post, reply.reason, keep)
        elif isinstance(reply, Refused):
            raise reply.error
        elif isinstance(reply, Unopened):
            if not post.opening:
                raise reply.error
            self._skip(post, reply.error)
        elif isinstance(reply, Answered):
            post.example = None
            self._left -= 1
            self._occupy(post, waiting)  # it works while the record is written
            keep(reply.record, reply.trace)
        else:
            post.ready, post.opening, self._false_starts = True, False, 0
            post.dialect = reply.dialect
            self._occupy(post, waiting)

    def _skip(self, post: _Post, error: DatabaseUnavailable) -> None:
        """Leave out the database that a worker has failed to open, with all that waits for it."""
        group = post.group
        assert group is not None
        self._leave(post)
        if group.waiting:
            self.skipped.append(Skipped(group.db_id, len(group.waiting), error))
            self._left -= len(group.waiting)
            group.waiting.clear()
            self.notice(str(self.skipped[-1]))

    def _leave(self, post: _Post) -> None:
        """Its database is no longer its own."""
        if post.group is not None:
            post.group.holders -= 1
        post.group, post.opening = None, False

    def _bury(self, post: _Post, reason: str, keep: Keep) -> None:
        """Do without a worker that has ended, and see to what it was at."""
        post.worker.kill()
        self._posts.remove(post)
        if not post.ready:
            self._false_starts += 1
            if self._false_starts >= FALSE_STARTS:
                raise UserError(
                    f"{FALSE_STARTS} workers in a row ended before they were ready: {reason}",
                    hint="Give fewer with --workers; each takes about 250 MB.",
                )
            self.notice(f"a worker ended before it was ready: {reason}")
        elif post.opening and post.group is not None:
            self._lost_opening(post, reason)
        elif post.example is not None and post.group is not None:
            example, post.example = post.example, None
            self._costs[example.id] += 1
            if self._costs[example.id] < PATIENCE:
                self.notice(f"{example.id} is asked again: its worker ended: {reason}")
                post.group.waiting.appendleft(example)
            else:
                self.notice(f"{example.id} is failed: its worker ended again: {reason}")
                self._left -= 1
                keep(lost(example, post.dialect), "")
        self._leave(post)

    def _lost_opening(self, post: _Post, reason: str) -> None:
        group = post.group
        assert group is not None
        group.losses += 1
        if group.losses < PATIENCE:
            self.notice(f"{group.db_id} is opened again: its worker ended: {reason}")
        else:
            text = f"{PATIENCE} workers ended when they opened it: {reason}"
            self._skip(post, DatabaseUnavailable(text))

    def _end_overdue(self, keep: Keep) -> None:
        now = time.monotonic()
        for post in list(self._posts):
            if post.idle:
                continue
            allowed = self.workforce.start_seconds
            if post.ready:
                asking = self.plan.settings.question_seconds
                allowed = OPENING_SECONDS if post.opening else asking
            if now - post.since > allowed:
                self._bury(post, f"no reply in {allowed:,.0f} s", keep)
