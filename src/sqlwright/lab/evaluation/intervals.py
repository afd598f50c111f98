"""Shares and means, and differences over the same questions, with their uncertainty.

Every interval is one of 95 %. What is drawn anew (the bootstrap) is drawn from counts of equal
values, so that a million questions cost no more than a thousand, and from a fixed seed, so that the
same records give the same interval.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import comb, exp, lgamma, log, sqrt
from statistics import fmean, stdev

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

DRAWS = 1_000
"""Times that questions are drawn anew for an interval; chosen."""
DISTINCT = 1_000
"""Different values up to which counts are kept and drawn from; chosen. Of more, which takes more
questions than that, the mean is taken to be normally distributed, as the central limit theorem has
it."""
SEED = 1
"""The seed of every drawing; chosen."""
Z = 1.959964
"""The normal distribution's 97.5th percentile."""


@dataclass(frozen=True, slots=True)
class Share:
    """`hits` of `total`, with a 95 % interval."""

    hits: int
    total: int

    @property
    def value(self) -> float:
        return self.hits / self.total if self.total else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """The Wilson score interval (1927): sound for small counts and shares near 0 or 1."""
        if not self.total:
            return (0.0, 1.0)
        z, n, p = Z, self.total, self.value
        center = (p + z * z / (2 * n)) / (1 + z * z / n)
        margin = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return (max(0.0, center - margin), min(1.0, center + margin))

    def as_dict(self) -> dict[str, float]:
        """The share as plain data."""
        low, high = self.interval
        return {
            "value": self.value,
            "low": low,
            "high": high,
            "hits": self.hits,
            "total": self.total,
        }

    def __str__(self) -> str:
        low, high = self.interval
        share = f"{100 * self.value:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"
        return f"{share} ({self.hits}/{self.total})"


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """Two runs over the same questions, the second against the first."""

    both: int
    """Questions that both have right."""
    gained: int
    """Questions that only the second has right."""
    lost: int
    """Questions that only the first has right."""
    neither: int

    @staticmethod
    def of(verdicts: Sequence[tuple[bool, bool]]) -> PairedDifference:
        """The counts of questions, each right or not in the first run and in the second."""
        both, gained, lost, neither = map(
            verdicts.count, ((True, True), (False, True), (True, False), (False, False))
        )
        return PairedDifference(both, gained, lost, neither)

    def as_dict(self) -> dict[str, float]:
        """Counts, difference, interval and p as plain data."""
        low, high = self.interval
        return asdict(self) | {"value": self.value, "low": low, "high": high, "p": self.p}

    @property
    def total(self) -> int:
        return self.both + self.gained + self.lost + self.neither

    @property
    def value(self) -> float:
        """The second's share less the first's."""
        return (self.gained - self.lost) / self.total if self.total else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """95 %, by Newcombe's method 10 (1998) for paired shares: their Wilson intervals, joined by
        the correlation of the two."""
        if not self.total:
            return (-1.0, 1.0)
        second = Share(self.both + self.gained, self.total)
        first = Share(self.both + self.lost, self.total)
        below = (second.value - second.interval[0], first.interval[1] - first.value)
        above = (second.interval[1] - second.value, first.value - first.interval[0])
        return (
            self.value - _joined(*below, self._correlation),
            self.value + _joined(*above, self._correlation),
        )

    @property
    def p(self) -> float:
        """Probability of so uneven a split of the questions that differ, if neither run were
        better: McNemar's exact test, two-sided."""
        differing, fewer = self.gained + self.lost, min(self.gained, self.lost)
        if differing > 1_000:  # whole numbers of so many digits take minutes
            return min(1.0, 2 * _binomial_tail(differing, fewer))
        tail = sum(comb(differing, k) for k in range(fewer + 1))
        return min(1.0, 2 * tail / (1 << differing))

    @property
    def _correlation(self) -> float:
        margins = (self.both + self.gained) * (self.lost + self.neither)
        margins *= (self.both + self.lost) * (self.gained + self.neither)
        if not margins:
            return 0.0
        product = float(self.both * self.neither - self.gained * self.lost)
        if product > 0:
            product = max(0.0, product - self.total / 2)  # continuity
        return product / sqrt(margins)


def _joined(one: float, other: float, correlation: float) -> float:
    return sqrt(max(0.0, one * one - 2 * correlation * one * other + other * other))


