"""An open database of which questions are asked and scored: every executor has its records from
here."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

from sqlwright import api
from sqlwright.boundary.remote_files import fetched, is_remote
from sqlwright.errors import Cancelled
from sqlwright.events import Event, ModelCalled
from sqlwright.indexes.minhash import Library
from sqlwright.lab.datasets.example import Example
from sqlwright.lab.evaluation.executing.executor import NotAsked, Notice, Plan
from sqlwright.lab.evaluation.metrics.metric import chosen_metrics
from sqlwright.lab.evaluation.records import Record
from sqlwright.lab.evaluation.rules.rule import find_rule
from sqlwright.lab.evaluation.scoring import GENEROUS, Scorer
from sqlwright.lab.evaluation.views import ViewListener
from sqlwright.messages import Missing
from sqlwright.prepare import prepare, prepared_folder
from sqlwright.prepare.storage.paths import VALUES
from sqlwright.protocols import Limits, ModelsByRole, Workspace
from sqlwright.recipes.loading import Recipe, load_recipe
from sqlwright.running.trace import TraceWriter
from sqlwright.spending import Spending


class OpenDatabase:
    """A database kept open for its questions."""

    def __init__(self, session: api.Session, scorer: Scorer, *, traced: bool) -> None:
        self.session = session
        self.account = Spending()
        """That of the whole run."""
        self._scorer = scorer
        self._traced = traced

    def charge(self, account: Spending) -> None:
        """Have all that is spent from now on fit into the account of the run, too."""
        self.account, self.session = account, self.session.charged_to(account)

    def answer(self, example: Example, stopping: threading.Event) -> tuple[Record, str]:
        """Ask and score; the record, and the trace where it is kept. Raises Cancelled if meanwhile
        all was to stop, and NotAsked if the run's budget refused a request: what came isn't what
        the recipe would have said."""
        if not self._traced:
            return self._answered(example, stopping, None), ""
        with TemporaryDirectory(prefix="sqlwright-") as aside:
            writer = TraceWriter(Path(aside) / "trace", "question")
            try:
                record = self._answered(example, stopping, writer)
            finally:
                writer.close()
            return record, writer.path.read_text("utf-8") if writer.path.exists() else ""

    def _answered(
        self, example: Example, stopping: threading.Event, trace: TraceWriter | None
    ) -> Record:
        views = ViewListener(self.session.recipe.step)
        refused, notes = False, dict[tuple[str, str], None]()

        def listen(event: Event) -> None:
            nonlocal refused
            refused = refused or (self.account.exhausted and _short_of_budget(event))
            views(event)
            if isinstance(event, ModelCalled):
                # No note of the answer: who asks knows the model, who compares runs may not.
                for name in event.not_sent:
                    notes["parameter", f"{event.model} takes no {name}; none was sent"] = None
            if trace is not None:
                trace(event)

        started = time.perf_counter()
        answer, state = self.session.run(
            example.question, evidence=example.evidence, on_event=listen
        )
        seconds = time.perf_counter() - started
        if stopping.is_set():
            raise Cancelled("interrupted")
        if refused:
            raise NotAsked
        record = self._scorer.score(example, answer, state, seconds, views=views)
        return replace(record, notes=(*record.notes, *notes))


def open_database(
    plan: Plan, example: Example, models: ModelsByRole, notice: Notice
) -> OpenDatabase:
    """The database of a question, opened and warm. Raises DatabaseUnavailable and what else
    opening and preparing raise."""
    settings = plan.settings
    url = plan.address(example)
    if not example.url and is_remote(url):
        url = str(fetched(url, settings.home))
    described = plan.descriptions.get(example.db_id)
    if settings.prepare:
        notice(f"preparing {example.db_id}")
        read = load_recipe(
            settings.recipe, settings.overrides, allow_code=settings.allow_code
        ).prepared
        prepare(
            url,
            folder=_prepared_folder(settings.home, url),
            descriptions=described,
            minhash=next((one for one in get_args(Library) if f"minhash-{one}" in read), None),
            vectors=VALUES in read,
        )
    session = api.open(
        url,
        recipe=settings.recipe,
        overrides=settings.overrides,
        allow_code=settings.allow_code,
        descriptions=described,
        tables=settings.allowed.tables_for(url),
        functions=settings.allowed.functions_for(url) or None,
        models=models,
        llm=settings.llm,
        stand_in=settings.stand_in,
        seed=settings.seed,
        limits=Limits(scan=settings.scan),
        home=settings.home,
        prepare=False,  # what is measured doesn't depend on what was measured before
        record=False,
    )
    try:
        session.warm()
        workspace = session.workspace
        if not settings.prepare and _sampled(workspace):
            told = "not all of its values are known; --prepare reads them"
            notice(f"{example.db_id}: {told}")
        if not settings.prepare and (lacking := _lacking(session.recipe, workspace)):
            told = f"the recipe reads {' and '.join(lacking)}, which --prepare makes"
            notice(f"{example.db_id}: {told}")
        scorer = Scorer(
            workspace.database,
            workspace.schema,
            find_rule(plan.rule),
            chosen_metrics(settings.metrics),
            replace(GENEROUS, scan=settings.scan),
        )
    except BaseException:
        session.close()
        raise
    return OpenDatabase(session, scorer, traced=settings.traces)


def _short_of_budget(event: Event) -> bool:
    replies = event.replies if isinstance(event, ModelCalled) else ()
    return any(isinstance(one, Missing) and one.kind == "budget" for one in replies)


def _sampled(workspace: Workspace) -> bool:
    """True if of some column only a part of today's values is known."""
    profiles = () if workspace.catalog is None else workspace.catalog.columns.values()
    return any(profile.sampled for profile in profiles)


def _lacking(recipe: Recipe, workspace: Workspace) -> list[str]:
    """The names of all that the recipe reads and nobody prepared."""
    folder: Path | None = getattr(workspace.values, "beside", None)
    return sorted(
        one for one in recipe.prepared if folder is None or not any(folder.glob(f"{one}*"))
    )


def _prepared_folder(home: Path | None, url: str) -> Path | None:
    """The folder in which sessions with that home look for what is prepared; None is the usual."""
    return None if home is None else home / "databases" / prepared_folder(url).name
