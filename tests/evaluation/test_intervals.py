"""Intervals and tests against figures that were worked out otherwise."""

from __future__ import annotations

from collections import Counter
from math import comb, sqrt
from random import Random

import numpy as np
import pytest

from sqlwright.confidence.figures import auroc
from sqlwright.lab.evaluation.intervals import (
    DISTINCT,
    Mean,
    PairedDifference,
    Sample,
    over_seeds,
    ratio_interval,
)


def test_nothing_has_no_mean() -> None:
    assert Sample.of([]).mean() is None
    assert Sample.of([]).value == 0.0
    assert ratio_interval({}) is None


def test_equal_numbers_have_no_spread() -> None:
    assert Sample.of([0.5] * 9).mean() == Mean(0.5, 0.5, 0.5, 9)


@pytest.mark.parametrize("different", [2, 50, DISTINCT, 5 * DISTINCT])
def test_a_mean_s_interval_is_that_of_the_normal_distribution(different: int) -> None:
    draw = Random(7)
    numbers = [draw.randrange(different) / different for _ in range(20_000)]
    mean = Sample.of(numbers).mean()
    assert mean is not None
    error = np.std(numbers) / sqrt(len(numbers))
    assert mean.value == pytest.approx(np.mean(numbers))
    assert mean.low == pytest.approx(mean.value - 1.96 * error, abs=0.3 * error)
    assert mean.high == pytest.approx(mean.value + 1.96 * error, abs=0.3 * error)


def test_counted_numbers_are_the_same_sample() -> None:
    numbers = [0.0, 1.0, 1.0, 0.25, 1.0]
    assert Sample.counted(Counter(numbers) | Counter({9.0: 0})).mean() == Sample.of(numbers).mean()
    assert Sample.of(numbers[::-1]).mean() == Sample.of(numbers).mean()


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    draw, held = np.random.default_rng(3), 0
    for _ in range(200):
        mean = Sample.of(draw.random(60) ** 2).mean()
        assert mean is not None
        held += mean.low <= 1 / 3 <= mean.high
    assert 0.9 <= held / 200 <= 0.99


def plain_draws(units: list[tuple[int, int]], draws: int) -> tuple[float, float]:
    """The cluster bootstrap as it is written down, unit by unit."""
    draw, found = Random(11), []
    for _ in range(draws):
        drawn = [units[draw.randrange(len(units))] for _ in units]
        found.append(sum(hits for hits, _ in drawn) / sum(total for _, total in drawn))
    return float(np.quantile(found, 0.025)), float(np.quantile(found, 0.975))


@pytest.mark.parametrize("number", [3, 20, 200])
def test_whole_databases_are_drawn(number: int) -> None:
    draw = Random(number)
    units = []
    for _ in range(number):
        total, chance = draw.randint(5, 60), draw.betavariate(2, 1)
        units.append((sum(draw.random() < chance for _ in range(total)), total))
    found = ratio_interval(Counter(units))
    assert found is not None
    assert found == pytest.approx(plain_draws(units, 2_000), abs=0.03)
    hits, total = (sum(side) for side in zip(*units, strict=True))
    alone = 1.96 * sqrt(hits * (total - hits) / total**3)
    assert found[1] - found[0] > 2 * alone  # databases differ by more than chance does


def test_many_kinds_of_databases_are_taken_as_normal() -> None:
    draw = Random(5)
    units = [(draw.randint(0, total), total) for total in range(100, 3_100)]
    assert len(set(units)) > DISTINCT
    found = ratio_interval(Counter(units))
    assert found == pytest.approx(plain_draws(units, 300), abs=0.003)


def test_fewer_than_three_databases_say_nothing_of_others() -> None:
    assert ratio_interval({(1, 2): 2}) is None
    assert ratio_interval({(1, 2): 3}) == pytest.approx((0.5, 0.5))
    assert ratio_interval({(0, 0): 3}) is None


@pytest.mark.parametrize(("gained", "lost"), [(600, 500), (500, 600), (1_000, 1), (550, 551)])
def test_mcnemar_is_exact_for_many_questions_too(gained: int, lost: int) -> None:
    differing, fewer = gained + lost, min(gained, lost)
    assert differing > 1_000
    tail = sum(comb(differing, k) for k in range(fewer + 1))
    exact = min(1.0, 2 * tail / (1 << differing))
    assert PairedDifference(5, gained, lost, 9).p == pytest.approx(exact, rel=1e-9)


def test_mcnemar_of_a_million_takes_no_time() -> None:
    # As the normal distribution has it, corrected for continuity: z = 999 / 707.1.
    assert PairedDifference(0, 250_500, 249_500, 500_000).p == pytest.approx(0.157715, abs=1e-6)
    assert PairedDifference(0, 300_000, 200_000, 500_000).p < 1e-300


@pytest.mark.parametrize(
    ("runs", "value", "deviation", "margin"),
    [
        ([0.5], 0.5, None, None),
        ([0.5, 0.7], 0.6, 0.141421, 1.270620),  # t(1) = 12.706
        ([0.60, 0.62, 0.61, 0.63, 0.59], 0.61, 0.015811, 0.019632),  # t(4) = 2.776
        ([0.4] * 3, 0.4, 0.0, 0.0),
        ([n / 20 for n in range(21)], 0.5, 0.310242, 0.141221),  # t(20) = 2.086
    ],
)
def test_several_seeds(
    runs: list[float], value: float, deviation: float | None, margin: float | None
) -> None:
    found = over_seeds(runs)
    assert (found.value, found.runs) == (pytest.approx(value), len(runs))
    if deviation is None or margin is None:
        assert (found.deviation, found.low, found.high) == (None, None, None)
        return
    assert found.deviation == pytest.approx(deviation, abs=1e-5)
    assert (found.low, found.high) == pytest.approx((value - margin, value + margin), abs=1e-4)


def test_no_run_has_no_mean() -> None:
    with pytest.raises(ValueError, match="no runs"):
        over_seeds([])


def test_the_area_under_the_curve_counts_pairs() -> None:
    draw = np.random.default_rng(4)
    scores, labels = draw.random(300).round(1), (draw.random(300) < 0.4).astype(float)
    good, bad = scores[labels == 1], scores[labels == 0]
    wins = sum((one > other) + (one == other) / 2 for one in good for other in bad)
    assert auroc(scores, labels) == pytest.approx(wins / len(good) / len(bad))
    assert np.isnan(auroc(scores, np.ones(300)))
    assert auroc(np.arange(100_000.0), (np.arange(100_000) > 500).astype(float)) == 1.0
