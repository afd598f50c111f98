"""Values by the longest common substring with a text, which may be a whole question.

MAG-SQL, section 3.1.3 (value retrieval), whose matcher is that of BRIDGE: the longest common
block of value and text, in lower case, is widened in the text to whole words; the score is the
similarity of the value to that span; values start with the same character as the span. Only
columns with at most 2,000 distinct values take part.

Deviations: accents are folded as well as case; a fast partial-ratio pass leaves out values that
can't reach the threshold before the common block is looked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

from rapidfuzz import fuzz
from rapidfuzz.process import extract_iter

from sqlwright.indexes.folding import soften
from sqlwright.indexes.holders import Holders
from sqlwright.indexes.values.arrays import ColumnValues
from sqlwright.types import ValueMatch

_WORD = re.compile(r"\w+")


class SubstringIndex:
    """The published value matcher, in memory."""

    def __init__(
        self,
        columns: Iterable[ColumnValues],
        *,
        threshold: float = 0.85,
        most_values: int = 2_000,
    ) -> None:
        kept = []
        for column in columns:
            values = list(column.values)
            if len(values) <= most_values:
                kept.append(ColumnValues(column.column, values))
        self._holders = Holders(kept)
        self._soft = [soften(text) for text in self._holders.texts]
        self._threshold = threshold

    def search(self, phrase: str, k: int = 10, *, per_column: int = 3) -> list[ValueMatch]:
        """At most `k` matches, best first, at most `per_column` from any one column."""
        text = soften(phrase)
        if not text or k <= 0:
            return []
        words = [match.span() for match in _WORD.finditer(text)] or [(0, len(text))]
        # A span as similar as the threshold holds a part at least this similar.
        floor = 100 * (2 * self._threshold - 1)
        scored = []
        for value, _, number in extract_iter(
            text, self._soft, scorer=fuzz.partial_ratio, processor=None, score_cutoff=floor
        ):
            score = _similarity(text, words, value)
            if score >= self._threshold:
                scored.append((score, self._holders.texts[number]))
        return self._holders.matches(phrase, scored, k, per_column)

    def search_many(
        self, phrases: Sequence[str], k: int = 10, *, per_column: int = 3
    ) -> list[list[ValueMatch]]:
        """`search` for each phrase."""
        return [self.search(phrase, k, per_column=per_column) for phrase in phrases]


def _similarity(text: str, words: Sequence[tuple[int, int]], value: str) -> float:
    """Likeness of `value` to the words of `text` that hold their longest common block."""
    block = SequenceMatcher(None, text, value, autojunk=False).find_longest_match()
    start, end = block.a, block.a + block.size
    for low, high in words:
        if low < end and start < high:
            start, end = min(start, low), max(end, high)
    span = text[start:end]
    if not span or span[0] != value[:1]:
        return 0.0
    return fuzz.ratio(span, value) / 100
