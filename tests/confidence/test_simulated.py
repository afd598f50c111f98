"""A language model's answers: a calibration fitted to simulated authors, then to golden ones."""

from __future__ import annotations

import random
from functools import partial

import numpy as np
import pytest
from training.embedded.confidence.simulated import Crowd, answers

from sqlwright.confidence.figures import auroc, calibration_error
from sqlwright.confidence.fitting import Sample, of_both, tuned
from sqlwright.confidence.measures import AGREEMENT, BELIEF, STAYS
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


def both(right: bool, agree: bool, number: int) -> Sample:
    """An answer of the embedded models, half sure, that a language model bears out or doesn't."""
    told = {BELIEF: 0.0, AGREEMENT: 0.0, "second opinion": 1.0 if agree else -1.0, STAYS: 1.0}
    return Sample(told, right, "own", str(number))


def test_what_a_model_beside_the_embedded_ones_is_worth_is_fitted() -> None:
    draw = random.Random(1)
    for bears, speaks in ((0.95, 0.3), (0.6, 0.5)):
        outcomes = [
            both(draw.random() < (bears if agree else speaks), agree, number)
            for number, agree in enumerate([True, False] * 150)
        ]
        own = of_both(outcomes)
        for agree, share in ((True, bears), (False, speaks)):
            told = both(True, agree, 0).measures
            assert own.judge(told, "").value == pytest.approx(share, abs=0.1)


@pytest.mark.parametrize("right", [True, False])
def test_a_few_questions_that_went_one_way_make_nothing_certain(right: bool) -> None:
    own = of_both([both(right, number % 2 == 0, number) for number in range(LEAST)])
    told = own.judge(both(right, True, 0).measures, "")
    off = 1.0 - told.value if right else told.value
    assert 0.005 < off < 0.1
    assert told.low < told.value < told.high


def test_it_reports_what_it_was_fitted_to() -> None:
    golden = tuple(answers(CROWDS["weak"], random.Random(1), 80, "weak"))
    own = refitted(partial(tuned, WRITTEN), Asked(golden, (None,) * 80), MINE)
    report = own.report
    assert (report.questions, report.right) == (80, sum(s.right for s in golden))
    assert report.before is None
    assert report.after[1] <= report.after[0] <= report.after[2] + 0.05
    assert "80 of your own questions" in report.words


def test_too_few_are_refused_with_what_is_needed() -> None:
    golden = tuple(answers(CROWDS["weak"], random.Random(1), LEAST - 1, "weak"))
    short = Asked(golden, (0.5,) * 29, refused=4, unusable=("x: no such table",))
    with pytest.raises(UserError, match="29 of the questions were answered") as caught:
        refitted(partial(tuned, WRITTEN), short, MINE)
    assert "at least 30" in caught.value.hint
    assert "4 were refused" in caught.value.hint
    assert "1 have a query that doesn't run" in caught.value.hint
