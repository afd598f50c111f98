"""Likeness of a question's wording to the questions that the embedded models learnt from.

A table of which word follows which in those questions, whatever they ask about: words that only
some databases' questions use count as one. The measure is how much the next word surprises, on
average.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

UNLIKE = "unlike"
"""Measure: how much the next word surprises, in nats a word."""
FAR = "far"
"""Measure: how much of that is more than nine of ten training questions have."""
COMMON = 0.1
"""Part of the databases in whose questions a word stands that is told apart; chosen."""
SMOOTHED = 5.0
"""Questions' worth of the plain frequency of words in each row of the table; chosen."""

_TOKEN = re.compile(r"[a-z]+|\d+|[^\sa-z\d]")
_BEGIN, _END, _NUMBER, _OTHER = "<", ">", "0", "#"


@dataclass(frozen=True)
class Wording:
    """Counts of words that follow each other. Safe to share between threads."""

    words: tuple[str, ...]
    """Those told apart."""
    following: Mapping[str, Mapping[str, int]]
    usual: float
    """The measure that nine of ten training questions stay below."""

    @classmethod
    def of(cls, questions: Iterable[tuple[str, str]]) -> Wording:
        """From questions, each with its database."""
        asked = list(questions)
        holding: defaultdict[str, set[str]] = defaultdict(set)
        for text, database in asked:
            for token in _tokens(text):
                holding[token].add(database)
        least = COMMON * len({database for _, database in asked})
        words = tuple(sorted(w for w, by in holding.items() if len(by) >= least))
        found = cls(words, {}, 0.0)
        rows: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for text, _ in asked:
            for before, after in pairwise(found.masked(text)):
                rows[before][after] += 1
        counted = cls(words, {word: dict(row) for word, row in rows.items()}, 0.0)
        usual = float(np.quantile([counted.surprise(text) for text, _ in asked], 0.9))
        return cls(words, counted.following, usual)

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Wording:
        """From JSON as `to_data` writes it. Raises KeyError, TypeError or ValueError."""
        words = tuple(str(word) for word in data["words"])
        names = (*words, _BEGIN, _END, _NUMBER, _OTHER)
        following = {
            names[int(place)]: {names[int(n)]: int(count) for n, count in row}
            for place, row in data["following"]
        }
        return cls(words, following, float(data["usual"]))

    def to_data(self) -> dict[str, Any]:
        """As JSON types."""
        names = (*self.words, _BEGIN, _END, _NUMBER, _OTHER)
        places = {name: place for place, name in reversed(list(enumerate(names)))}
        following = [
            [places[before], [[places[after], count] for after, count in row.items()]]
            for before, row in self.following.items()
        ]
        return {"words": list(self.words), "usual": round(self.usual, 4), "following": following}

    def measures(self, question: str) -> dict[str, float]:
        """UNLIKE and FAR of a question."""
        surprise = self.surprise(question)
        return {UNLIKE: surprise, FAR: max(surprise - self.usual, 0.0)}

    def surprise(self, question: str) -> float:
        """Surprise at the next word on average, in nats; 0 of a question without words."""
        found = [self._surprise(*pair) for pair in pairwise(self.masked(question))]
        return float(np.mean(found)) if len(found) > 1 else 0.0

    def masked(self, question: str) -> list[str]:
        """The words with a mark at each end, numbers and uncommon words as one each."""
        inside = [
            _NUMBER if token.isdigit() else token if token in self._known else _OTHER
            for token in _tokens(question)
        ]
        return [_BEGIN, *inside, _END]

    def _surprise(self, before: str, after: str) -> float:
        row = self.following.get(before, {})
        share = self._frequency.get(after, 0.5) / self._total
        return -math.log(
            (row.get(after, 0) + SMOOTHED * share) / (self._rows.get(before, 0) + SMOOTHED)
        )

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.words)

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {before: sum(row.values()) for before, row in self.following.items()}

    @cached_property
    def _frequency(self) -> Counter[str]:
        total: Counter[str] = Counter()
        for row in self.following.values():
            total.update(row)
        return total

    @cached_property
    def _total(self) -> float:
        return float(max(self._frequency.total(), 1))


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text.lower())
