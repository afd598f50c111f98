"""A language model's answers: a calibration fitted to simulated authors, then to golden ones."""

from __future__ import annotations

import random

import numpy as np
import pytest
from training.embedded.confidence.simulated import Crowd, answers

from sqlwright.confidence.figures import auroc, calibration_error
from sqlwright.confidence.fitting import tuned
from sqlwright.errors import UserError
from sqlwright.lab.calibrating import LEAST, Asked, Whose, refitted
from sqlwright.local.models import first_calibration

WRITTEN = first_calibration(embedded=False)
MINE = Whose("chess-ir-ss-cg", embedded=False, model="openai/m")
CROWDS = {
    "strong": Crowd(2.5, samples=6, alike=0.7),
    "weak": Crowd(-1.5, samples=6),
    "three authors": Crowd(0.7, authors=3, samples=4, tests=4),
    "always alike": Crowd(0.0, samples=8, alike=0.95),
}


@pytest.mark.parametrize("name", CROWDS)
def test_a_golden_set_puts_it_right(name: str) -> None:
    draw = random.Random(name)
    golden, others = (answers(CROWDS[name], draw, count, name) for count in (120, 2000))
    own = tuned(WRITTEN, golden)
    sure = np.array([own.judge(s.measures, "").value for s in others])
    good = np.array([float(s.right) for s in others])
    assert calibration_error(sure, good) <= 0.08
    assert auroc(sure, good) > 0.6


def test_it_reports_what_it_was_fitted_to() -> None:
    golden = tuple(answers(CROWDS["weak"], random.Random(1), 80, "weak"))
    own = refitted(WRITTEN, Asked(golden, (None,) * 80), MINE)
    report = own.report
    assert (report.questions, report.right) == (80, sum(s.right for s in golden))
    assert report.before is None
    assert report.after[1] <= report.after[0] <= report.after[2] + 0.05
    assert "80 of your own questions" in report.words


def test_too_few_are_refused_with_what_is_needed() -> None:
    golden = tuple(answers(CROWDS["weak"], random.Random(1), LEAST - 1, "weak"))
    with pytest.raises(UserError, match="29 of the questions were answered") as caught:
        refitted(
            WRITTEN, Asked(golden, (0.5,) * 29, refused=4, unusable=("x: no such table",)), MINE
        )
    assert "at least 30" in caught.value.hint
    assert "4 were refused" in caught.value.hint
    assert "1 have a query that doesn't run" in caught.value.hint
