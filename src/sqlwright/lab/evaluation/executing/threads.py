"""Questions side by side in this process, a bounded number at once: for models elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby

from sqlwright.errors import DatabaseUnavailable, SqlwrightError
from sqlwright.lab.datasets.example import Example
from sqlwright.lab.evaluation.executing.executor import Keep, Notice, Plan, Skipped
from sqlwright.lab.evaluation.executing.opened import OpenDatabase, open_database
from sqlwright.lab.evaluation.records import Record
from sqlwright.lab.evaluation.settings import in_order
from sqlwright.local.models import EmbeddedModels


@dataclass
class _Group:
    """An open database and the questions asked of it."""

    database: OpenDatabase
    left: int
    """Questions that haven't ended."""


Running = dict["Future[tuple[Record, str]]", _Group]


@dataclass
class Threads:
    """Asks in threads of this process, which share what is loaded and open."""

    plan: Plan
    notice: Notice
    skipped: list[Skipped] = field(default_factory=list)

    def run(self, examples: Sequence[Example], keep: Keep) -> None:
        """As `Executor` says; what is under way when it ends early is cancelled."""
        stopping = threading.Event()
        running: Running = {}
        opened: list[_Group] = []
        jobs = self.plan.settings.jobs
        pool = ThreadPoolExecutor(jobs, thread_name_prefix="question")
        try:
            for group, example in self._opened(examples, opened):
                running[pool.submit(group.database.answer, example, stopping)] = group
                if len(running) >= jobs:
                    _collect(running, keep)
            while running:
                _collect(running, keep)
        except BaseException:
            stopping.set()
            for group in opened:
                group.database.session.cancel()
            pool.shutdown(cancel_futures=True)
            for ended in running:
                if ended.done() and not ended.cancelled() and ended.exception() is None:
                    with suppress(OSError, SqlwrightError):
                        keep(*ended.result())
            raise
        finally:
            pool.shutdown(cancel_futures=True)
            for group in opened:
                group.database.session.close()

    def _opened(
        self, examples: Sequence[Example], opened: list[_Group]
    ) -> Iterator[tuple[_Group, Example]]:
        """Each question with its open database, which is opened for its first one."""
        # The embedded models are the same for every database: they are loaded once.
        given = self.plan.settings.models
        models = EmbeddedModels() if given is None else given
        for _, asked in groupby(in_order(examples), key=lambda example: example.database):
            listed = list(asked)
            try:
                database = open_database(self.plan, listed[0], models, self.notice)
            except DatabaseUnavailable as error:
                self.skipped.append(Skipped(listed[0].db_id, len(listed), error))
                self.notice(str(self.skipped[-1]))
                continue
            for earlier in [group for group in opened if not group.left]:
                earlier.database.session.close()
                opened.remove(earlier)
            group = _Group(database, len(listed))
            opened.append(group)
            yield from ((group, example) for example in listed)


def _collect(running: Running, keep: Keep) -> None:
    """Wait until a question has ended, and keep what has; raise what it raised."""
    ended, _ = wait(running, return_when=FIRST_COMPLETED)
    for future in [future for future in running if future in ended]:
        keep(*future.result())
        running.pop(future).left -= 1
