"""Questions and right answers: by the run's rule, by every rule and metric, by what tells
questions apart."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict

import numpy as np

from sqlwright.lab.evaluation.figures.family import Family, Tally
from sqlwright.lab.evaluation.grading import level_place
from sqlwright.lab.evaluation.intervals import Sample, Share, ratio_interval
from sqlwright.lab.evaluation.records import Record
from sqlwright.lab.evaluation.rules.rule import RULES

MOST_VALUES = 100
"""Values that a tag has at most for its breakdown to be told: one that names each question, such as
a number of its own, breaks nothing down; chosen."""


class Accuracy(Family):
    """The share of right answers over all questions."""

    def __init__(self) -> None:
        self._total = self._hits = self._full = self._full_hits = 0
        self._by_rule: Counter[str] = Counter()

    def add(self, record: Record, right: bool) -> None:
        self._total += 1
        self._hits += right
        if not record.gold_empty:
            self._full += 1
            self._full_hits += right
        for rule, agrees in record.verdicts.items():
            if agrees:
                self._by_rule[rule] += 1

    def result(self) -> dict[str, object]:
        return {
            "execution_accuracy": Share(self._hits, self._total).as_dict(),
            "execution_accuracy_gold_not_empty": Share(self._full_hits, self._full).as_dict(),
            "by_rule": {name: Share(self._by_rule[name], self._total).as_dict() for name in RULES},
        }


class Breakdowns(Family):
    """The share of right answers by difficulty, database, SQL feature of the gold query and tag."""

    def __init__(self) -> None:
        self._difficulty, self._database, self._feature = Tally(), Tally(), Tally()
        self._tags: defaultdict[str, Tally] = defaultdict(Tally)

    def add(self, record: Record, right: bool) -> None:
        self._database.add(record.db_id, right)
        if record.difficulty:
            self._difficulty.add(record.difficulty, right)
        for feature in record.features:
            self._feature.add(feature, right)
        for tag, value in record.tags.items():
            tally = self._tags[tag]
            if len(tally) <= MOST_VALUES:  # one more is kept, to know that there are too many
                tally.add(value, right)

    def result(self) -> dict[str, object]:
        """The shares, and the interval of all where whole databases are drawn anew: what other
        databases would give, which questions of the same ones say little of."""
        units = self._database.units()
        interval = ratio_interval(units)
        return {
            "clustered": None
            if interval is None
            else {"low": interval[0], "high": interval[1], "databases": units.total()},
            "by_difficulty": self._difficulty.shares(level_place),
            "by_database": self._database.shares(),
            "by_feature": self._feature.shares(),
            "by_tag": {
                tag: tally.shares()
                for tag, tally in sorted(self._tags.items())
                if len(tally) <= MOST_VALUES
            },
        }


TIER = "tier:"
"""The beginning of the name of a metric that an answer reaches or doesn't."""


class Measures(Family):
    """Each metric over the questions that it applies to."""

    def __init__(self) -> None:
        self._values: defaultdict[str, array[float]] = defaultdict(lambda: array("d"))

    def add(self, record: Record, right: bool) -> None:
        del right
        for name, value in record.measures.items():
            if value is not None:
                self._values[name].append(value)

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


class Questions(Family):
    """Questions, those that were left out, and the status of the others."""

    of_all = True

    def __init__(self) -> None:
        self._status: Counter[str] = Counter()
        self._empty = 0
        self._stood_in = [0, 0]

    def add(self, record: Record, right: bool) -> None:
        self._status[record.status] += 1
        if record.status == "gold":
            return
        self._empty += record.gold_empty
        if record.answered_by == "stand_in":
            self._stood_in[0] += right
            self._stood_in[1] += 1

    def result(self) -> dict[str, object]:
        return {
            "questions": self._status.total(),
            "gold_does_not_run": self._status["gold"],
            "gold_returns_nothing": self._empty,
            "status": {name: n for name, n in self._status.items() if name != "gold"},
            "stood_in": Share(*self._stood_in).as_dict(),
        }
