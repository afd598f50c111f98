"""Looking up phrases in the value index's arrays. See `values` for the idea."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from rapidfuzz import fuzz
from rapidfuzz.distance import OSA
from rapidfuzz.process import cdist

from sqlwright.indexes import folding, hashing
from sqlwright.indexes.storage import PagedArray, damaged
from sqlwright.indexes.value_arrays import (
    LONGEST_FUZZY,
    SHORTEST_FUZZY,
    TOKEN_BYTES,
    gram_hashes,
)
from sqlwright.indexes.value_reader import Reader, distinct, distinct_first, joined
from sqlwright.schema import ColumnRef
from sqlwright.types import ValueMatch

Ids = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
Scores = npt.NDArray[np.float64]

# What one phrase may cost. Rare tokens come first, so the limits bite on common ones only.
TOKEN_POSTINGS = 40_000
VARIANT_POSTINGS = 20_000
GRAM_POSTINGS = 40_000
VARIANTS = 25
GRAM_CANDIDATES = 120
SHORTLIST = 512
RERANKED = 96
CHAMPIONS = 24
PREFIX_HITS = 48
MOST_TOKENS = 16

COVERED = 0.97
"""Share of a phrase's weight from which on misspellings are not looked for."""
ALMOST = 0.97
"""Most that a value scores which differs from the phrase in more than punctuation and spaces."""
LEAST = 0.3
"""Matches below this similarity are not returned."""
_SHORTER = np.float32(0.002)
"""What a byte of length costs among values that cover a phrase equally."""

_LONGER = float(np.float32(0.85))
"""Least likeness of a word that starts with the phrase's."""
_WORTH = np.float32(0.35)
"""Share of the best value's weight that another must have to be ranked."""
_COVERED_LEAST = np.float32(0.2)
"""Share of the phrase's own weight that a value must have, common tokens left out."""


@dataclass(slots=True)
class _Variants:
    """Values that contain a token like the phrase's, and how much of it each then covers."""

    values: Ids
    weights: Floats


_NO_VARIANTS = _Variants(np.empty(0, np.int64), np.empty(0, np.float32))


@dataclass(slots=True)
class _Token:
    """A word of a phrase: its number in the vocabulary (-1 when unknown) and its postings."""

    text: str
    number: int
    postings: Ids
    idf: float
    close: Ids | None = None
    near: _Variants | None = None
    far: _Variants | None = None

    @property
    def fuzzable(self) -> bool:
        return SHORTEST_FUZZY <= len(self.text) <= LONGEST_FUZZY and not self.text.isdigit()

    def holds(self, values: Ids) -> npt.NDArray[np.bool_]:
        """Which of the values contain this very token."""
        if len(self.postings) == 0:
            return np.zeros(len(values), bool)
        # Of one type, or the postings would be converted each time.
        at = self.postings.searchsorted(values.astype(self.postings.dtype))
        at[at == len(self.postings)] = 0
        found: npt.NDArray[np.bool_] = self.postings[at] == values
        return found


def _add(scores: Floats, token: _Token, found: _Variants) -> Ids:
    """Credit values with a variant of a token, unless they have the token itself."""
    if len(found.values) == 0:
        return found.values
    gain = found.weights * np.float32(token.idf)
    gain[token.holds(found.values)] = 0
    scores[found.values] += gain
    return found.values


