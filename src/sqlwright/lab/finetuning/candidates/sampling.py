"""Candidates that a recipe's generators write for the questions of a data set.

All steps of the recipe run up to the first selection that asks a language model; what ran until
then is kept. The file grows by a line a question, each on disk before the next, so a run that was
killed goes on where it was.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from sqlwright.errors import ConfigError, DatabaseUnavailable, DatasetError
from sqlwright.events import Event, StepStarted
from sqlwright.lab.datasets.example import Dataset, Example
from sqlwright.lab.evaluation.files import locked
from sqlwright.lab.evaluation.rules.rule import find_rule
from sqlwright.lab.evaluation.scoring import Scorer
from sqlwright.lab.finetuning.candidates.generators import EMBEDDED, embedded_databases, fold_of
from sqlwright.lab.finetuning.candidates.lines import (
    CandidateFile,
    CandidateLine,
    Header,
    QuestionLine,
)
from sqlwright.lab.finetuning.lesson import named_steps
from sqlwright.recipes.loading import Recipe
from sqlwright.session import Session
from sqlwright.types import Candidate

HINT = "The following query is known to answer the question rightly; write it in your own way: {}"
"""Evidence that shows a generator the gold query (CHASE-SQL section 3.5)."""

OpenSession = Callable[[Example], Session]
"""Opens the database of a question with the recipe that samples."""
Progress = Callable[[int, int], None]
"""Given how many questions are done, and of how many."""


@dataclass(frozen=True)
class SamplingPlan:
    """A data set's questions, and the generator that writes candidates for them."""

    dataset: Dataset
    recipe: Recipe
    model: str
    """Name of the generator; empty for the shipped embedded models."""
    out: Path
    overrides: tuple[str, ...] = ()
    trained_on: frozenset[str] | None = None
    """The databases that the generator was trained on; None where that isn't known. The shipped
    embedded models know theirs."""
    fold: str = ""
    """The fold of the data set's databases that is sampled, such as 0/2; empty for all."""
    hinted: bool = False
    """True if the generator is shown the gold queries."""
    only_without_right: Path | None = None
    """A file of candidates: only its questions without a right one are sampled."""
    source: Mapping[str, Any] = field(default_factory=dict)
    """The data set as it was named, for the record."""
    workers: int = 1
    """Questions of a database asked at once."""

    def __post_init__(self) -> None:
        if self.hinted and not self.recipe.asks:
            raise ConfigError(
                f"the recipe {self.recipe.name} asks no language model, so a hint changes nothing",
                hint="Sample by a recipe that asks one.",
            )

    @property
    def header(self) -> Header:
        """The first line of the file."""
        folded = tuple(sorted(self.dataset.db_ids)) if self.fold else ()
        known = self.trained_on
        if known is None and not self.recipe.asks and not self.model:
            known = embedded_databases()
        return Header(
            recipe=self.recipe.name,
            overrides=self.overrides,
            model=self.model or EMBEDDED,
            hinted=self.hinted,
            fold=self.fold,
            folded=folded,
            trained_on=None if known is None else tuple(sorted(known)),
            sources=({"name": self.dataset.name, **self.source},),
        )


@dataclass(frozen=True, slots=True)
class SamplingReport:
    """Numbers of a sampling that ended."""

    questions: int
    """Questions with a line in the file, those of earlier runs included."""
    candidates: int
    """Candidates that were written now."""
    passed_over: int
    """Questions that aren't sampled, because a first file has a right candidate or none at all."""
    empty: int
    """Questions for which a language model wrote nothing: they have no line, and the next run asks
    them again."""
    unopened: tuple[str, ...] = ()
    """Databases that couldn't be opened, each with the reason."""


