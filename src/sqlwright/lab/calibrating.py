"""Fits how sure answers are to a user's own golden questions, for one database and recipe.

Each question is asked once and compared with its own query. What is fitted is kept beside what is
prepared of the database; no gold query reaches the session that answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, cast

import numpy as np

from sqlwright.boundary.arguments import AnyPath, Whole, checked
from sqlwright.candidates import same_result
from sqlwright.confidence.calibration import Calibration
from sqlwright.confidence.figures import Figure, Numbers, calibration_error, with_interval
from sqlwright.confidence.fitting import Sample, of_both, tuned
from sqlwright.confidence.measures import Seen, measured, of_embedded
from sqlwright.confidence.own import CalibrationReport, OwnCalibration
from sqlwright.errors import UserError
from sqlwright.prepare.calibrations import KeptCalibrations
from sqlwright.protocols import Database, Limits, Run, Workspace
from sqlwright.protocols.embedded import first_calibration
from sqlwright.running.grounds import author_of, basis_of
from sqlwright.session import Session
from sqlwright.types import Candidate, ExecutionResult

ROOMY = Limits(seconds=60.0, rows=100_000, result_bytes=128 * 1024 * 1024)
"""Limits of a query whose result is compared; what a user is shown is cut earlier."""
LEAST = 30
"""Answered questions needed at least; chosen: with fewer the interval of the error says nothing."""
FOLDS = 10
"""Parts that are left out in turn; chosen."""


@dataclass(frozen=True, slots=True)
class GoldenQuestion:
    """A question and a query that answers it."""

    question: str
    sql: str
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """The outcome of asking a set of golden questions."""

    samples: tuple[Sample, ...]
    """Those that were answered, each right or wrong."""
    shown: tuple[float | None, ...]
    """The confidence that each of them was shown with before."""
    refused: int = 0
    """Those that got no answer."""
    unusable: tuple[str, ...] = ()
    """Those whose own query doesn't run, each with its problem."""


@dataclass(frozen=True, slots=True)
class Whose:
    """The recipe and model that were asked."""

    recipe: str
    embedded: bool
    model: str


Progress = Callable[[int, int], None]
"""Given how many questions were asked, and of how many."""
Fit = Callable[[Sequence[Sample]], Calibration]


@checked
def calibrate(
    session: Annotated[Session, Whole()],
    questions: Sequence[GoldenQuestion],
    *,
    out: AnyPath | None = None,
    progress: Progress | None = None,
) -> CalibrationReport:
    """Fit how sure answers by a session's recipe and model are to questions of your own.

    Each is asked once and compared with its own query. The calibration is written, whole or not at
    all, beside what is prepared, or to `out`, and used from now on. `progress` is given how many
    were asked, and of how many. Raises UserError where too few are answered (30 are needed),
    WorkspaceError where it can't be written, and else as `ask` does.

    A recipe that asks a language model where the embedded models aren't sure gets two: first that
    of their answers, then, of the questions for which the model was asked, one of what both say.
    The report is of the latter if as many as 30 were, else of the former.
    """
    kept = session.calibrations if out is None else KeptCalibrations(Path(out), given=True)
    with session.using() as workspace:
        outcome, embedded = asked(questions, session.uncalibrated(), workspace, progress)
        whose = Whose(session.recipe.name, embedded, session.answering_model)
        base = cast("Calibration", first_calibration(embedded=embedded))
        fitted = refitted(partial(tuned, base), outcome, whose)
        kept.keep(fitted)
        if session.recipe.spares_model and session.models.default:
            both, _ = asked(questions, session.uncalibrated(kept), workspace, progress, both=True)
            if len(both.samples) >= LEAST:
                whose = replace(whose, embedded=False, model=session.models.default)
                fitted = refitted(of_both, both, whose)
                kept.keep(fitted)
    return fitted.report


