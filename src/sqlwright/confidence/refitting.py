"""Fits a calibration to a user's own questions, for one database and recipe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np

from sqlwright.confidence.calibration import Calibration
from sqlwright.confidence.figures import Figure, Numbers, calibration_error, with_interval
from sqlwright.confidence.fitting import Sample, tuned
from sqlwright.confidence.own import CalibrationReport, OwnCalibration
from sqlwright.errors import UserError

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


def refitted(base: Calibration, asked: Asked, whose: Whose) -> OwnCalibration:
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
    left_out = _left_out(base, samples)
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
    return OwnCalibration(report, tuned(base, samples))


def _left_out(base: Calibration, samples: Sequence[Sample]) -> Numbers:
    """The probability of each answer by what was fitted without it."""
    places = np.random.default_rng(1).permutation(len(samples)).tolist()
    # As many right ones in each: else what is left out would be the opposite of what is fitted.
    places.sort(key=lambda place: samples[place].right)
    sure = np.zeros(len(samples))
    for first in range(FOLDS):
        part = places[first::FOLDS]
        inside = set(part)
        rest = [one for place, one in enumerate(samples) if place not in inside]
        by = tuned(replace(base, tuning=None), rest)
        for place in part:
            sure[place] = by.judge(samples[place].measures, samples[place].question).value
    return sure
