"""Numbers of questions: asked, left out, answered."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

from sqlwright.lab.evaluation.figures.family import Given
from sqlwright.lab.evaluation.intervals import Share
from sqlwright.lab.evaluation.records import Record


class Questions:
    """Questions, those that were left out, and the status of the others."""

    of_all: ClassVar[bool] = True

    def __init__(self, given: Given) -> None:
        self._given = given
        self._status: Counter[str] = Counter()
        self._empty = 0
        self._stood_in = [0, 0]

    def add(self, record: Record, right: bool) -> None:
        """Take a record in."""
        self._status[record.status] += 1
        if record.status == "gold":
            return
        self._empty += record.gold_empty
        if record.answered_by == "stand_in":
            self._stood_in[0] += right
            self._stood_in[1] += 1

    def result(self) -> dict[str, object]:
        """The numbers."""
        return {
            "rule": self._given.rule,
            "questions": self._status.total(),
            "gold_does_not_run": self._status["gold"],
            "gold_returns_nothing": self._empty,
            "skipped": {
                db_id: {"questions": count, "reason": reason}
                for db_id, (count, reason) in self._given.skipped.items()
            },
            "status": {name: n for name, n in self._status.items() if name != "gold"},
            "stood_in": Share(*self._stood_in).as_dict(),
        }
