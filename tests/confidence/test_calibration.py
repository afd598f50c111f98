"""A calibration at work: monotone, honest about what it doesn't know, read back as written."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from sqlwright.confidence.calibration import Calibration, log_odds, probability
from sqlwright.confidence.figures import calibration_error, with_interval
from sqlwright.confidence.fitting import Sample, fit, tuned, with_spread
from sqlwright.confidence.measures import SCORE
from sqlwright.confidence.wording import FAR, UNLIKE, Wording
from sqlwright.local.models import first_calibration
from sqlwright.protocols.models import Probability

SHIPPED = first_calibration(embedded=True)
ASKED = "How many singers are there?"


def samples(count: int, slope: float, offset: float, family: str = "f") -> list[Sample]:
    """Answers whose log odds of being right are a line of their score."""
    draw = random.Random(f"{family}/{slope}/{offset}")
    scores = [draw.gauss(0.0, 2.0) for _ in range(count)]
    return [
        Sample({"score": s}, draw.random() < probability(slope * s + offset), family, str(n % 9))
        for n, s in enumerate(scores)
    ]


def shown(calibration: Calibration, asked: list[Sample]) -> np.ndarray:
    return np.array([calibration.judge(s.measures, s.question).value for s in asked])


def test_a_line_is_found_again() -> None:
    found = fit(samples(4000, 0.7, -0.5), {"score": 1})
    at = [found.logit({"score": x}) for x in (-2.0, 0.0, 2.0)]
    assert at == pytest.approx([-1.9, -0.5, 0.9], abs=0.25)


def test_each_family_counts_the_same_however_large() -> None:
    mixed = samples(2000, 0.0, 3.0, "large") + samples(200, 0.0, -3.0, "small")
    found = fit(mixed, {"score": 1})
    assert found.judge({"score": 0.0}, "").value == pytest.approx(0.5, abs=0.05)


def test_a_small_family_counts_by_its_number() -> None:
    mixed = samples(2000, 0.0, 3.0, "large") + samples(15, 0.0, -3.0, "small")
    assert fit(mixed, {"score": 1}).judge({"score": 0.0}, "").value > 0.8


def test_a_measure_that_would_turn_against_its_sign_has_no_weight() -> None:
    turned = [replace(s, measures={"score": -s.measures["score"]}) for s in samples(500, 1.0, 0.0)]
    assert fit(turned, {"score": 1}).weights[1] == 0.0
    assert fit(turned, {"score": -1}).weights[1] < 0.0


@pytest.mark.parametrize("measure", ["score", "link mean", "shown as asked"])
def test_it_rises_with_what_speaks_for_an_answer(measure: str) -> None:
    sure = [SHIPPED.judge({measure: x}, ASKED).value for x in (-3.0, 0.0, 3.0)]
    assert sure == sorted(sure)


def test_no_candidate_overtakes_another() -> None:
    sure = SHIPPED.judge({SCORE: 1.0}, ASKED)
    others = [SHIPPED.beside(sure, behind) for behind in (0.0, 0.5, 1.0, 4.0, 9.0)]
    assert others[0] == pytest.approx(sure.value)
    assert all(one > other for one, other in pairwise(others))


def test_level_with_the_chosen_one_is_as_sure_to_the_last_digit() -> None:
    for share in (n / 1000 for n in range(1, 1000)):
        sure = Probability(share, 0.0, 1.0)
        assert SHIPPED.beside(sure, 0.0) == share
        assert SHIPPED.beside(sure, 1e-15) <= share


def test_unlike_words_are_less_sure_and_wider() -> None:
    usual = SHIPPED.judge({SCORE: 1.0}, ASKED)
    odd = SHIPPED.judge({SCORE: 1.0}, "mrr + churn pls, y/y, excl. trials (?) - by tier/qtr")
    assert odd.value < usual.value
    assert log_odds(odd.high) - log_odds(odd.low) > log_odds(usual.high) - log_odds(usual.low)


def test_what_was_not_measured_is_as_usual() -> None:
    assert 0.0 < SHIPPED.judge({}, "").value < 1.0
    assert SHIPPED.judge({SCORE: float("inf")}, ASKED).value < 1.0


def test_it_is_read_back_as_written() -> None:
    again = Calibration.from_data(json.loads(json.dumps(SHIPPED.to_data())))
    for asked in (ASKED, "top 5 tracks"):
        assert again.judge({SCORE: 0.3}, asked) == pytest.approx(
            SHIPPED.judge({SCORE: 0.3}, asked), abs=1e-4
        )


@pytest.mark.parametrize(
    "damage", [{"weights": [1.0]}, {"mean": ["x"]}, {"spread": float("nan")}, {"names": None}]
)
def test_damaged_weights_are_refused(damage: dict[str, object]) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        Calibration.from_data({**SHIPPED.to_data(), **damage})


def test_families_that_differ_widen_the_interval() -> None:
    calm = fit(samples(2000, 1.0, 0.0), {"score": 1})
    wide = with_spread(calm, [(1.5, 0.1, 0.0), (-1.2, 0.1, 0.0), (0.8, 0.1, 0.0)])
    sure, unsure = (one.judge({"score": 0.0}, "") for one in (calm, wide))
    assert unsure.value == sure.value
    assert unsure.high - unsure.low > 2 * (sure.high - sure.low)


def test_questions_of_ones_own_put_it_right_and_narrow_it() -> None:
    base = with_spread(fit(samples(2000, 1.0, 1.0), {"score": 1}), [(1.0, 0.0, 0.0)] * 4)
    theirs = samples(600, 0.8, -1.0, "theirs")
    good = np.array([float(s.right) for s in theirs[100:]])
    own = tuned(base, theirs[:100])
    assert calibration_error(shown(base, theirs[100:]), good) > 0.2
    assert calibration_error(shown(own, theirs[100:]), good) <= 0.08
    before, after = (one.judge({"score": 0.0}, "") for one in (base, own))
    assert after.high - after.low < before.high - before.low


def test_words_are_counted_by_what_follows_them() -> None:
    asked = [(f"How many {thing}s are there?", thing) for thing in "abcdefghijklmnopqrst"]
    wording = Wording.of(asked)
    assert wording.words == ("?", "are", "how", "many", "there")
    usual = wording.measures("How many goats are there?")
    assert usual[UNLIKE] == pytest.approx(wording.measures("how many bs are there?")[UNLIKE])
    assert usual[FAR] == 0.0
    assert wording.measures("goats there how ?")[FAR] > 0.5
    assert wording.measures("")[UNLIKE] == 0.0
    assert Wording.from_data(json.loads(json.dumps(wording.to_data()))).surprise(
        "cats are how"
    ) == pytest.approx(wording.surprise("cats are how"))


def test_an_interval_of_the_error_goes_by_whole_clusters() -> None:
    sure = np.random.default_rng(1).uniform(0.4, 0.6, 120)
    names = [str(n // 20) for n in range(120)]
    good = np.array([float(n // 20 % 2) for n in range(120)])
    alone = with_interval(calibration_error, sure, good)
    together = with_interval(calibration_error, sure, good, clusters=names)
    assert alone.value == together.value
    assert together.high > alone.high + 0.05
