"""The wrong answers by class and origin, as one family of figures."""

from __future__ import annotations

from typing import ClassVar

from sqlwright.lab.evaluation.error_classes.figures import WrongAnswers
from sqlwright.lab.evaluation.figures.family import Given
from sqlwright.lab.evaluation.records import Record


class Errors:
    """Classes and origins of wrong answers, by code."""

    of_all: ClassVar[bool] = True

    def __init__(self, given: Given) -> None:
        self._wrong = WrongAnswers(given.rule)

    def add(self, record: Record, right: bool) -> None:
        """Take a record in."""
        del right
        self._wrong.add(record)

    def result(self) -> dict[str, object]:
        """The figures."""
        return {"errors": self._wrong.figures()}
