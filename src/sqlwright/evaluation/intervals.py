"""Shares, and differences between shares of the same questions, with their uncertainty."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, sqrt


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
        z, n, p = 1.959964, self.total, self.value
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
