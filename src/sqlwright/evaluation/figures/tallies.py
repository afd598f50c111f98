"""Hits and totals by a name."""

from __future__ import annotations

from collections import Counter

from sqlwright.evaluation.intervals import Share


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

    def shares(self) -> dict[str, dict[str, float]]:
        """The shares as plain data, by names in their order."""
        return {name: Share(*self._counts[name]).as_dict() for name in sorted(self._counts)}

    def units(self) -> Counter[tuple[int, int]]:
        """Numbers of names with the same hits and total."""
        return Counter((hits, total) for hits, total in self._counts.values())
