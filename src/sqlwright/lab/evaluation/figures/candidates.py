"""Bounds of what selection can reach with the candidates at hand, and how near it came."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from math import comb

from sqlwright.lab.evaluation.figures.family import Family
from sqlwright.lab.evaluation.intervals import Sample, Share
from sqlwright.lab.evaluation.records import Record

AT = (1, 2, 3, 5, 10, 20, 50, 100)
"""Numbers of candidates at which pass@k is told, up to the most that a question has; chosen."""
MOST_ROWS = 32
"""Sets of writers, and writers, that are told at most, the most frequent ones; chosen."""

Outcomes = Mapping[tuple[int, int], int]
"""Questions by their candidates and the right ones of these."""


class Candidates(Family):
    """Figures of all candidates of a question, in place of the chosen one."""

    def __init__(self) -> None:
        self._total = self._right = self._first = self._oracle = 0
        self._outcomes: Counter[tuple[int, int, bool]] = Counter()
        """Questions by candidates, right candidates, and a right answer."""
        self._sources: Counter[frozenset[str]] = Counter()
        self._by_writer: defaultdict[str, Counter[tuple[int, int]]] = defaultdict(Counter)

    def add(self, record: Record, right: bool) -> None:
        self._total += 1
        self._right += right
        self._first += record.first
        self._oracle += record.oracle
        good = [source for source, agrees in record.judged if agrees]
        self._outcomes[len(record.judged), len(good), right] += 1
        if good:
            self._sources[frozenset(good)] += 1
        rights = Counter(good)
        for writer, written in Counter(writer for writer, _ in record.judged).items():
            self._by_writer[writer][written, rights[writer]] += 1

    def result(self) -> dict[str, object]:
        oracle = Share(self._oracle, self._total).as_dict()
        always = sum(n for (of, good, _), n in self._outcomes.items() if of == good > 0)
        beyond = self._oracle - self._first
        ranked = sorted(self._sources.items(), key=lambda item: (-item[1], sorted(item[0])))
        return {
            "first_candidate": Share(self._first, self._total).as_dict(),
            "oracle_over_candidates": oracle,
            "bounds": {
                "oracle": oracle,
                "adversary": Share(always, self._total).as_dict(),
                "pass_at": _pass_at(self._whole()),
            },
            "selection": self._selection(),
            "gap_share": (self._right - self._first) / beyond if beyond else None,
            "generators": [
                {"sources": sorted(sources), "questions": n} for sources, n in ranked[:MOST_ROWS]
            ],
            "by_generator": self._generators(),
        }

    def _whole(self) -> Outcomes:
        told: Counter[tuple[int, int]] = Counter()
        for (of, good, _), n in self._outcomes.items():
            told[of, good] += n
        return told

    def _generators(self) -> dict[str, dict[str, object]]:
        """Of each writer's candidates alone, over all questions: those with a right one, and
        pass@k."""
        ranked = sorted(self._by_writer, key=lambda one: (-self._by_writer[one].total(), one))
        told: dict[str, dict[str, object]] = {}
        for writer in ranked[:MOST_ROWS]:
            outcomes = self._by_writer[writer]
            outcomes[0, 0] += self._total - outcomes.total()
            right = sum(n for (_, good), n in outcomes.items() if good)
            told[writer] = {
                "candidates": sum(of * n for (of, _), n in outcomes.items()),
                "oracle": Share(right, self._total).as_dict(),
                "pass_at": _pass_at(outcomes),
            }
        return told

    def _selection(self) -> dict[str, object]:
        """Over questions with a right and a wrong candidate: those whose answer is right."""
        mixed = {key: n for key, n in self._outcomes.items() if 0 < key[1] < key[0]}
        right_ones = sum(n for (_, _, right), n in mixed.items() if right)
        return {"questions": Share(right_ones, sum(mixed.values())).as_dict()}


def pass_at(k: int, candidates: int, right: int) -> float:
    """Probability that one of k candidates is right, drawn of so many."""
    if not right:
        return 0.0
    k = min(k, candidates)
    return 1.0 - comb(candidates - right, k) / comb(candidates, k)


def _pass_at(outcomes: Outcomes) -> dict[str, dict[str, float]]:
    """Probability that of k candidates drawn without replacement one is right, by the unbiased
    estimator of Chen et al. (2021); of a question with fewer than k, that any is. 0 without a
    candidate."""
    most = max((of for of, _ in outcomes), default=0)
    found = {}
    for k in (k for k in AT if k <= most):
        chances: Counter[float] = Counter()
        for (of, good), times in outcomes.items():
            chances[pass_at(k, of, good)] += times
        mean = Sample.counted(chances).mean()
        if mean is not None:
            found[str(k)] = mean.as_dict()
    return found
