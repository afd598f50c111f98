"""Values by the longest common substring with a text, which may be a whole question.

MAG-SQL, section 3.1.3 (value retrieval), whose matcher is that of BRIDGE: the longest common
block of value and text, in lower case, is widened in the text to whole words; the score is the
similarity of the value to that span; values start with the same character as the span. Stop words
never match; yes and no, and values in capitals, have to be the span as a whole. Only columns with
at most 2,000 distinct values take part.

The index holds, for each value, the pairs of neighbouring letters. A value as similar to a span as
the threshold has so many of them in the text; few values do, and those alone are compared.

Deviations: accents are folded as well as case; a fast partial-ratio pass leaves out values that
can't reach the threshold before the common block is looked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Any

import numpy as np
import numpy.typing as npt
from rapidfuzz import fuzz
from rapidfuzz.process import extract_iter

from sqlwright.english.vocabulary import STOP_WORDS
from sqlwright.indexes.derived import Holders
from sqlwright.indexes.folding import soften
from sqlwright.indexes.values.arrays import ColumnValues
from sqlwright.types import ValueMatch

Numbers = npt.NDArray[Any]

MOST_VALUES = 2_000
"""Distinct values of a column that takes part, at most, as published."""
CODES = 1 << 16
"""Numbers that stand for a pair of letters or a first letter; pairs that share one cost time."""
_WORD = re.compile(r"\w+")
_ANSWERS = frozenset({"yes", "no"})


class SubstringIndex:
    """The published value matcher, in memory."""

    def __init__(
        self,
        columns: Iterable[ColumnValues],
        *,
        threshold: float = 0.85,
        most_values: int = MOST_VALUES,
    ) -> None:
        kept = []
        for column in columns:
            values = list(column.values)
            if len(values) <= most_values:
                kept.append(ColumnValues(column.column, values))
        self._holders = Holders(kept)
        self._threshold = threshold
        pairs = [(text, soften(text)) for text in self._holders.texts]
        pairs = [pair for pair in pairs if pair[1] and pair[1] not in STOP_WORDS - _ANSWERS]
        self._texts = [text for text, _ in pairs]
        self._soft = [soft for _, soft in pairs]
        lengths = np.fromiter(map(len, self._soft), np.int64, len(pairs))
        self._starts = np.cumsum(lengths) - lengths
        self._codes = _codes("".join(self._soft), self._starts)
        self._needed = _needed(lengths, threshold)

    def search(self, phrase: str, k: int = 10, *, per_column: int = 3) -> list[ValueMatch]:
        """At most `k` matches, best first, at most `per_column` from any one column. The phrase of
        a match, and its span, are the part of `phrase` that it resembles."""
        text, places = _softened(phrase)
        if not text or k <= 0:
            return []
        words = [match.span() for match in _WORD.finditer(text)] or [(0, len(text))]
        scored: list[tuple[float, str]] = []
        spans: dict[str, tuple[int, int]] = {}
        for number in self._candidates(text):
            value, stored = self._soft[number], self._texts[number]
            score, start, end = _similarity(text, words, value)
            whole = value in _ANSWERS or stored.isupper()
            if score >= (1.0 if whole else self._threshold):
                scored.append((score, stored))
                spans[stored] = (places[start], places[end - 1] + 1)
        found = self._holders.matches(phrase, scored, k, per_column)
        return [
            replace(match, phrase=phrase[slice(*spans[match.value])], span=spans[match.value])
            for match in found
        ]

    def search_many(
        self, phrases: Sequence[str], k: int = 10, *, per_column: int = 3
    ) -> list[list[ValueMatch]]:
        """`search` for each phrase."""
        return [self.search(phrase, k, per_column=per_column) for phrase in phrases]

    def _candidates(self, text: str) -> Iterator[int]:
        """Numbers of the values that may be similar to a part of the text."""
        if not self._soft:
            return
        there = np.zeros(CODES, bool)
        there[_codes(text, np.zeros(1, np.int64))] = True
        there[_codes(text, np.arange(len(text)))] = True  # any of its letters may be a first one
        shared = np.add.reduceat(there[self._codes], self._starts, dtype=np.int32)
        numbers = np.flatnonzero(shared >= self._needed).tolist()
        # A span as similar as the threshold holds a part at least this similar.
        floor = 100 * (2 * self._threshold - 1)
        near = extract_iter(
            text,
            [self._soft[number] for number in numbers],
            scorer=fuzz.partial_ratio,
            processor=None,
            score_cutoff=floor,
        )
        for _, _, place in near:
            yield numbers[place]


def _codes(text: str, starts: Numbers) -> Numbers:
    """A number for each character: with the one before it, or at a start by itself."""
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint64)
    before = np.empty_like(points)
    before[1:] = points[:-1]
    before[starts] = 0
    mixed = (before * np.uint64(0x9E3779B1) + points) * np.uint64(0x85EBCA77)
    return np.asarray((mixed >> np.uint64(16)) % np.uint64(CODES), np.uint16)


def _needed(lengths: Numbers, threshold: float) -> Numbers:
    """Characters that values of these lengths share with a text at least, each with the one before
    it, where a part of the text is as similar as the threshold.

    Of n characters m are matched; similarity is 2m by the sum of both lengths, so at most
    2m (1 - t) / t are not. Those cut the matched ones into one piece more than they are, and each
    piece has one pair less than letters. The first character counts by itself.
    """
    gaps = 2 * (1 - threshold) / threshold if threshold > 0 else np.inf
    matched = np.ceil(lengths / (1 + gaps) - 1e-9)
    pieces = np.floor(np.minimum(matched * gaps, lengths) + 1e-9) + 1
    return np.asarray(np.maximum(matched - pieces, 0) + 1, np.int32)


def _softened(text: str) -> tuple[str, list[int]]:
    """The text as it is compared, and for each of its characters the place it comes from."""
    parts: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        if character.isspace():
            part = " " if parts and parts[-1] != " " else ""
        else:
            part = soften(character)
        if part:
            parts.append(part)
            places += [place] * len(part)
    if parts and parts[-1] == " ":
        parts.pop()
        places.pop()
    return "".join(parts), places


def _similarity(text: str, words: Sequence[tuple[int, int]], value: str) -> tuple[float, int, int]:
    """Likeness of `value` to the words of `text` that hold their longest common block, and where
    those begin and end."""
    block = SequenceMatcher(None, text, value, autojunk=False).find_longest_match()
    start, end = block.a, block.a + block.size
    for low, high in words:
        if low < end and start < high:
            start, end = min(start, low), max(end, high)
    span = text[start:end]
    if not span or span[0] != value[:1]:
        return 0.0, start, end
    return fuzz.ratio(span, value) / 100, start, end
