"""Looking up phrases in the value index's arrays. See `values` for the idea."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from sqlwright.indexes import folding, hashing
from sqlwright.indexes.storage import PagedArray, damaged
from sqlwright.indexes.value_ranking import Scores, likenesses
from sqlwright.indexes.value_reader import Ids, Reader, distinct, distinct_first, joined
from sqlwright.indexes.value_tokens import Floats, Token, Variants
from sqlwright.schema import ColumnRef
from sqlwright.types import ValueMatch

# What one phrase may cost. Rare tokens come first, so the limits bite on common ones only.
TOKEN_POSTINGS = 40_000
SHORTLIST = 512
RERANKED = 96
CHAMPIONS = 24
PREFIX_HITS = 48
MOST_TOKENS = 16
SHORTEST_PREFIX = 3

COVERED = 0.97
"""Share of a phrase's weight from which on misspellings are not looked for."""
LEAST = 0.3
"""Matches below this similarity are not returned."""
_SHORTER = np.float32(0.002)
"""What a byte of length costs among values that cover a phrase equally."""
_WORTH = 0.35
"""Share of the best value's weight that another must have to be ranked."""
_COVERED_LEAST = 0.2
"""Share of the phrase's own weight that a value must have, common tokens left out."""


@dataclass(slots=True)
class _Tally:
    """How much of a phrase's weight each value covers, by what has been looked at so far."""

    scores: Floats
    """Of every value of the index; zero but for those touched."""
    touched: list[Ids] = field(default_factory=list)
    skipped: list[Token] = field(default_factory=list)
    """Tokens whose values were not walked through, or not all."""
    budget: int = TOKEN_POSTINGS

    def walk(self, tokens: Iterable[Token]) -> None:
        """Credit the values that contain the tokens."""
        for token in tokens:
            part = token.postings[: self.budget]
            if len(part) < len(token.postings):
                self.skipped.append(token)
                if self.touched:
                    continue
            if len(part):
                self.budget -= len(part)
                values = part.astype(np.int64)
                self.scores[values] += token.idf
                self.touched.append(values)

    def add(self, token: Token, found: Variants) -> None:
        """Credit values with a variant of a token, unless they have the token itself."""
        if len(found.values) == 0:
            return
        gain = found.weights * np.float32(token.idf)
        if len(token.postings):
            gain = np.where(token.holds(found.values), np.float32(0), gain)
        self.scores[found.values] += gain
        self.touched.append(found.values)

    def weighed(self) -> tuple[Ids, Floats]:
        """The values touched, some more than once, and the weight that each covers.

        Without that of the tokens skipped when there are more values than a shortlist takes.
        """
        values = self.touched[0] if len(self.touched) == 1 else joined(self.touched)
        if self.skipped and len(values) <= SHORTLIST:
            return values, self.weights(values)
        return values, self.scores[values]

    def weights(self, values: Ids) -> Floats:
        """The weight that values cover, that of the tokens skipped included."""
        found: Floats = self.scores[values]
        for token in self.skipped:
            found += token.holds(values) * np.float32(token.idf)
        return found

    def leader(self, values: Ids, weights: Floats) -> tuple[Ids, float]:
        """The value that covers most so far, as an array of one, and the weight it covers."""
        if len(values) == 0:
            return values, 0.0
        if self.skipped and len(values) > SHORTLIST:
            values = values[np.argpartition(-weights, SHORTLIST)[:SHORTLIST]]
            weights = self.weights(values)
        at = int(weights.argmax())
        return values[at : at + 1], float(weights[at])

    def clear(self) -> None:
        for part in self.touched:
            self.scores[part] = 0


