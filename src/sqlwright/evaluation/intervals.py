"""Shares with their uncertainty."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt


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

    def __str__(self) -> str:
        low, high = self.interval
        share = f"{100 * self.value:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"
        return f"{share} ({self.hits}/{self.total})"
