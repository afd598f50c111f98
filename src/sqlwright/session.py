"""A database kept open, and questions asked of it.

A session stays warm: the database is opened and the models are loaded with the first question and
kept for the next ones. When the data has changed meanwhile, it is opened afresh.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from copy import copy
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType
from typing import Annotated

from annotated_types import Predicate

from sqlwright.boundary.arguments import (
    Natural,
    Positive,
    Unicode,
    Whole,
    Words,
    checked,
    takes_one,
)
from sqlwright.caveats import Look
from sqlwright.database import expected_dialect
from sqlwright.errors import Cancelled, UserError
from sqlwright.events import ChoiceMade, EventSink, no_events
from sqlwright.llm.models import Models
from sqlwright.prepare import open_workspace, prepared_folder
from sqlwright.prepare.calibrations import OWN_FILE, KeptCalibrations
from sqlwright.prepare.notes import gone_note
from sqlwright.protocols import ModelsByRole, Run, Workspace
from sqlwright.protocols.embedded import embedded_digest
from sqlwright.recipes.loading import Recipe
from sqlwright.running.answering import chosen_answer, never_begun, query_answer
from sqlwright.running.grounds import caution_in
from sqlwright.running.opened import LostNames, ModelLoading, OpenedWorkspace, with_cost
from sqlwright.running.pipeline import Pipeline
from sqlwright.running.trace import Recording
from sqlwright.settings.defaults import Defaults, Target
from sqlwright.spending import Spending
from sqlwright.types import Answer, Question, State, Turn

OnEvent = Annotated[EventSink, Predicate(takes_one), Words("a function that takes an event")]


class Session:
    """One database, kept open. Made by `open`; a context manager; safe to use from any thread."""

    def __init__(
        self,
        target: Target,
        recipe: Recipe,
        *,
        models: ModelsByRole,
        defaults: Defaults,
        traces: Path | None,
        calibration: Path | None = None,
    ) -> None:
        self.recipe = recipe
        self.models = models if isinstance(models, Models) else Models(models)
        self._url = target.url
        self._traces = traces
        self._defaults = defaults
        self._pipeline = Pipeline(recipe.name, recipe.step)
        self._opened = OpenedWorkspace(
            lambda run: open_workspace(**asdict(target), run=run), defaults.reopening
        )
        self._loading = ModelLoading(self.models, recipe.roles)
        beside = (target.folder or prepared_folder(target.url)) / OWN_FILE
        self.calibrations = KeptCalibrations(calibration or beside, given=calibration is not None)
        self._lock = threading.Lock()
        self._runs: dict[str, Run] = {}
        self._closed = False

    @property
    def workspace(self) -> Workspace:
        """The open database with what is known about it. Opens it. Raises DatabaseUnavailable."""
        self._check_open()
        return self._opened.get(Run())

    @checked
    def ask(
        self,
        question: Unicode,
        *,
        evidence: Unicode = "",
        history: Sequence[Turn] = (),
        seconds: Positive | None = None,
        on_event: OnEvent = no_events,
        cancelled: threading.Event | None = None,
    ) -> Answer:
        """Answer a question.

        `evidence` is knowledge that the question needs and the database lacks; `history` are
        earlier questions with their SQL, which language models are shown and `local` isn't. After
        `seconds`, or when `cancelled` is set, the best candidate at hand is the answer. `on_event`
        is given each of the `events` as it happens.

        Raises UserError for arguments that don't fit and after `close`, and DatabaseUnavailable;
        anything else that goes wrong is in the answer.
        """
        answer, _ = self.run(
            question,
            evidence=evidence,
            history=history,
            seconds=seconds,
            on_event=on_event,
            cancelled=cancelled,
        )
        return answer

    @checked
    def run(
        self,
        question: Unicode,
        *,
        evidence: Unicode = "",
        history: Sequence[Turn] = (),
        seconds: Positive | None = None,
        on_event: OnEvent = no_events,
        cancelled: threading.Event | None = None,
    ) -> tuple[Answer, State]:
        """`ask`, and the state the answer was drawn from: every candidate, link and value."""
        asked = Question(question, evidence, tuple(history))
        with self._running(seconds, cancelled, on_event) as run:
            answer, state, gone = self._answered(asked, run)
            if gone and not run.cancelled.is_set() and run.remaining() > 0:
                answer, state, _ = self._answered(asked, replace(run, id=f"{run.id}-again"))
                answer = replace(answer, warnings=(gone_note(gone), *answer.warnings))
            return answer, state

    def _answered(self, asked: Question, run: Run) -> tuple[Answer, State, list[str]]:
        """The answer, the state it was drawn from, and the tables and columns that were known and
        are gone, if a query named such a one."""
        lost = LostNames(run.events)
        with ExitStack() as stack:
            self._loading.start()  # beside opening the database
            try:
                workspace = stack.enter_context(self._opened.using(run))
                self._loading.wait(run)
            except Cancelled as error:
                return *never_begun(asked, error, expected_dialect(self._url)), []
            trace = stack.enter_context(Recording(self._traces, replace(run, events=lost)))
            trace.begin(asked, workspace, self.recipe.source, self.models.default)
            beside = self.models.default if self.recipe.spares_model else ""
            own = self.calibrations.of(self.recipe.name, self.answering_model, beside)
            answer, state = self._pipeline.run(asked, workspace, self.models, trace.run, own)
            gone = self._opened.outdated(workspace, run) if lost.seen else []
            return trace.end(with_cost(answer, workspace, run)), state, gone

    @checked
    def choose(self, answer: Annotated[Answer, Whole()], number: Natural) -> Answer:
        """The answer by one of the readings of its question back, without another search. The trace
        has the choice.

        `number` is from 1. Raises UserError for an answer without a question back or with fewer
        choices, and DatabaseUnavailable.
        """
        asked = answer.question_back
        offered = () if asked is None else asked.choices
        if asked is None or not 1 <= number <= len(offered):
            raise UserError(
                f"this answer has no choice {number}",
                hint=f"It has {len(offered)}." if offered else "Nothing was asked back.",
            )
        with (
            self._running(None, None) as run,
            self._opened.using(run) as workspace,
            Recording(self._traces, run) as trace,
        ):
            question = Question(answer.question)
            trace.begin(question, workspace, self.recipe.source, self.models.default)
            choice = offered[number - 1]
            trace.run.events(ChoiceMade(answer.trace_id, asked.text, number, choice.text))
            caution = caution_in(workspace, run)
            return trace.end(chosen_answer(answer, choice, workspace, caution))

    @checked
    def run_sql(
        self,
        sql: str,
        *,
        seconds: Positive | None = None,
        cancelled: threading.Event | None = None,
    ) -> Answer:
        """Run a query of your own under the same guard and limits as a generated one.

        An SQL error or a refused statement is an answer with status 'failed'.
        """
        with self._running(seconds, cancelled) as run, self._opened.using(run) as workspace:
            result = workspace.database.execute(sql, run)
            return with_cost(query_answer(sql, result, Look.at(workspace, run)), workspace, run)

    sql = run_sql

    def warm(
        self, *, on_event: EventSink = no_events, cancelled: threading.Event | None = None
    ) -> None:
        """Open the database and load the models now instead of with the first question. Raises
        DatabaseUnavailable, ModelUnavailable and Cancelled."""
        self._check_open()
        self._opened.get(Run(events=on_event, cancelled=cancelled or threading.Event()))
        for role in self.recipe.roles:
            self.models[role]

    def cancel(self) -> None:
        """Cancel every question that is being answered; each returns its best candidate."""
        with self._lock:
            for run in self._runs.values():
                run.cancelled.set()

    def close(self) -> None:
        """Cancel what is running, close the database and all connections. Safe to call twice."""
        self.cancel()
        self.models.close()
        self._closed = True
        self._opened.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def by(self, recipe: Recipe) -> Session:
        """A session over the same open database and models that answers by another recipe."""
        other = copy(self)
        other.recipe = recipe
        other._pipeline = Pipeline(recipe.name, recipe.step)
        other._loading = ModelLoading(self.models, recipe.roles)
        return other

    def charged_to(self, account: Spending) -> Session:
        """A session over the same open database and models whose questions share an account."""
        other = copy(self)
        other._defaults = replace(self._defaults, account=account)
        return other

    @contextmanager
    def using(self) -> Iterator[Workspace]:
        """`workspace`, which isn't closed before the block ends, even where the data changes
        meanwhile. Raises DatabaseUnavailable."""
        with self._running(None, None) as run, self._opened.using(run) as workspace:
            yield workspace

    def uncalibrated(self, kept: KeptCalibrations | None = None) -> Session:
        """A session over the same open database and models that records nothing and knows no
        calibrations of the user's but `kept`; without any, where its recipe can do without a
        language model it asks none."""
        other = copy(self)
        other.calibrations, other._traces = kept or KeptCalibrations(None), None
        if kept is None and self.recipe.spares_model:  # it asks by how sure the embedded models are
            other._defaults = self._defaults.sparing()
        return other

    @property
    def answering_model(self) -> str:
        """The model whose answers are calibrated: a language model's name where the recipe needs
        one, else a digest of the embedded ones."""
        named = self.recipe.asks and not self.recipe.spares_model and self.models.default
        return named or embedded_digest()

    def _check_open(self) -> None:
        if self._closed:
            raise UserError("the session is closed", hint="Open it again with sqlwright.open.")

    @contextmanager
    def _running(
        self,
        seconds: float | None,
        cancelled: threading.Event | None,
        on_event: EventSink = no_events,
    ) -> Iterator[Run]:
        """A run with the session's defaults; `cancel` reaches it until the block ends."""
        self._check_open()
        run = self._defaults.run(seconds, cancelled, on_event, self.recipe.reply_tokens)
        with self._lock:
            self._runs[run.id] = run
        try:
            yield run
        finally:
            with self._lock:
                del self._runs[run.id]
