"""Work of a recipe's parts: retrieved values, made examples, repairs, unit tests, sub-questions."""

from __future__ import annotations

from collections import Counter, defaultdict

from sqlwright.lab.evaluation.figures.family import Family, share_of
from sqlwright.lab.evaluation.intervals import Sample
from sqlwright.lab.evaluation.records import Record


class Parts(Family):
    """By the name of a part's figure (`parts.parts_of`) its share over all questions for which the
    part had something to do; intervals draw questions. `sub_questions` is the mean number of parts
    that a question was taken into, itself included; None where none was."""

    def __init__(self) -> None:
        self._parts: defaultdict[str, Counter[tuple[int, int]]] = defaultdict(Counter)
        self._depths: Counter[float] = Counter()

    def add(self, record: Record, right: bool) -> None:
        del right
        for name, (hits, total) in record.parts.items():
            self._parts[name][hits, total] += 1
        if record.sub_questions:
            self._depths[record.sub_questions] += 1

    def result(self) -> dict[str, object]:
        mean = Sample.counted(self._depths).mean()
        return {
            "parts": {name: share_of(self._parts[name]) for name in sorted(self._parts)},
            "sub_questions": None if mean is None else mean.as_dict(),
        }