def sample(
    plan: SamplingPlan, open_session: OpenSession, *, progress: Progress = lambda _done, _of: None
) -> SamplingReport:
    """Write the candidates that aren't in the file yet. Raises DatasetError where the file is of
    another plan or is being written."""
    with locked(plan.out.parent / f".{plan.out.name}.lock"):
        file = CandidateFile.begin(plan.out, plan.header)
        done = {(line.question_id, line.db_id) for line in file.questions()}
        examples = _wanted(plan)
        left = [one for one in examples if (one.id, one.db_id) not in done]
        count = len(examples) - len(left)
        written, passed_over, empty, unopened = 0, 0, 0, list[str]()
        for _, group in groupby(sorted(left, key=_database), key=_database):
            listed = list(group)
            try:
                session = open_session(listed[0])
            except DatabaseUnavailable as error:
                unopened.append(f"{listed[0].db_id}: {error}")
                continue
            with session:
                asked = list(_without_right(plan, session, listed))
                passed_over += len(listed) - len(asked)
                for line in _lines(plan, session, asked):
                    if not line.candidates and plan.recipe.asks:
                        empty += 1
                        continue
                    file.append(line)
                    count, written = count + 1, written + len(line.candidates)
                    progress(count, len(examples) - passed_over)
    return SamplingReport(count, written, passed_over, empty, tuple(unopened))


def _database(example: Example) -> tuple[str, str]:
    return example.db_id, str(example.database)


def _wanted(plan: SamplingPlan) -> Sequence[Example]:
    """The questions of the fold that have something right. Raises DatasetError."""
    plan.dataset.check_sqlite("finetuning")
    names: Collection[str] = plan.dataset.db_ids
    if plan.fold:
        names = fold_of(names, plan.fold)
    wanted = [one for one in plan.dataset.examples if one.db_id in names]
    if plan.hinted:
        wanted = [one for one in wanted if one.gold_sql]
    if not wanted:
        raise DatasetError(f"{plan.dataset.name} has no questions to sample")
    return wanted


def _without_right(
    plan: SamplingPlan, session: Session, examples: Sequence[Example]
) -> Iterator[Example]:
    """The questions for which a first file has candidates, none of them right."""
    if plan.only_without_right is None:
        yield from examples
        return
    first = CandidateFile.open(plan.only_without_right)
    known = {(line.question_id, line.db_id): line.candidates for line in first.questions()}
    workspace = session.workspace
    scorer = Scorer(workspace.database, workspace.schema, find_rule(plan.dataset.rule))
    for one in examples:
        candidates = known.get((one.id, one.db_id))
        is_right = scorer.judge(one) if candidates is not None else None
        if is_right is not None and not any(is_right(each.sql) for each in candidates or ()):
            yield one


def _lines(
    plan: SamplingPlan, session: Session, examples: Sequence[Example]
) -> Iterator[QuestionLine]:
    """The lines of a database's questions, in order."""
    ask = partial(_line, plan, session)
    if plan.workers <= 1:
        yield from map(ask, examples)
        return
    executor = ThreadPoolExecutor(plan.workers, thread_name_prefix="sqlwright-candidates")
    try:
        yield from executor.map(ask, examples)
    finally:
        session.cancel()
        executor.shutdown(cancel_futures=True)


def _line(plan: SamplingPlan, session: Session, example: Example) -> QuestionLine:
    evidence = example.evidence
    if plan.hinted:
        evidence = f"{evidence}\n{HINT.format(example.gold_sql)}".strip()
    found = candidates_of(session, example.question, evidence)
    candidates = [
        CandidateLine(sql=one.sql, model=_model(plan, one)) for one in found if one.result
    ]
    return QuestionLine(
        question_id=example.id,
        db_id=example.db_id,
        source=plan.dataset.name,
        candidates=tuple(candidates),
    )


def candidates_of(session: Session, question: str, evidence: str = "") -> Sequence[Candidate]:
    """The candidates of a question before a language model is asked to select: the run is cancelled
    as that step begins."""
    ended = threading.Event()
    judges = frozenset(
        step.name
        for step in named_steps(session.recipe.step)
        if step.name.startswith("selection.") and step.step.language_models
    )

    def listen(event: Event) -> None:
        if isinstance(event, StepStarted) and event.step in judges:
            ended.set()

    _, state = session.run(question, evidence=evidence, on_event=listen, cancelled=ended)
    return list(state.for_question)


def _model(plan: SamplingPlan, candidate: Candidate) -> str:
    """The name of whoever wrote a candidate."""
    if candidate.by_model:
        return candidate.model or plan.model
    return (not plan.recipe.asks and plan.model) or EMBEDDED