def _binomial_tail(n: int, most: int) -> float:
    """Probability of at most so many heads in n throws of a fair coin."""
    term = exp(lgamma(n + 1) - lgamma(most + 1) - lgamma(n - most + 1) - n * log(2))
    tail = 0.0
    for k in range(most, -1, -1):
        tail += term
        term *= k / (n - k + 1)
        if term < tail * 1e-17:
            break
    return tail


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean with its interval by drawing the questions anew."""

    value: float
    low: float
    high: float
    total: int
    """Questions it is taken over."""

    def as_dict(self) -> dict[str, float]:
        """The mean as plain data."""
        return asdict(self)


class Sample:
    """Numbers of which the mean is wanted: each different value with its count, or of too many
    different ones mean and variance alone."""

    def __init__(self, values: Floats, counts: Counts) -> None:
        self.total = int(counts.sum())
        self._values, self._counts = values, counts

    @classmethod
    def of(cls, numbers: Sequence[float] | Floats) -> Sample:
        """The sample of these numbers."""
        values, counts = np.unique(np.asarray(numbers, dtype=np.float64), return_counts=True)
        return cls(values, counts)

    @classmethod
    def counted(cls, counts: Mapping[float, int]) -> Sample:
        """The sample of numbers that are counted already."""
        values = sorted(value for value, count in counts.items() if count)
        each = [counts[value] for value in values]
        return cls(np.array(values, dtype=np.float64), np.array(each, dtype=np.int64))

    @property
    def value(self) -> float:
        """The mean alone; 0 of nothing."""
        return float(self._counts @ self._values / self.total) if self.total else 0.0

    def mean(self) -> Mean | None:
        """The mean; None of nothing."""
        if not self.total:
            return None
        low, high = np.quantile(self.drawn(), [0.025, 0.975])
        return Mean(self.value, float(low), float(high), self.total)

    def drawn(self) -> Floats:
        """Means of samples of the same size, drawn anew from this one."""
        draw = np.random.default_rng(SEED)
        if len(self._values) <= DISTINCT:
            return _resampled(self._counts, draw) @ self._values / self.total
        variance = float(self._counts @ (self._values - self.value) ** 2) / self.total
        return draw.normal(self.value, sqrt(variance / self.total), DRAWS)


def _resampled(counts: Counts, draw: np.random.Generator) -> Floats:
    """Counts of each value in samples of the same size drawn with replacement, one a row."""
    total = counts.sum()
    return draw.multinomial(total, counts / total, size=DRAWS).astype(np.float64)


def ratio_interval(units: Mapping[tuple[int, int], int]) -> tuple[float, float] | None:
    """The interval of all hits by all totals where whole units are drawn anew: databases with their
    questions, or questions with their pairs. None of fewer than three units, which say nothing of
    others.

    `units` counts the units by their hits and total. Of more than DISTINCT kinds the ratio is taken
    to be normally distributed, its variance that of the residuals (linearised).
    """
    kinds = sorted(units)
    counts = np.array([units[kind] for kind in kinds], dtype=np.int64)
    size = int(counts.sum())
    sides = np.array(kinds, dtype=np.float64).reshape(-1, 2)
    hits, totals = sides[:, 0], sides[:, 1]
    if size < 3 or not totals.any():
        return None
    draw = np.random.default_rng(SEED)
    if len(kinds) <= DISTINCT:
        drawn = _resampled(counts, draw)
        below = drawn @ totals
        ratios = (drawn @ hits)[below > 0] / below[below > 0]
    else:
        ratio = (counts @ hits) / (counts @ totals)
        squares = counts @ (hits - ratio * totals) ** 2
        error = sqrt(size / (size - 1) * squares) / (counts @ totals)
        ratios = draw.normal(ratio, error, DRAWS)
    low, high = np.quantile(ratios, [0.025, 0.975])
    return max(0.0, float(low)), min(1.0, float(high))


@dataclass(frozen=True, slots=True)
class OverSeeds:
    """A figure of several runs that differ in their seed alone."""

    value: float
    """Their mean."""
    deviation: float | None
    """Standard deviation between them (n - 1); None of one run."""
    low: float | None
    """Lower end of Student's t interval of the mean: of what other seeds would give on the same
    questions, not on others. None of one run."""
    high: float | None
    runs: int


STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
"""Student's t, 97.5th percentile, by degrees of freedom from 1."""


def over_seeds(runs: Sequence[float]) -> OverSeeds:
    """Mean, standard deviation and interval of one figure over runs with different seeds, each
    run's figure given. Raises ValueError without any."""
    if not runs:
        raise ValueError("no runs")
    mean = fmean(runs)
    if len(runs) == 1:
        return OverSeeds(mean, None, None, None, 1)
    deviation, free = stdev(runs), len(runs) - 1
    # Above the table: its expansion by Fisher and Cornish, here right to 0.001.
    t = STUDENT[free - 1] if free <= len(STUDENT) else Z + 2.3723 / free + 2.8225 / free**2
    margin = t * deviation / sqrt(len(runs))
    return OverSeeds(mean, deviation, mean - margin, mean + margin, len(runs))
