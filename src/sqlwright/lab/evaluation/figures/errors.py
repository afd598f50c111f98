"""Figures about a run's wrong answers: classes, and where the first wrong thing came from."""

from __future__ import annotations

from collections import Counter, defaultdict

from sqlwright.lab.evaluation.error_classes.origins import CLASSES, ORIGINS
from sqlwright.lab.evaluation.figures.family import Family
from sqlwright.lab.evaluation.intervals import Share
from sqlwright.lab.evaluation.records import Record

SPLIT = ("right", "not_chosen", "none_right", "gold_doubtful")
"""CHASE-SQL's figure 5. A doubtful gold query goes before all else."""


class Errors(Family):
    """Classes and origins of wrong answers.

    Classes and origins are shares of the wrong answers; the split is of all questions, those whose
    gold query doesn't run included.
    """

    of_all = True

    def __init__(self) -> None:
        self._total = self._wrong = 0
        self._splits: Counter[str] = Counter()
        self._main: Counter[str] = Counter()
        self._any: Counter[str] = Counter()
        self._origins: Counter[tuple[str, str]] = Counter()
        self._kinds: dict[str, Counter[str]] = defaultdict(Counter)

    def add(self, record: Record, right: bool) -> None:
        self._total += 1
        self._splits[_split(record, right)] += 1
        if right or record.status == "gold":
            return
        self._wrong += 1
        main = main_class(record)
        kind = record.origin.get("kind", "")
        self._main[main] += 1
        for name in {main, *code_classes(record)}:
            self._any[name] += 1
        self._origins[kind, record.origin.get("step", "")] += 1
        self._kinds[main][kind] += 1

    def result(self) -> dict[str, object]:
        wrong = self._wrong
        told = {
            "wrong": wrong,
            "split": {name: _share(self._splits[name], self._total) for name in SPLIT},
            "classes": {
                name: {
                    "main": _share(self._main[name], wrong),
                    "any": _share(self._any[name], wrong),
                }
                for name in CLASSES
                if self._any[name]
            },
            "origins": [
                {"kind": kind, "step": step, **_share(self._origins[kind, step], wrong)}
                for kind, step in sorted(self._origins, key=_place)
            ],
            "origins_by_class": {
                name: {kind: self._kinds[name][kind] for kind in ORIGINS if self._kinds[name][kind]}
                for name in CLASSES
                if self._main[name]
            },
        }
        return {"errors": told}


def main_class(record: Record) -> str:
    """The main class that code gives a wrong answer; `unclear` where it gave none."""
    return next(iter(code_classes(record)), "unclear")


def code_classes(record: Record) -> list[str]:
    """The classes that code gives a wrong answer, the main one first, each once."""
    return list(dict.fromkeys(one["class"] for one in record.errors or ()))


def _split(record: Record, right: bool) -> str:
    if record.status == "gold" or record.origin.get("kind") == "gold":
        return "gold_doubtful"
    if right:
        return "right"
    return "not_chosen" if record.oracle else "none_right"


def _place(key: tuple[str, str]) -> tuple[int, str]:
    names: list[str] = list(ORIGINS)
    return (names.index(key[0]) if key[0] in names else len(names), key[1])


def _share(hits: int, total: int) -> dict[str, float]:
    return Share(hits, total).as_dict()
