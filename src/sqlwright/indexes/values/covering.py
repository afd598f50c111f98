"""Finds values that share words with a phrase, and the part of its weight that each covers.

A word of a phrase has its postings, and those of the tokens like it.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

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
from sqlwright.indexes.values.reader import ArrayReader, Ids, distinct, distinct_first, joined

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


# What one phrase may cost. Rare tokens come first, so the limits bite on common ones only.
TOKEN_POSTINGS = 40_000
SHORTLIST = 512
"""Values at most that are weighed by the common tokens, too; those that rare tokens cover best."""
RERANKED = 96
"""Values at most whose similarity to the phrase is computed."""
CHAMPIONS = 24
"""Best values of single columns that join a shortlist, at most."""
FEW_POSTINGS = 128
"""Postings up to which they are added up one by one: what arrays save is less than what each
operation costs."""

COVERED = 0.97
"""Share of a phrase's weight from which on misspellings are not looked for."""
_SHORTER = np.float32(0.002)
"""Score that a byte of length costs among values that cover a phrase equally."""
_WORTH = 0.35
"""Share of the best value's weight that another must have to be ranked."""
_COVERED_LEAST = 0.2
"""Share of the phrase's own weight that a value must have, common tokens left out."""
_COUNT = attrgetter("count")


@dataclass(slots=True)
class _CoveredWeights:
    """Weight of a phrase that each value covers, by the tokens read so far."""

    scores: Floats
    """Weight of every value of the index; zero but for those touched."""
    common: list[PhraseToken]
    """Tokens too common to bring in a value, for now; none are cut then."""
    touched: list[Ids] = field(default_factory=list)
    cut: list[PhraseToken] = field(default_factory=list)
    """Tokens whose values were not walked through, or not all, for the budget."""
    budget: int = TOKEN_POSTINGS

    def walk(self, tokens: Iterable[PhraseToken]) -> None:
        """Credit the values that contain the tokens."""
        for token in tokens:
            part = token.postings[: self.budget]
            if len(part) < token.count:
                self.cut.append(token)
                if self.touched:
                    continue  # rarer tokens brought values in; `weights` adds this one to theirs
            if len(part):
                self.budget -= len(part)
                values = part.astype(np.int64)
                self.scores[values] += token.idf
                self.touched.append(values)

    @property
    def skipped(self) -> list[PhraseToken]:
        """Tokens that not all values were credited for."""
        return self.common or self.cut

    def add(self, token: PhraseToken, found: Variants) -> None:
        """Credit values with a variant of a token, unless they have the token itself."""
        if len(found.values) == 0:
            return
        gain = found.weights * np.float32(token.idf)
        if token.count:
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