def asked(
    questions: Sequence[GoldenQuestion],
    session: Session,
    workspace: Workspace,
    progress: Progress | None = None,
    *,
    both: bool = False,
) -> tuple[Asked, bool]:
    """The outcome of the questions, and whether embedded models answered them: of most, or, with
    `both`, of those for which a language model was asked beside them.

    An answer is right where its result is that of the golden query, by the rule of `candidates`.
    What embedded models wrote in a language model's place isn't counted as its answer.
    """
    found: list[tuple[Sample, float | None, bool]] = []
    unusable: list[str] = []
    refused, database = 0, workspace.database
    for number, golden in enumerate(questions):
        if progress is not None:
            progress(number, len(questions))
        gold = _result(golden.sql, database)
        if not gold.ok:
            unusable.append(f"{golden.question}: {gold.error.message if gold.error else ''}")
            continue
        answer, state = session.run(golden.question, evidence=golden.evidence)
        chosen = state.selected
        if answer.status != "answered" or chosen is None:
            refused += 1
            continue
        if author_of(chosen, state) == "stand_in":
            refused += 1
            continue
        seen = Seen(state, chosen, workspace.schema, basis_of(state, chosen))
        right = _right(chosen, golden, gold, database)
        sample = Sample(measured(seen), right, "own", str(number), golden.question)
        found.append((sample, answer.confidence, of_embedded(state)))
    if progress is not None:
        progress(len(questions), len(questions))
    most = Counter(judged for _, _, judged in found).most_common(1)
    by_embedded = not both and bool(most and most[0][0])
    kept = [(sample, shown) for sample, shown, judged in found if judged is by_embedded]
    return (
        Asked(
            tuple(sample for sample, _ in kept),
            tuple(shown for _, shown in kept),
            refused + len(found) - len(kept),
            tuple(unusable),
        ),
        by_embedded,
    )


def _right(
    chosen: Candidate, golden: GoldenQuestion, gold: ExecutionResult, database: Database
) -> bool:
    result = chosen.result
    if result is None or result.cut:
        result = _result(chosen.sql, database)
    return same_result(
        Candidate(chosen.sql, "", result=result), Candidate(golden.sql, "", result=gold)
    )


def _result(sql: str, database: Database) -> ExecutionResult:
    return database.execute(sql, Run(), limits=ROOMY)


def refitted(fitted: Fit, asked: Asked, whose: Whose) -> OwnCalibration:
    """A calibration for the same database, recipe and model.

    Its error is that of questions left out of fitting, a tenth at a time. Raises UserError where
    too few were answered.
    """
    samples = asked.samples
    if len(samples) < LEAST:
        raise UserError(
            f"{len(samples)} of the questions were answered, too few to fit a calibration to",
            hint=f"It takes at least {LEAST} that get an answer, right or wrong"
            + (f"; {asked.refused} were refused or failed" if asked.refused else "")
            + (f"; {len(asked.unusable)} have a query that doesn't run" if asked.unusable else "")
            + ". A hundred make a narrow interval.",
        )
    good = np.array([float(one.right) for one in samples])
    left_out = _left_out(fitted, samples)
    before: Figure | None = None
    if all(one is not None for one in asked.shown):
        before = with_interval(calibration_error, np.array(asked.shown, dtype=float), good)
    after = with_interval(calibration_error, left_out, good)
    report = CalibrationReport(
        recipe=whose.recipe,
        embedded=whose.embedded,
        model=whose.model,
        questions=len(samples),
        right=int(good.sum()),
        before=None if before is None else (before.value, before.low, before.high),
        after=(after.value, after.low, after.high),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    return OwnCalibration(report, fitted(samples))


def _left_out(fitted: Fit, samples: Sequence[Sample]) -> Numbers:
    """The probability of each answer by what was fitted without it."""
    places = np.random.default_rng(1).permutation(len(samples)).tolist()
    # As many right ones in each: else what is left out would be the opposite of what is fitted.
    places.sort(key=lambda place: samples[place].right)
    sure = np.zeros(len(samples))
    for first in range(FOLDS):
        part = places[first::FOLDS]
        inside = set(part)
        rest = [one for place, one in enumerate(samples) if place not in inside]
        by = fitted(rest)
        for place in part:
            sure[place] = by.judge(samples[place].measures, samples[place].question).value
    return sure
