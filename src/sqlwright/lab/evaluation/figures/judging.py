"""Judges of candidates: how often they choose the right one, and whether its place counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from sqlwright.lab.evaluation.figures.family import Family, share_of
from sqlwright.lab.evaluation.records import Record

Seen = tuple[Sequence[int], Sequence[float]]
"""The candidates that were shown, by their places, and the part of the vote of each."""


class Judging(Family):
    """Of what a judge saw at once, with a right and a wrong query in it: how often a right one has
    more of the vote than every wrong one. `pairs` are those of two queries, each order by itself
    (CHASE-SQL's table 5); `choices` those of any number.

    Of pairs that were shown in both orders: `orders_agree`, how often both choose the same query,
    and `first_shown`, how often the one shown first is chosen (a half where its place doesn't
    count). A tie chooses none. Intervals draw questions. Empty without a judge.
    """

    def __init__(self) -> None:
        self._counts: dict[str, Counter[tuple[int, int]]] = {
            name: Counter() for name in ("pairs", "choices", "orders_agree", "first_shown")
        }
        """By the figure, numbers of questions with the same hits and total."""
        self._asked = self._lost = 0

    def add(self, record: Record, right: bool) -> None:
        del right
        several = [(shown, votes) for _, shown, votes in record.judgements if len(shown) > 1]
        seen = [(shown, votes) for shown, votes in several if votes]
        self._asked += len(several)
        self._lost += len(several) - len(seen)
        good = [agrees for _, agrees in record.judged]
        mixed = [one for one in seen if 0 < sum(good[place] for place in one[0]) < len(one[0])]
        both = list(_both_orders(seen))
        for name, hits in {
            "pairs": [_chose_right(one, good) for one in mixed if len(one[0]) == 2],
            "choices": [_chose_right(one, good) for one in mixed],
            "orders_agree": [_ahead(one) == -_ahead(other) for one, other in both],
            "first_shown": [_ahead(one) > 0 for pair in both for one in pair],
        }.items():
            if hits:
                self._counts[name][sum(hits), len(hits)] += 1

    def result(self) -> dict[str, object]:
        if not self._asked:
            return {"judging": {}}
        told: dict[str, object] = {"asked": self._asked, "lost": self._lost}
        return {"judging": told | {name: share_of(n) for name, n in self._counts.items()}}


def _chose_right(seen: Seen, good: Sequence[bool]) -> bool:
    of: dict[bool, float] = {True: 0.0, False: 0.0}
    for place, vote in zip(*seen, strict=True):
        of[good[place]] = max(of[good[place]], vote)
    return of[True] > of[False]


def _both_orders(seen: Iterable[Seen]) -> Iterator[tuple[Seen, Seen]]:
    """Judgements of two queries, each with that of the other order."""
    waiting: dict[tuple[int, ...], Seen] = {}
    for one in seen:
        shown = tuple(one[0])
        if len(shown) == 2 and (other := waiting.pop(shown[::-1], None)):
            yield other, one
        elif len(shown) == 2:
            waiting[shown] = one


def _ahead(seen: Seen) -> int:
    """1 if the first of two has more of the vote, -1 if the second has."""
    first, second = seen[1]
    return (first > second) - (first < second)