class Searcher:
    """Answers phrases. Read-only but for scratch space, of which each thread has its own."""

    def __init__(self, columns: Sequence[ColumnRef], arrays: Mapping[str, PagedArray]) -> None:
        self.columns = tuple(columns)
        self.reader = Reader(arrays)
        self._local = threading.local()

    def search(self, phrases: Sequence[str], k: int, per_column: int) -> list[list[ValueMatch]]:
        """Matches of each phrase; words that phrases share are looked up once."""
        known: dict[str, Token] = {}
        try:
            return [self._search_one(phrase, k, per_column, known) for phrase in phrases]
        except (IndexError, UnicodeDecodeError) as error:
            raise damaged(str(error)) from error

    def _search_one(
        self, phrase: str, k: int, per_column: int, known: dict[str, Token]
    ) -> list[ValueMatch]:
        folded = folding.fold(phrase)
        if not folded or not self.reader.size or k <= 0:
            return []
        tokens = []
        for text in dict.fromkeys(folded.split()[:MOST_TOKENS]):
            if text not in known:
                known[text] = Token.look_up(text, self.reader)
            tokens.append(known[text])
        values, shares = self._covering(tokens)
        encoded = folded.encode("utf-8", "surrogatepass")
        squashed = hashing.hash_one(encoded.replace(b" ", b""))
        same = self.reader.bucket("whole", squashed)[:SHORTLIST].tolist()
        low, high = self.reader.values_from(encoded)
        begun = self._shortest(low, high) if len(folded) >= SHORTEST_PREFIX else ()
        for value in chain(same, begun):
            at = bisect_left(values, value)
            if at == len(values) or values[at] != value:
                values.insert(at, value)
                shares.insert(at, 0.0)
        scores = likenesses(
            phrase,
            folded,
            self.reader.forms(values),
            shares,
            begin=slice(bisect_left(values, low), bisect_left(values, high)),
            same={bisect_left(values, value): self.reader.text(value) for value in same},
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

    # -- candidates by the tokens they share --

    def _covering(self, tokens: list[Token]) -> tuple[list[int], list[float]]:
        """The values that cover most of the tokens' weight, ascending, and each one's share."""
        total = sum([token.idf for token in tokens])
        singular = [(t, t.singular(self.reader)) for t in tokens if t.text[-1] == "s"]
        rare, common = _parted(tokens, total)
        if any(len(found.values) for _, found in singular):
            rare, common = rare + common, []
        tally = _Tally(self._scratch())
        try:
            tally.walk(rare)
            tally.skipped += common
            for token, found in singular:
                tally.add(token, found)
            values, weights = tally.weighed()
            best, weight = tally.leader(values, weights)
            if weight < COVERED * total:
                if common:
                    tally.skipped.clear()
                    tally.walk(common)
                for token in tokens:
                    tally.add(token, token.near(self.reader))
                values, weights = tally.weighed()
                best, weight = tally.leader(values, weights)
            if weight < COVERED * total:
                for token in tokens:
                    if len(best) == 0 or not token.holds(best)[0]:
                        tally.add(token, token.far(self.reader))
                values, weights = tally.weighed()
            values, weights = self._worth_ranking(tally, values, weights, total)
            return values.tolist(), np.minimum(weights / total, 1).tolist()
        finally:
            tally.clear()

    def _scratch(self) -> Floats:
        scores: Floats | None = getattr(self._local, "scores", None)
        if scores is None:
            scores = self._local.scores = np.zeros(self.reader.size, np.float32)
        return scores

    def _worth_ranking(
        self, tally: _Tally, values: Ids, weights: Floats, total: float
    ) -> tuple[Ids, Floats]:
        """The values that cover enough to be ranked, ascending, and the weight of each."""
        if len(values) == 0:
            return values, weights
        complete = not tally.skipped or len(values) <= SHORTLIST
        best = float(weights[weights.argmax()])
        worth = weights > max(best * _WORTH, total * _COVERED_LEAST)
        values, weights = values[worth], weights[worth]
        if not complete or len(values) > RERANKED:
            return self._shortened(tally, values, weights)
        if len(tally.touched) > 1:
            values, first = distinct_first(values)
            weights = weights[first]
        return values, weights

    def _shortened(self, tally: _Tally, values: Ids, weights: Floats) -> tuple[Ids, Floats]:
        """The values that cover most, each once, and the best of each column."""
        champions = values[:0]
        if len(values) > SHORTLIST:
            rough = weights - self.reader.lengths(values) * _SHORTER
            best = np.argpartition(-rough, SHORTLIST)[:SHORTLIST]
            champions = self._champions(values, rough)
            values = np.concatenate((values[best], champions))
        values = distinct(values)
        weights = tally.weights(values)
        if len(values) > RERANKED:
            rough = weights - self.reader.lengths(values) * _SHORTER
            best = np.argpartition(-rough, RERANKED)[:RERANKED]
            best = distinct(joined((best, values.searchsorted(champions))))
            values, weights = values[best], weights[best]
        return values, weights

    def _champions(self, values: Ids, weights: Floats) -> Ids:
        """The best value of each column, so that no column's many hide another's few."""
        columns = self.reader.columns_of(values)
        best = np.zeros(len(self.columns), np.float32)
        np.maximum.at(best, columns, weights)
        first = np.flatnonzero(weights == best[columns])
        _, once = distinct_first(columns[first])
        champions = first[once]
        if len(champions) > CHAMPIONS:
            champions = champions[np.argpartition(-weights[champions], CHAMPIONS)[:CHAMPIONS]]
        return values[champions]

    def _matches(
        self, phrase: str, values: Sequence[int], scores: Scores, k: int, per_column: int
    ) -> list[ValueMatch]:
        """The best `k` matches; of values that score alike, the first in the index's order."""
        taken: dict[int, int] = {}
        out: list[ValueMatch] = []
        likeness, shown = scores.tolist(), scores.round(4).tolist()
        for at in (-scores).argsort(kind="stable").tolist():
            if likeness[at] < LEAST:
                break
            text, holders = self.reader.checked(values[at])
            for column, rows in holders:
                before = taken.get(column, 0)
                if before < per_column:
                    taken[column] = before + 1
                    out.append(ValueMatch(phrase, self.columns[column], text, shown[at], rows))
                    if len(out) >= k:
                        return out
        return out


def _parted(tokens: Sequence[Token], total: float) -> tuple[list[Token], list[Token]]:
    """The tokens to walk through, rarest first, and those too common to bring in a value.

    A value that contains none but the latter weighs too little to be ranked. It takes part only
    when the values of the former have to be cut short, so there are no such tokens then.
    """
    rare = sorted((t for t in tokens if len(t.postings)), key=lambda t: len(t.postings))
    if len(rare) < 2:
        return rare, []
    least = max(rare[0].idf * _WORTH, total * _COVERED_LEAST)
    first, weight = len(rare), rare[-1].idf
    while first > 1 and weight <= least:
        first -= 1
        weight += rare[first - 1].idf
    if sum(len(token.postings) for token in rare[:first]) > RERANKED:
        return rare, []
    return rare[:first], rare[first:]
