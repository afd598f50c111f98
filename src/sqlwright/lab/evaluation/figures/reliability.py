"""Reliability with a penalty for wrong answers, as TrustSQL scores it (arXiv 2403.15879)."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

from sqlwright.lab.evaluation.figures.family import Given
from sqlwright.lab.evaluation.intervals import Sample
from sqlwright.lab.evaluation.records import Record

PENALTIES: dict[str, float | None] = {"0": 0.0, "1": 1.0, "10": 10.0, "N": None}
"""Costs of a wrong answer, in right ones. N is the number of questions: one wrong answer outweighs
everything."""
UNANSWERABLE = ("answerable", "no")
"""The tag, and its value, of a question that the database can't answer: it is right to refuse."""


class Reliability:
    """The mean score of a question: 1 for a right answer and for none where there can't be one, 0
    for none where there is one, and less the penalty for a wrong answer, which any answer is to a
    question that has none."""

    of_all: ClassVar[bool] = False

    def __init__(self, given: Given) -> None:
        del given
        self._good = self._none = self._bad = 0

    def add(self, record: Record, right: bool) -> None:
        """Take a record in."""
        tag, value = UNANSWERABLE
        answerable = record.tags.get(tag) != value
        if record.status != "answered":
            self._good += not answerable
            self._none += answerable
        elif right and answerable:
            self._good += 1
        else:
            self._bad += 1

    def result(self) -> dict[str, object]:
        """The score by penalty; empty without questions."""
        questions = self._good + self._none + self._bad
        found: dict[str, object] = {}
        for name, penalty in PENALTIES.items():
            cost = float(questions) if penalty is None else penalty
            scores = Counter({1.0: self._good, 0.0: self._none})
            scores[-cost] += self._bad
            mean = Sample.counted(scores).mean()
            if mean is not None:
                found[name] = {"value": mean.value, "low": mean.low, "high": mean.high}
        return {"reliability": found}
