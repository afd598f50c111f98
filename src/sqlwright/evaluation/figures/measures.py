"""Means of the metrics of each answer, and shares of its tiers."""

from __future__ import annotations

from math import isfinite
from typing import ClassVar

from sqlwright.evaluation.figures.family import Given
from sqlwright.evaluation.figures.tallies import Tally
from sqlwright.evaluation.intervals import Sample
from sqlwright.evaluation.records import Record

TIER = "tier:"
"""The beginning of the name of a metric that an answer reaches or doesn't."""


class Measures:
    """Each metric over the questions that it applies to."""

    of_all: ClassVar[bool] = False

    def __init__(self, given: Given) -> None:
        del given
        self._samples: dict[str, Sample] = {}
        self._tiers = Tally()

    def add(self, record: Record, right: bool) -> None:
        """Take a record in."""
        del right
        for name, value in record.measures.items():
            if value is None or not isfinite(value):
                continue
            if name.startswith(TIER):
                self._tiers.add(name.removeprefix(TIER), value > 0)
                continue
            sample = self._samples.get(name)
            if sample is None:
                sample = self._samples[name] = Sample()
            sample.add(value)

    def result(self) -> dict[str, object]:
        """The means and shares."""
        means = {name: sample.mean() for name, sample in sorted(self._samples.items())}
        return {
            "measures": {name: mean.as_dict() for name, mean in means.items() if mean is not None},
            "tiers": self._tiers.shares(),
        }
