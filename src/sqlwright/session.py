"""A database kept open, and questions asked of it.

A session stays warm: the database is opened and the models are loaded with the first question and
kept for the next ones. When the data has changed meanwhile, it is opened afresh.
"""

from __future__ import annotations

import platform
import secrets
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any

import sqlwright
from sqlwright.boundary.arguments import Positive, Unicode, Words, checked
from sqlwright.errors import Cancelled, ConfigError, ModelUnavailable, UserError
from sqlwright.llm.models import Models
from sqlwright.messages import Privacy
from sqlwright.prepare import open_workspace
from sqlwright.presentation.answer import shortened_words
from sqlwright.protocols import EventSink, Limits, Run, Workspace, no_events
from sqlwright.recipes.loading import Recipe
from sqlwright.running import trace
from sqlwright.running.combinators import leaves
from sqlwright.running.pipeline import Pipeline
from sqlwright.running.trace import TraceWriter
from sqlwright.schema import Schema, SchemaView
from sqlwright.spending import Budget, Spending
from sqlwright.sql.guard import columns_used, tables_used
from sqlwright.types import Answer, Question, State, StepTime, Turn

POLL = 0.02
"""Seconds between looks at whether the run was cancelled while models load."""

OnEvent = Annotated[EventSink, Words("a function that takes a kind and a payload")]


@dataclass(frozen=True)
class Target:
    """What a session opens."""

    url: str
    folder: Path | None
    descriptions: Path | None
    tables: tuple[str, ...] | None = None
    """The only tables that may be known of and read; None for all."""
    prepare: bool = False
    """Whether it is prepared by the way, if it is small."""


@dataclass(frozen=True)
class Defaults:
    """What holds for every question that doesn't say otherwise."""

    limits: Limits
    seconds: float | None
    seed: int
    budget: Budget = Budget()  # noqa: RUF009 - frozen
    """What language models may cost."""
    privacy: Privacy = "full"
    reopening: int = 20
    """A database whose data changed is opened afresh when at least so many times as long has passed
    as opening it took: with 20, reopening takes at most a twentieth of the time."""


class _Opened:
    """A workspace, and how many questions are using it: it closes when it is old and unused."""

    def __init__(self, workspace: Workspace, rest: float) -> None:
        self.workspace = workspace
        self.fingerprint = workspace.database.fingerprint()
        self.again = time.monotonic() + rest
        self.users = 0
        self.old = False

    def changed(self) -> bool:
        """Whether the data has changed, looked at only when it would be opened afresh for it."""
        if time.monotonic() < self.again:
            return False
        return self.workspace.database.fingerprint() != self.fingerprint


