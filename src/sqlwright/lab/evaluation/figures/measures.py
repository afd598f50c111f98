"""Means of the metrics of each answer, and shares of its tiers."""

from __future__ import annotations

from array import array
from typing import ClassVar

import numpy as np

from sqlwright.lab.evaluation.figures.family import Given
from sqlwright.lab.evaluation.intervals import Sample, Share
from sqlwright.lab.evaluation.records import Record

TIER = "tier:"
"""The beginning of the name of a metric that an answer reaches or doesn't."""


class Measures:
    """Each metric over the questions that it applies to."""

    of_all: ClassVar[bool] = False

    def __init__(self, given: Given) -> None:
        del given
        self._values: dict[str, array[float]] = {}

    def add(self, record: Record, right: bool) -> None:
        """Take a record in."""
        del right
        for name, value in record.measures.items():
            if value is None:
                continue
            values = self._values.get(name)
            if values is None:
                values = self._values[name] = array("d")
            values.append(value)

    def result(self) -> dict[str, object]:
        """The means and shares. What is no number applies to nothing."""
        measures, tiers = {}, {}
        for name, values in sorted(self._values.items()):
            numbers = np.frombuffer(values, dtype=np.float64)
            numbers = numbers[np.isfinite(numbers)]
            mean = Sample.of(numbers).mean()
            if name.startswith(TIER):
                reached = int((numbers > 0).sum())
                tiers[name.removeprefix(TIER)] = Share(reached, len(numbers)).as_dict()
            elif mean is not None:
                measures[name] = mean.as_dict()
        return {"measures": measures, "tiers": tiers}
