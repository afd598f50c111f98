"""Hits and totals by a name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from sqlwright.lab.evaluation.intervals import Share


class Tally:
    """Shares of right answers by whatever questions are told apart by."""

    def __init__(self) -> None:
        self._counts: dict[str, list[int]] = {}

    def add(self, name: str, hit: bool) -> None:
        """Count a question under a name."""
        counts = self._counts.get(name)
        if counts is None:
            counts = self._counts[name] = [0, 0]
        counts[0] += hit
        counts[1] += 1

    def __len__(self) -> int:
        return len(self._counts)

    def shares(
        self, place: Callable[[str], tuple[int, str]] | None = None
    ) -> dict[str, dict[str, float]]:
        """The shares as plain data, by names in their order, or in that of their places."""
        names = sorted(self._counts, key=place) if place else sorted(self._counts)
        return {name: Share(*self._counts[name]).as_dict() for name in names}

    def units(self) -> Counter[tuple[int, int]]:
        """Numbers of names with the same hits and total."""
        return Counter((hits, total) for hits, total in self._counts.values())
