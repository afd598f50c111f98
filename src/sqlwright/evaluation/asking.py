"""Asks questions side by side, a bounded number at once, database by database."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from sqlwright import api
from sqlwright.datasets.example import Example
from sqlwright.errors import Cancelled, DatabaseUnavailable
from sqlwright.evaluation.metrics.registry import chosen_metrics
from sqlwright.evaluation.records import Record
from sqlwright.evaluation.rules.registry import find_rule
from sqlwright.evaluation.scoring import Scorer
from sqlwright.evaluation.views import ViewListener
from sqlwright.local.models import EmbeddedModels
from sqlwright.prepare import prepare, prepared_folder
from sqlwright.protocols import ModelsByRole, Workspace

if TYPE_CHECKING:
    from sqlwright.evaluation.run import EvaluationSettings


@dataclass(frozen=True, slots=True)
class Skipped:
    """A database that can't be opened; its questions aren't asked and are in no figure."""

    db_id: str
    questions: int
    error: DatabaseUnavailable

    def __str__(self) -> str:
        questions = f"{self.questions:,} question{'s' * (self.questions != 1)}"
        return f"{self.db_id} is left out with {questions}: {self.error}"


@dataclass
class _Group:
    """An open database and the questions asked of it."""

    session: api.Session
    scorer: Scorer
    left: int
    """Questions that haven't ended."""

    def answer(self, example: Example, stopping: threading.Event) -> Record:
        """Ask and score. Raises Cancelled if meanwhile all was to stop: what came isn't what the
        recipe would have said."""
        views = ViewListener(self.session.recipe.step)
        started = time.perf_counter()
        answer, state = self.session.run(
            example.question, evidence=example.evidence, on_event=views
        )
        seconds = time.perf_counter() - started
        if stopping.is_set():
            raise Cancelled("interrupted")
        return self.scorer.score(example, answer, state, seconds, views=views)


@dataclass
class Asker:
    """Asks the questions of a data set as settings say."""

    settings: EvaluationSettings
    rule: str
    notice: Callable[[str], None]
    """Takes one line about what is being done besides asking, and about what is left out."""
    skipped: list[Skipped] = field(default_factory=list)
    """Databases that couldn't be opened, so far."""

    def ask(self, examples: Sequence[Example], keep: Callable[[Record], None]) -> None:
        """Hand each record to `keep` as soon as it is there, all from this thread.

        Whatever ends it early, KeyboardInterrupt included: what has been answered by then is kept,
        what is under way is cancelled. Raises UserError from opening and asking, but for a
        database that can't be opened: that is `skipped`.
        """
        stopping = threading.Event()
        running: dict[Future[Record], _Group] = {}
        opened: list[_Group] = []
        pool = ThreadPoolExecutor(self.settings.jobs, thread_name_prefix="question")
        try:
            for group, example in self._opened(examples, opened):
                running[pool.submit(group.answer, example, stopping)] = group
                if len(running) >= self.settings.jobs:
                    _collect(running, keep)
            while running:
                _collect(running, keep)
        except BaseException:
            stopping.set()
            for group in opened:
                group.session.cancel()
            pool.shutdown(cancel_futures=True)
            for ended in running:
                with suppress(BaseException):
                    keep(ended.result(timeout=0))
            raise
        finally:
            pool.shutdown(cancel_futures=True)
            for group in opened:
                group.session.close()

    def _opened(
        self, examples: Sequence[Example], opened: list[_Group]
    ) -> Iterator[tuple[_Group, Example]]:
        """Each question with its open database, which is opened for its first one."""
        # The embedded models are the same for every database: they are loaded once.
        models = EmbeddedModels() if self.settings.models is None else self.settings.models
        for _, asked in groupby(in_order(examples), key=lambda example: example.database):
            listed = list(asked)
            try:
                group = self._group(listed, models)
            except DatabaseUnavailable as error:
                self.skipped.append(Skipped(listed[0].db_id, len(listed), error))
                self.notice(str(self.skipped[-1]))
                continue
            for earlier in [group for group in opened if not group.left]:
                earlier.session.close()
                opened.remove(earlier)
            opened.append(group)
            yield from ((group, example) for example in listed)

    def _group(self, listed: Sequence[Example], models: ModelsByRole) -> _Group:
        settings, url = self.settings, str(listed[0].database)
        if settings.prepare:
            self.notice(f"preparing {listed[0].db_id}")
            prepare(url, folder=_prepared_folder(settings.home, url))
        session = api.open(
            url,
            recipe=settings.recipe,
            overrides=settings.overrides,
            allow_code=settings.allow_code,
            models=models,
            llm=settings.llm,
            stand_in=settings.stand_in,
            home=settings.home,
            prepare=False,  # what is measured doesn't depend on what was measured before
            record=False,
        )
        try:
            session.warm()
            workspace = session.workspace
            if not settings.prepare and _sampled(workspace):
                told = "not all of its values are known; --prepare reads them"
                self.notice(f"{listed[0].db_id}: {told}")
            scorer = Scorer(
                workspace.database,
                workspace.schema,
                find_rule(self.rule),
                chosen_metrics(settings.metrics),
            )
        except BaseException:
            session.close()
            raise
        return _Group(session, scorer, len(listed))


def in_order(examples: Sequence[Example]) -> list[Example]:
    """The questions in the order in which they are asked and recorded: database by database."""
    return sorted(examples, key=lambda example: example.db_id)


def _collect(running: dict[Future[Record], _Group], keep: Callable[[Record], None]) -> None:
    """Wait until a question has ended, and keep what has; raise what it raised."""
    ended, _ = wait(running, return_when=FIRST_COMPLETED)
    for future in [future for future in running if future in ended]:
        keep(future.result())
        running.pop(future).left -= 1


def _sampled(workspace: Workspace) -> bool:
    """True if of some column only a part of today's values is known."""
    profiles = () if workspace.catalog is None else workspace.catalog.columns.values()
    return any(profile.sampled for profile in profiles)


def _prepared_folder(home: Path | None, url: str) -> Path | None:
    """The folder in which sessions with that home look for what is prepared; None is the usual."""
    return None if home is None else home / "databases" / prepared_folder(url).name
