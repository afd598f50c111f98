"""Bounds of what selection can reach with the candidates at hand, and how near it came."""

from __future__ import annotations

from collections import Counter
from math import comb

from sqlwright.lab.evaluation.figures.family import Family
from sqlwright.lab.evaluation.intervals import Sample, Share, ratio_interval
from sqlwright.lab.evaluation.records import Record

AT = (1, 2, 3, 5, 10, 20, 50, 100)
"""Numbers of candidates at which pass@k is told, up to the most that a question has; chosen."""
MOST_ROWS = 32
"""Sets of sources that are told at most, the most frequent ones; chosen."""


class Candidates(Family):
    """Figures of all candidates of a question, in place of the chosen one."""

    def __init__(self) -> None:
        self._total = self._right = self._first = self._oracle = 0
        self._outcomes: Counter[tuple[int, int, bool]] = Counter()
        """Questions by candidates, right candidates, and a right answer."""
        self._sources: Counter[frozenset[str]] = Counter()

    def add(self, record: Record, right: bool) -> None:
        self._total += 1
        self._right += right
        self._first += record.first
        self._oracle += record.oracle
        good = [source for source, agrees in record.judged if agrees]
        self._outcomes[len(record.judged), len(good), right] += 1
        if good:
            self._sources[frozenset(good)] += 1

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
                "pass_at": self._pass_at(),
            },
            "selection": self._selection(),
            "gap_share": (self._right - self._first) / beyond if beyond else None,
            "generators": [
                {"sources": sorted(sources), "questions": n} for sources, n in ranked[:MOST_ROWS]
            ],
        }

    def _pass_at(self) -> dict[str, dict[str, float]]:
        """Probability that of k candidates drawn without replacement one is right, by the unbiased
        estimator of Chen et al. (2021); of a question with fewer than k, that any is. 0 without a
        candidate."""
        most = max((of for of, _, _ in self._outcomes), default=0)
        found = {}
        for k in AT:
            if k > most:
                break
            chances: Counter[float] = Counter()
            for (of, good, _), times in self._outcomes.items():
                chances[pass_at(k, of, good)] += times
            mean = Sample.counted(chances).mean()
            if mean is not None:
                found[str(k)] = mean.as_dict()
        return found

    def _selection(self) -> dict[str, object]:
        """Over questions with a right and a wrong candidate. `questions`: those whose answer is
        right. `pairs`: over all pairs of a right and a wrong candidate of one question, those in
        which the answer goes with the right one, that is, is right itself; so a question counts as
        often as it has pairs, and the interval draws questions, not pairs."""
        mixed = {key: n for key, n in self._outcomes.items() if 0 < key[1] < key[0]}
        units: Counter[tuple[int, int]] = Counter()
        for (of, good, right), times in mixed.items():
            pairs = good * (of - good)
            units[pairs * right, pairs] += times
        share = Share(
            sum(hits * times for (hits, _), times in units.items()),
            sum(total * times for (_, total), times in units.items()),
        )
        low, high = ratio_interval(units) or (0.0, 1.0)
        right_ones = sum(n for (_, _, right), n in mixed.items() if right)
        return {
            "pairs": share.as_dict() | {"low": low, "high": high},
            "questions": Share(right_ones, sum(mixed.values())).as_dict(),
        }


def pass_at(k: int, candidates: int, right: int) -> float:
    """Probability that one of k candidates is right, drawn of so many."""
    if not right:
        return 0.0
    k = min(k, candidates)
    return 1.0 - comb(candidates - right, k) / comb(candidates, k)
