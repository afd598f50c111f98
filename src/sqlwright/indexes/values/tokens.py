"""Words of a phrase as the value index knows them: their postings, and the tokens like them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import OSA
from rapidfuzz.process import cdist

from sqlwright.english.words import singular
from sqlwright.indexes.values import hashing
from sqlwright.indexes.values.arrays import (
    LONGEST_FUZZY,
    SHORTEST_FUZZY,
    TOKEN_BYTES,
    gram_hashes,
)
from sqlwright.indexes.values.reader import ArrayReader, Ids, distinct_first, joined

Floats = npt.NDArray[np.float32]

# What one token may cost.
VARIANT_POSTINGS = 20_000
GRAM_POSTINGS = 40_000
"""Postings of trigrams read for one misspelt word at most."""
VARIANTS = 25
"""Spellings of one word at most."""
GRAM_CANDIDATES = 120
"""Words whose edit distance is computed for one word at most."""
SHORTEST_PLURAL = 5
"""Characters from which a word that no value has stands for its singular: `texs` may be Texas."""
_LONGER = float(np.float32(0.85))
"""Least likeness of a word that starts with the phrase's."""


@dataclass(frozen=True, slots=True)
class Variants:
    """Values that contain a token like the phrase's, and how much of it each then covers."""

    values: Ids
    weights: Floats | float
    """Weight of each value, or the one that all have."""


_NOTHING = np.empty(0, np.int64)
_NO_VARIANTS = Variants(_NOTHING, 0.0)


@dataclass(slots=True)
class PhraseToken:
    """A word of a phrase: its number in the vocabulary (-1 when unknown) and its postings.

    A plural that no value has stands for its singular.
    """

    text: str
    number: int
    stored: bool
    """True if some value has the word itself."""
    postings: Ids
    count: int
    """Number of the postings."""
    idf: float
    _close: list[int] | None = None
    _near: Variants | None = None
    _far: Variants | None = None

    @classmethod
    def look_up(cls, text: str, reader: ArrayReader) -> PhraseToken:
        number = reader.token_number(text.encode("utf-8", "surrogatepass")[:TOKEN_BYTES])
        stored = number >= 0
        if not stored and len(text) >= SHORTEST_PLURAL:
            number = _number_of_singular(text, reader)
        postings = _NOTHING if number < 0 else reader.postings(number)
        count = len(postings)
        idf = math.log(1 + reader.size / (count or 1))
        return cls(text, number, stored, postings, count, idf)

    def holds(self, values: Ids) -> npt.NDArray[np.bool_]:
        """True for each of the values that contains this very token."""
        if not self.count:
            return np.zeros(len(values), bool)
        # Of one type, or the postings would be converted each time.
        at = self.postings.searchsorted(values.astype(self.postings.dtype))
        found: npt.NDArray[np.bool_] = self.postings.take(at, mode="clip") == values
        return found

    def singular(self, reader: ArrayReader) -> Variants:
        """Values with the token in the singular."""
        if self.count and not self.stored:
            return _NO_VARIANTS
        number = _number_of_singular(self.text, reader)
        return self._variants([number] if number >= 0 else [], 0.0, reader)

    def near(self, reader: ArrayReader) -> Variants:
        """Values with a token that is one edit away."""
        if self._near is None:
            self._near = self._variants(self._one_edit_away(reader), 0.6, reader)
        return self._near

    def far(self, reader: ArrayReader) -> Variants:
        """Values with a token that shares trigrams with this one or starts with it."""
        if self._far is None:
            numbers: list[int] = []
            if self._fuzzable:
                close = set(self._one_edit_away(reader))
                numbers = [n for n in _by_grams(self.text, reader) if n not in close]
            self._far = self._variants(numbers, 0.5, reader)
        return self._far

    @property
    def _fuzzable(self) -> bool:
        return SHORTEST_FUZZY <= len(self.text) <= LONGEST_FUZZY and not self.text.isdigit()

    def _one_edit_away(self, reader: ArrayReader) -> list[int]:
        """Numbers of the tokens whose hash, or that of a deletion, is among this one's."""
        if self._close is None:
            self._close = []
            if self._fuzzable:
                hashes = hashing.deletion_hashes([ord(char) for char in self.text])
                self._close = sorted(reader.members("edit", hashes))
        return self._close

    def _variants(self, numbers: Sequence[int], least: float, reader: ArrayReader) -> Variants:
        """Values of the most similar tokens; the weight is the square of the likeness."""
        if not numbers:
            return _NO_VARIANTS
        texts = reader.tokens(numbers)
        found = cdist([self.text], texts, scorer=OSA.normalized_similarity)[0].tolist()
        likest = [
            (-max(likeness, _LONGER) if text.startswith(self.text) else -likeness, number)
            for number, likeness, text in zip(numbers, found, texts, strict=True)
            if likeness >= least or text.startswith(self.text)
        ]
        parts, weights, budget = [], [], VARIANT_POSTINGS
        for distance, number in sorted(likest)[:VARIANTS]:
            part = reader.postings(number)
            if len(part) <= budget and number != self.number:
                budget -= len(part)
                parts.append(part)
                weights.append(distance**2)
        if not parts:
            return _NO_VARIANTS
        if len(parts) == 1:
            return Variants(parts[0].astype(np.int64), weights[0])
        weight = np.repeat(np.array(weights, np.float32), [len(part) for part in parts])
        values, first = distinct_first(joined(parts))  # the first is the likest
        return Variants(values, weight[first])


def _number_of_singular(plural: str, reader: ArrayReader) -> int:
    """Number of the token that a word is the plural of; -1 when there is none."""
    one = singular(plural)
    return -1 if one == plural else reader.token_number(one.encode("utf-8", "surrogatepass"))


def _by_grams(text: str, reader: ArrayReader) -> list[int]:
    """Numbers of the tokens that share most trigrams with a text, and of those it begins."""
    points = np.array([32, *map(ord, text), 32], np.uint32)
    hashes = gram_hashes(points[:-2], points[1:-1], points[2:]).tolist()
    parts = sorted((reader.bucket("gram", hashed) for hashed in hashes), key=len)
    used, budget = parts[:1], GRAM_POSTINGS
    for part in parts[1:]:
        budget -= len(part)
        if budget < 0:
            break
        used.append(part)
    numbers, counts = np.unique(np.concatenate(used), return_counts=True)
    if len(numbers) > GRAM_CANDIDATES:
        best = np.argpartition(-counts, GRAM_CANDIDATES)[:GRAM_CANDIDATES]
        numbers = numbers[best]
    low, high = reader.tokens_from(text.encode("utf-8", "surrogatepass"))
    return sorted({*numbers.tolist(), *range(low, min(high, low + GRAM_CANDIDATES))})