class Coverage:
    """Finds the values that cover most of a phrase. Each thread has scratch space of its own."""

    def __init__(self, reader: ArrayReader, columns: int, few: int = FEW_POSTINGS) -> None:
        self._reader = reader
        self._columns = columns
        self._few = few
        self._local = threading.local()

    def shares(self, tokens: Sequence[PhraseToken], *, found: bool) -> dict[int, float]:
        """The values worth ranking, and the share of the tokens' weight that each covers.

        Misspellings are looked for unless the phrase was `found` otherwise or a value covers it.
        """
        total = sum([token.idf for token in tokens])
        known = [token for token in tokens if token.count]
        known.sort(key=_COUNT)
        singular = [
            (token, variants)
            for token in tokens
            if len((variants := token.singular(self._reader)).values)
        ]
        if few := _few(known, singular, total, self._few):
            return few
        rare, common = (known, []) if singular else _parted(known, total)
        covered = _CoveredWeights(self._scratch(), common)
        try:
            covered.walk(rare)
            for token, variants in singular:
                covered.add(token, variants)
            values, weights = covered.weighed()
            if not found:
                values, weights = self._misspelt(covered, tokens, values, weights, total)
            values, weights = self._worth_ranking(covered, values, weights, total)
            shares = np.minimum(weights / total, 1).tolist()
            return dict(zip(values.tolist(), shares, strict=True))
        finally:
            covered.clear()

    def _misspelt(
        self,
        covered: _CoveredWeights,
        tokens: Sequence[PhraseToken],
        values: Ids,
        weights: Floats,
        total: float,
    ) -> tuple[Ids, Floats]:
        """The values touched and their weights, misspelt tokens included unless one value covers
        the phrase without."""
        best, weight = covered.leader(values, weights)
        if weight < COVERED * total:
            common, covered.common = covered.common, []
            covered.walk(common)
            for token in tokens:
                covered.add(token, token.near(self._reader))
            values, weights = covered.weighed()
            best, weight = covered.leader(values, weights)
        if weight < COVERED * total:
            for token in tokens:
                if len(best) == 0 or not token.holds(best)[0]:
                    covered.add(token, token.far(self._reader))
            values, weights = covered.weighed()
        return values, weights

    def _scratch(self) -> Floats:
        scores: Floats | None = getattr(self._local, "scores", None)
        if scores is None:
            scores = self._local.scores = np.zeros(self._reader.size, np.float32)
        return scores

    def _worth_ranking(
        self, covered: _CoveredWeights, values: Ids, weights: Floats, total: float
    ) -> tuple[Ids, Floats]:
        """The values that cover enough to be ranked, some more than once, and their weights."""
        if len(values) == 0:
            return values, weights
        complete = not covered.skipped or len(values) <= SHORTLIST
        best = float(weights[weights.argmax()])
        worth = weights > max(best * _WORTH, total * _COVERED_LEAST)
        values, weights = values[worth], weights[worth]
        if not complete or len(values) > RERANKED:
            return self._shortened(covered, values, weights)
        return values, weights

    def _shortened(
        self, covered: _CoveredWeights, values: Ids, weights: Floats
    ) -> tuple[Ids, Floats]:
        """The values that cover most, each once, and the best of each column."""
        champions = values[:0]
        if len(values) > SHORTLIST:
            rough = weights - self._reader.lengths(values) * _SHORTER
            best = np.argpartition(-rough, SHORTLIST)[:SHORTLIST]
            champions = self._champions(values, rough)
            values = np.concatenate((values[best], champions))
        values = distinct(values)
        weights = covered.weights(values)
        if len(values) > RERANKED:
            rough = weights - self._reader.lengths(values) * _SHORTER
            best = np.argpartition(-rough, RERANKED)[:RERANKED]
            best = distinct(joined((best, values.searchsorted(champions))))
            values, weights = values[best], weights[best]
        return values, weights

    def _champions(self, values: Ids, weights: Floats) -> Ids:
        """The best value of each column, so that no column's many hide another's few."""
        columns = self._reader.columns_of(values)
        best = np.zeros(self._columns, np.float32)
        np.maximum.at(best, columns, weights)
        first = np.flatnonzero(weights == best[columns])
        _, once = distinct_first(columns[first])
        champions = first[once]
        if len(champions) > CHAMPIONS:
            champions = champions[np.argpartition(-weights[champions], CHAMPIONS)[:CHAMPIONS]]
        return values[champions]


def _parted(known: list[PhraseToken], total: float) -> tuple[list[PhraseToken], list[PhraseToken]]:
    """The tokens to walk through, rarest first, and those too common to bring in a value.

    A value that contains none but the latter weighs too little to be ranked. It takes part only
    when the values of the former have to be cut short, so there are no such tokens then.
    """
    if len(known) < 2:
        return known, []
    first = _first_common(known, max(known[0].idf * _WORTH, total * _COVERED_LEAST))
    if sum([token.count for token in known[:first]]) > RERANKED:
        return known, []
    return known[:first], known[first:]


def _first_common(known: Sequence[PhraseToken], least: float) -> int:
    """Index of the token from which on, the rarest being first, all together weigh no more than
    `least`."""
    first, weight = len(known), known[-1].idf
    while first > 1 and weight <= least:
        first -= 1
        weight += known[first - 1].idf
    return first


def _few(
    known: Sequence[PhraseToken],
    singular: Sequence[tuple[PhraseToken, Variants]],
    total: float,
    most: int,
) -> dict[int, float]:
    """The result of `Coverage.shares` when the tokens as they are, rarest first, lead to at most
    `most` values of which one covers the phrase; nothing otherwise.

    That one's weight is known beforehand to be nearly all, so more tokens than elsewhere are too
    common to bring in a value that is worth ranking beside it.
    """
    enough = COVERED * total
    if sum([token.idf for token in known]) < enough:
        return {}
    first = _first_common(known, enough * _WORTH)
    postings = sum([token.count for token in known[:first]])
    if postings + sum([len(found.values) for _, found in singular]) > most:
        return {}
    weights: dict[int, float] = {}
    for token in known[:first]:
        idf = token.idf
        for value in token.postings.tolist():
            weights[value] = weights.get(value, 0.0) + idf
    for token, found in singular:
        gains = np.where(token.holds(found.values), 0.0, found.weights * token.idf).tolist()
        for value, gain in zip(found.values.tolist(), gains, strict=True):
            weights[value] = weights.get(value, 0.0) + gain
    if first < len(known):
        values = np.array(list(weights))
        for token in known[first:]:
            for value in values[token.holds(values)].tolist():
                weights[value] += token.idf
    best = max(weights.values())
    if best < enough:
        return {}
    least = best * _WORTH
    shares = {value: weight / total for value, weight in weights.items() if weight > least}
    return shares if len(shares) <= RERANKED else {}
