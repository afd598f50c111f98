"""The protocol of a family of figures, and shares by a name."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from typing import ClassVar, Protocol

from sqlwright.lab.evaluation.intervals import Share, ratio_interval
from sqlwright.lab.evaluation.records import Record


class Family(Protocol):
    """Takes each record once and keeps what its figures need, never the record."""

    of_all: ClassVar[bool] = False
    """True if it is told of questions whose gold query doesn't run, too."""

    def __init__(self) -> None: ...

    def add(self, record: Record, right: bool) -> None:
        """Take a record in, which is right or not by the rule of the run."""

    def result(self) -> dict[str, object]:
        """The figures as plain data, by their keys in the report."""


class Tally:
    """Shares of right answers by whatever questions are told apart by."""

    def __init__(self) -> None:
        self._counts: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])

    def add(self, name: str, hit: bool) -> None:
        """Count a question under a name."""
        counts = self._counts[name]
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


def share_of(units: Counter[tuple[int, int]]) -> dict[str, float]:
    """The share over all questions, of which `units` counts those with the same hits and total; its
    interval draws questions."""
    share = Share(
        sum(hits * times for (hits, _), times in units.items()),
        sum(total * times for (_, total), times in units.items()),
    ).as_dict()
    low, high = ratio_interval(units) or (0.0, 1.0)
    return share | {"low": low, "high": high}
