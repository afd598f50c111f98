"""Looking up phrases in the value index's arrays. See `values` for the idea."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

import numpy as np

from sqlwright.indexes import folding
from sqlwright.indexes.storage import PagedArray, damaged
from sqlwright.indexes.values import hashing
from sqlwright.indexes.values.covering import SHORTLIST, TOKEN_POSTINGS, Coverage
from sqlwright.indexes.values.ranking import equal, likenesses
from sqlwright.indexes.values.reader import ArrayReader
from sqlwright.indexes.values.strings import SORTED_BYTES
from sqlwright.indexes.values.tokens import PhraseToken
from sqlwright.schema import ColumnRef
from sqlwright.types import ValueMatch

# What one phrase may cost.
PREFIX_HITS = 48
MOST_TOKENS = 16
"""Different words of a phrase that are searched."""
SHORTEST_PREFIX = 3
"""Characters of a phrase at least for which values that begin with it are found."""

LEAST = 0.3
"""Matches below this similarity are not returned."""


class Searcher:
    """Answers phrases. Read-only but for scratch space, of which each thread has its own."""

    def __init__(self, columns: Sequence[ColumnRef], arrays: Mapping[str, PagedArray]) -> None:
        self.columns = tuple(columns)
        self.reader = ArrayReader(arrays)
        self._coverage = Coverage(self.reader, len(self.columns))

    def search(self, phrases: Sequence[str], k: int, per_column: int) -> list[list[ValueMatch]]:
        """Matches of each phrase; words that phrases share are looked up once."""
        known: dict[str, PhraseToken] = {}
        try:
            return [self._search_one(phrase, k, per_column, known) for phrase in phrases]
        except (IndexError, UnicodeDecodeError) as error:
            raise damaged(str(error)) from error

    def _search_one(
        self, phrase: str, k: int, per_column: int, known: dict[str, PhraseToken]
    ) -> list[ValueMatch]:
        folded = folding.fold(phrase)
        if not folded or not self.reader.size or k <= 0:
            return []
        tokens = []
        for text in dict.fromkeys(folded.split()[:MOST_TOKENS]):
            if text not in known:
                known[text] = PhraseToken.look_up(text, self.reader)
            tokens.append(known[text])
        encoded = folded.encode("utf-8", "surrogatepass")
        squashed = hashing.hash_one(encoded.replace(b" ", b""))
        likely = self.reader.bucket("whole", squashed)[:SHORTLIST].tolist()
        forms = self.reader.forms(likely)
        same = [value for value, form in zip(likely, forms, strict=True) if equal(folded, form)]
        low, high = self.reader.values_from(encoded)
        begun = self._shortest(low, high) if len(folded) >= SHORTEST_PREFIX else ()
        # A single word may begin a value by chance and be a misspelling of another's.
        begins = low < high and len(tokens) > 1 and len(encoded) <= SORTED_BYTES
        shares = self._coverage.shares(tokens, found=begins or bool(same))
        for value in chain(likely, begun):
            shares.setdefault(value, 0.0)
        values = sorted(shares)
        scores = likenesses(
            phrase,
            folded,
            self.reader.forms(values),
            [shares[value] for value in values],
            begin=range(bisect_left(values, low), bisect_left(values, high)),
            same=[bisect_left(values, value) for value in same],
            spelling=lambda at: self.reader.text(values[at]),
        )
        return self._matches(phrase, values, scores, k, per_column)

    def _shortest(self, low: int, high: int) -> Iterable[int]:
        """The values from `low` to `high`, the shortest ones when there are many."""
        found = range(low, min(high, low + TOKEN_POSTINGS))
        if len(found) <= PREFIX_HITS:
            return found
        lengths = self.reader.lengths(np.arange(found.start, found.stop))
        shortest: list[int] = (np.argpartition(lengths, PREFIX_HITS)[:PREFIX_HITS] + low).tolist()
        return shortest

    def _matches(
        self, phrase: str, values: Sequence[int], scores: Sequence[float], k: int, per_column: int
    ) -> list[ValueMatch]:
        """The best `k` matches; of values that score alike, the first in the index's order."""
        taken: dict[int, int] = {}
        out: list[ValueMatch] = []
        spelling, holders, columns = self.reader.spelling, self.reader.holders, self.columns
        for at in sorted(range(len(scores)), key=scores.__getitem__, reverse=True):
            score = scores[at]
            if score < LEAST:
                break
            text = spelling(values[at])
            for column, rows in holders(values[at]):
                before = taken.get(column, 0)
                if before < per_column:
                    taken[column] = before + 1
                    shown = int(score * 1e4 + 0.5) / 1e4
                    out.append(ValueMatch(phrase, columns[column], text, shown, rows))
                    if len(out) >= k:
                        return out
        return out