class Session:
    """One database, kept open. Made by `open`; a context manager; safe to use from any thread."""

    def __init__(
        self,
        target: Target,
        recipe: Recipe,
        *,
        models: Mapping[str, Any],
        defaults: Defaults,
        traces: Path | None,
    ) -> None:
        self.recipe = recipe
        self.models = models if isinstance(models, Models) else Models(models)
        self._traces = traces
        self._target = target
        self._defaults = defaults
        self._pipeline = Pipeline(recipe.name, recipe.step)
        self._opening = threading.Lock()
        self._counting = threading.Lock()
        self._opened: _Opened | None = None
        self._loading: threading.Thread | None = None
        self._runs: dict[str, Run] = {}
        self._closed = False

    @property
    def workspace(self) -> Workspace:
        """The open database with what is known about it. Opens it. Raises DatabaseUnavailable."""
        self._check_open()
        with self._opening:
            return self._current().workspace

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
        is told what happens as it happens.

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
        run = self._begin(seconds, cancelled)
        run.events = on_event
        with self._cancellable(run), ExitStack() as stack:
            loading = self._preload()
            try:
                workspace = stack.enter_context(self._using(run))
                while loading.is_alive():  # in a wait that can be cancelled
                    loading.join(POLL)
                    run.check()
            except Cancelled as error:
                return _never_begun(asked, error)
            writer = None if self._traces is None else TraceWriter(self._traces, run.id)
            if writer is not None:
                stack.callback(writer.close)
            run.events = trace.both(writer, on_event)
            run.events("start", self._description(asked, workspace, run))
            answer, state = self._pipeline.run(asked, workspace, self.models, run)
            run.events("answer", trace.outcome(answer, run))
            return _recorded(answer, run, writer), state

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
        run = self._begin(seconds, cancelled)
        with self._cancellable(run), self._using(run) as workspace:
            result = workspace.database.execute(sql, run)
            answer = Answer(
                status="answered" if result.ok else "failed",
                question="",
                sql=sql,
                dialect=workspace.database.dialect,
                columns=result.columns,
                rows=result.rows,
                truncated=result.truncated,
                shortened=result.shortened,
                warnings=shortened_words(result),
                times=(StepTime("execute", result.elapsed),),
                seconds=result.elapsed,
                confidence=None,
                message="" if result.error is None else result.error.message,
                extra={} if result.error is None else {"error": result.error.kind},
            )
            if not result.ok:
                return answer
            from sqlwright.sql.in_words.query import read_query

            return replace(
                answer,
                reading=read_query(sql, workspace.schema),
                used_tables=tables_used(sql),
                used_columns=columns_used(sql, workspace.schema),
            )

    sql = run_sql

    def warm(
        self, *, on_event: EventSink = no_events, cancelled: threading.Event | None = None
    ) -> None:
        """Open the database and load the models now instead of with the first question. Raises
        DatabaseUnavailable, ModelUnavailable and Cancelled."""
        self._check_open()
        with self._opening:
            self._current(Run(events=on_event, cancelled=cancelled or threading.Event()))
        for role in self._roles():
            self.models[role]

    def cancel(self) -> None:
        """Cancel every question that is being answered; each returns its best candidate."""
        with self._counting:
            for run in self._runs.values():
                run.cancelled.set()

    def close(self) -> None:
        """Cancel what is running, close the database and all connections. Safe to call twice."""
        self.cancel()
        self.models.close()
        with self._opening:
            self._closed = True
            opened, self._opened = self._opened, None
        if opened is not None:
            self._retire(opened)

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _roles(self) -> list[str]:
        steps = leaves(self.recipe.step)
        return list(dict.fromkeys(role for step in steps for role in getattr(step, "roles", ())))

    def _check_open(self) -> None:
        if self._closed:
            raise UserError(
                "the session is closed", hint="Open the database again with sqlwright.open."
            )

    def _begin(self, seconds: float | None, cancelled: threading.Event | None) -> Run:
        self._check_open()
        now = datetime.now(UTC)
        return Run(
            id=f"{now:%Y%m%d-%H%M%S}{now.microsecond // 1000:03d}-{secrets.token_hex(2)}",
            seed=self._defaults.seed,
            seconds=self._defaults.seconds if seconds is None else seconds,
            limits=self._defaults.limits,
            cancelled=threading.Event() if cancelled is None else cancelled,
            spending=Spending(self._defaults.budget),
            privacy=self._defaults.privacy,
        )

    @contextmanager
    def _cancellable(self, run: Run) -> Iterator[None]:
        with self._counting:
            self._runs[run.id] = run
        try:
            yield
        finally:
            with self._counting:
                del self._runs[run.id]

    def _current(self, run: Run | None = None) -> _Opened:
        """What is open, opened now if nothing is or the data has changed. Under `_opening`."""
        if self._closed:
            raise Cancelled("the session is closed")
        opened = self._opened
        if opened is not None and not opened.changed():
            return opened
        started = time.monotonic()
        workspace = open_workspace(**asdict(self._target), run=run)
        took = time.monotonic() - started
        self._opened = _Opened(workspace, took * self._defaults.reopening)
        if opened is not None:
            self._retire(opened)
        return self._opened

    @contextmanager
    def _using(self, run: Run) -> Iterator[Workspace]:
        with self._opening:
            opened = self._current(run)
            with self._counting:
                opened.users += 1
        try:
            yield opened.workspace
        finally:
            with self._counting:
                opened.users -= 1
                unused = opened.old and not opened.users
            if unused:
                opened.workspace.database.close()

    def _preload(self) -> threading.Thread:
        """Load the models beside opening the database; who needs one that fails is told then."""

        def load() -> None:
            for role in self._roles():
                try:
                    self.models[role]
                except (ModelUnavailable, ConfigError, KeyError):
                    return

        with self._counting:
            if self._loading is None:
                self._loading = threading.Thread(target=load, name="sqlwright-models")
                self._loading.start()
            return self._loading

    def _retire(self, opened: _Opened) -> None:
        with self._counting:
            opened.old = True
            unused = not opened.users
        if unused:
            opened.workspace.database.close()

    def _description(self, asked: Question, workspace: Workspace, run: Run) -> dict[str, Any]:
        """The first line of a trace: what it takes to run the question again."""
        return {
            "format": trace.FORMAT,
            "version": trace.VERSION,
            "id": run.id,
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "question": asked.text,
            "evidence": asked.evidence,
            "history": asked.history,
            "database": workspace.database.url,
            "fingerprint": workspace.database.fingerprint(),
            "recipe": self.recipe.source,
            "seed": run.seed,
            "seconds": run.seconds,
            "limits": asdict(run.limits),
            "model": self.models.default,
            "budget": str(run.spending.budget),
            "privacy": run.privacy,
            "sqlwright": sqlwright.__version__,
            "python": platform.python_version(),
            "notes": workspace.notes,
        }


def _recorded(answer: Answer, run: Run, writer: TraceWriter | None) -> Answer:
    if writer is None:
        return answer
    if writer.problem:
        problem = f"this question was not recorded: {writer.problem}"
        return replace(answer, warnings=(*answer.warnings, problem))
    return replace(answer, trace_id=run.id)


def _never_begun(asked: Question, error: Cancelled) -> tuple[Answer, State]:
    """The run ended while the database was still being opened."""
    answer = Answer("failed", asked.text, None, "sqlite", message=f"stopped early: {error}")
    return answer, State(asked, SchemaView(Schema("", ())))