class Searcher:
    """Answers phrases. Read-only but for scratch space, of which each thread has its own."""

    def __init__(self, columns: Sequence[ColumnRef], arrays: Mapping[str, PagedArray]) -> None:
        self.columns = tuple(columns)
        self.reader = Reader(arrays)
        self._local = threading.local()

    def search(self, phrases: Sequence[str], k: int, per_column: int) -> list[list[ValueMatch]]:
        """Matches of each phrase; words that phrases share are looked up once."""
        known: dict[str, _Token] = {}
        try:
            return [self._search_one(phrase, k, per_column, known) for phrase in phrases]
        except (IndexError, UnicodeDecodeError) as error:
            raise damaged(str(error)) from error

    def _search_one(
        self, phrase: str, k: int, per_column: int, known: dict[str, _Token]
    ) -> list[ValueMatch]:
        folded = folding.fold(phrase)
        if not folded or not self.reader.size or k <= 0:
            return []
        tokens = []
        for text in dict.fromkeys(folded.split()[:MOST_TOKENS]):
            if text not in known:
                known[text] = self._look_up(text)
            tokens.append(known[text])
        squashed = folding.squash(folded).encode("utf-8", "surrogatepass")
        whole = self.reader.bucket("whole", hashing.hash_one(squashed))[:SHORTLIST]
        found, share = self._covering(tokens)
        values, first = distinct_first(joined((found, whole, self._prefixed(folded))))
        covered = np.zeros(len(values), np.float32)
        known_share = first < len(found)
        covered[known_share] = share[first[known_share]]
        score = self._similarity(phrase, folded, values, covered)
        return self._matches(phrase, values, score, k, per_column)

    def _look_up(self, text: str) -> _Token:
        number = self.reader.token_number(text.encode("utf-8", "surrogatepass")[:TOKEN_BYTES])
        postings = np.empty(0, np.int64) if number < 0 else self.reader.postings(number)
        idf = math.log(1 + self.reader.size / max(len(postings), 1))
        return _Token(text, number, postings, idf)

    def _prefixed(self, folded: str) -> Ids:
        """Values that start with the phrase, the shortest ones when there are many."""
        if len(folded) < 3:
            return np.empty(0, np.int64)
        low, high = self.reader.values_from(folded)
        if low == high:
            return np.empty(0, np.int64)
        found = np.arange(low, min(high, low + TOKEN_POSTINGS))
        if len(found) > PREFIX_HITS:
            found = found[np.argpartition(self.reader.lengths(found), PREFIX_HITS)[:PREFIX_HITS]]
        return found

    # -- candidates by the tokens they share --

    def _covering(self, tokens: list[_Token]) -> tuple[Ids, Floats]:
        """The values that cover most of the tokens' weight, with the share that they cover."""
        scores = self._scratch()
        touched: list[Ids] = []
        total = np.float32(sum(token.idf for token in tokens))
        budget, skipped = TOKEN_POSTINGS, []
        try:
            for token in sorted(tokens, key=lambda t: len(t.postings)):
                part = token.postings[:budget]
                if len(part) < len(token.postings):
                    skipped.append(token)
                    if touched:
                        continue
                budget -= len(part)
                scores[part] += np.float32(token.idf)
                touched.append(part)
            plural = [token for token in tokens if token.text.endswith("s")]
            touched += [_add(scores, token, self._singular(token)) for token in plural]
            values = joined(touched)
            best, share = self._leader(scores, values, skipped)
            if share < COVERED * total:
                near = [_add(scores, token, self._near(token)) for token in tokens]
                if any(map(len, near)):
                    touched += near
                    values = joined(touched)
                    best, share = self._leader(scores, values, skipped)
            if share < COVERED * total:
                weak = [t for t in tokens if best is None or not t.holds(best)[0]]
                touched += [_add(scores, token, self._far(token)) for token in weak]
                values = joined(touched)
            values, found = self._best(scores, values, skipped, total)
        finally:
            for part in touched:
                scores[part] = 0
        return values, np.minimum(found / total, 1)

    def _scratch(self) -> Floats:
        scores: Floats | None = getattr(self._local, "scores", None)
        if scores is None:
            scores = self._local.scores = np.zeros(self.reader.size, np.float32)
        return scores

    def _leader(
        self, scores: Floats, values: Ids, skipped: list[_Token]
    ) -> tuple[Ids | None, float]:
        """The value that covers most so far, as an array of one, and the weight it covers."""
        if len(values) == 0:
            return None, 0.0
        found = scores[values]
        if skipped:
            some = min(SHORTLIST, len(values) - 1)
            values = values[np.argpartition(-found, some)[: some + 1]]
            found = scores[values]
            for token in skipped:
                found += token.holds(values) * np.float32(token.idf)
        at = int(found.argmax())
        return values[at : at + 1], float(found[at])

    def _best(
        self, scores: Floats, values: Ids, skipped: list[_Token], total: np.float32
    ) -> tuple[Ids, Floats]:
        """The values worth ranking, and the weight that each covers."""
        champions = values[:0]
        if len(values):
            found = scores[values]
            worth = found > max(found.max() * _WORTH, total * _COVERED_LEAST)
            values = values[worth]
        if len(values) > SHORTLIST:
            found = found[worth]
            found -= self.reader.lengths(values) * _SHORTER
            best = np.argpartition(-found, SHORTLIST)[:SHORTLIST]
            champions = self._champions(values, found)
            values = np.concatenate((values[best], champions))
        values = distinct(values)
        found = scores[values]
        for token in skipped:
            found += token.holds(values) * np.float32(token.idf)
        if len(values) > RERANKED:
            rough = found - self.reader.lengths(values) * _SHORTER
            best = np.argpartition(-rough, RERANKED)[:RERANKED]
            best = distinct(joined((best, values.searchsorted(champions))))
            values, found = values[best], found[best]
        return values, found

    def _champions(self, values: Ids, found: Floats) -> Ids:
        """The best value of each column, so that no column's many hide another's few."""
        columns = self.reader.columns_of(values)
        best = np.zeros(len(self.columns), np.float32)
        np.maximum.at(best, columns, found)
        first = np.flatnonzero(found == best[columns])
        _, once = distinct_first(columns[first])
        champions = first[once]
        if len(champions) > CHAMPIONS:
            champions = champions[np.argpartition(-found[champions], CHAMPIONS)[:CHAMPIONS]]
        return values[champions]

    # -- tokens like a token --

    def _singular(self, token: _Token) -> _Variants:
        """Values with the token without its plural ending."""
        stems = [token.text[:-1], token.text[:-2] if token.text.endswith("es") else ""]
        numbers = [self.reader.token_number(stem.encode()) for stem in stems if len(stem) >= 3]
        known = [number for number in numbers if number >= 0]
        return self._variants(token, np.array(known, np.int64), 0.5) if known else _NO_VARIANTS

    def _near(self, token: _Token) -> _Variants:
        """Values with a token that is one edit away."""
        if token.near is None:
            token.near = self._variants(token, self._one_edit_away(token), 0.6)
        return token.near

    def _one_edit_away(self, token: _Token) -> Ids:
        """Numbers of the tokens whose hash, or that of a deletion, is among this one's."""
        if token.close is None:
            token.close = np.empty(0, np.int64)
            if token.fuzzable:
                hashes = hashing.deletion_hashes([ord(char) for char in token.text])
                token.close = distinct(joined(self.reader.buckets("edit", hashes)))
        return token.close

    def _far(self, token: _Token) -> _Variants:
        """Values with a token that shares trigrams with this one or starts with it."""
        if token.far is None:
            numbers = np.empty(0, np.int64)
            if token.fuzzable:
                found = self._by_grams(token.text)
                numbers = np.setdiff1d(found, self._one_edit_away(token), assume_unique=True)
            token.far = self._variants(token, numbers, 0.5)
        return token.far

    def _by_grams(self, text: str) -> Ids:
        points = np.array([32, *map(ord, text), 32], np.uint32)
        hashes = gram_hashes(points[:-2], points[1:-1], points[2:]).tolist()
        parts = sorted((self.reader.bucket("gram", hashed) for hashed in hashes), key=len)
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
        prefix = text.encode("utf-8", "surrogatepass")
        low = self.reader.token_bound(prefix)
        high = min(self.reader.token_bound(prefix + b"\xff"), low + GRAM_CANDIDATES)
        return np.unique(np.concatenate((numbers.astype(np.int64), np.arange(low, high))))

    def _variants(self, token: _Token, numbers: Ids, least: float) -> _Variants:
        """Values of the most similar tokens; the weight is the square of the likeness."""
        if len(numbers) == 0:
            return _NO_VARIANTS
        texts = self.reader.tokens(numbers)
        found = cdist([token.text], texts, scorer=OSA.normalized_similarity)[0].tolist()
        likest = [
            (-max(likeness, _LONGER) if text.startswith(token.text) else -likeness, at)
            for at, (likeness, text) in enumerate(zip(found, texts, strict=True))
            if likeness >= least or text.startswith(token.text)
        ]
        parts, weights, budget = [], [], VARIANT_POSTINGS
        for distance, at in sorted(likest)[:VARIANTS]:
            number = int(numbers[at])
            part = self.reader.postings(number)
            if len(part) <= budget and number != token.number:
                budget -= len(part)
                parts.append(part)
                weights.append(distance**2)
        if not parts:
            return _NO_VARIANTS
        if len(parts) == 1:
            return _Variants(joined(parts), np.full(len(parts[0]), weights[0], np.float32))
        weight = np.repeat(np.array(weights, np.float32), [len(part) for part in parts])
        values, first = distinct_first(joined(parts))  # the first is the likest
        return _Variants(values, weight[first])

    # -- ranking --

    def _similarity(self, phrase: str, folded: str, values: Ids, covered: Floats) -> Scores:
        texts = self.reader.texts(values)
        forms = folding.fold_each(texts)
        alike = np.maximum(
            cdist([folded], forms, scorer=fuzz.ratio)[0],
            cdist([folded], forms, scorer=fuzz.token_sort_ratio)[0],
        )
        starts = np.array([form.startswith(folded) for form in forms], bool)
        np.maximum(covered, np.float32(0.84), out=covered, where=starts)
        score: Scores = np.minimum(0.5 * covered + 0.0045 * alike + 0.05 * starts, ALMOST)
        squashed, soft = folding.squash(folded), folding.soften(phrase)
        for at in np.flatnonzero(alike > 80).tolist():
            if folding.squash(forms[at]) == squashed:
                score[at] = 0.99 if forms[at] == folded else 0.98
                if folding.soften(texts[at]) == soft:
                    score[at] = 1.0
        return score

    def _matches(
        self, phrase: str, values: Ids, score: Scores, k: int, per_column: int
    ) -> list[ValueMatch]:
        taken: dict[int, int] = {}
        out: list[ValueMatch] = []
        best = (-score).argsort(kind="stable")
        for value, likeness in zip(values[best].tolist(), score[best].tolist(), strict=True):
            if likeness < LEAST:
                break
            text = ""
            for column, rows in self.reader.checked_holders(value):
                if taken.get(column, 0) >= per_column:
                    continue
                taken[column] = taken.get(column, 0) + 1
                text = text or self.reader.checked_text(value)
                out.append(ValueMatch(phrase, self.columns[column], text, round(likeness, 4), rows))
                if len(out) >= k:
                    return out
        return out
