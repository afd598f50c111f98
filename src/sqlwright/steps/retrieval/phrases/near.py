"""Stored values that are near what was searched for, by their letters and by their meaning."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from rapidfuzz import fuzz
from rapidfuzz.distance import OSA

from sqlwright.english.vocabulary import OPERATION_WORDS
from sqlwright.english.words import is_abbreviation
from sqlwright.indexes.folding import fold, soften
from sqlwright.protocols import Embedder
from sqlwright.schema import ColumnRef
from sqlwright.steps.retrieval.phrases.keyword_pieces import Name, words_of
from sqlwright.steps.retrieval.values import (
    CODES,
    OTHER_FORM,
    SAME,
    Phrase,
    is_year,
    plausible,
)
from sqlwright.types import Question, ValueMatch


class Thresholds(NamedTuple):
    """Least cosine of texts that an embedder takes for alike."""

    meaning: float
    """Of a text and a value in general."""
    short: float
    """Of a word and a value that may be its abbreviation."""


FITTED = Thresholds(0.64, 0.5)
"""Fitted on training databases by `benchmarks/entities.py --fit`."""

_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"[^\W\d_]{2}")
_DIGITS = re.compile(r"\d+")
_NUMBER = re.compile(r"[-+]?\d[\d.,]*")


@dataclass(frozen=True, slots=True)
class Near:
    """A stored value and how near it is to what was searched for."""

    match: ValueMatch
    phrase: Phrase
    edit: float
    """Similarity letter by letter, in [0, 1], whatever the case."""
    meaning: float = 0.0
    """Cosine of the embeddings; 1 for texts that are the same but for case and accents."""

    @property
    def searched(self) -> str:
        """The text searched for."""
        return self.phrase.text

    @property
    def is_clear(self) -> bool:
        """True if the text is the value or another form of it, at most misspelt."""
        sure = self.match.score >= SAME or self.edit == OTHER_FORM
        return sure or is_misspelt(self.phrase.text, self.match.value)


def near_of(phrase: Phrase, match: ValueMatch) -> Near:
    """A match of the index and how alike its letters are."""
    text, value = soften(phrase.text), soften(match.value)
    return Near(match, phrase, fuzz.ratio(text, value) / 100, float(text == value))


def other_form(phrase: Phrase, match: ValueMatch) -> Near:
    """A match that is another form of the text, which counts as nearly equal."""
    return Near(match, phrase, OTHER_FORM)


def is_short_form(near: Near) -> bool:
    """True if a value is one word that can stand for the one searched for: EUR for euro."""
    word, value = soften(near.searched), soften(near.match.value)
    return word.isalpha() and value.isalpha() and is_abbreviation(value, word)


def is_equal(text: str, value: str) -> bool:
    """True if a text differs from a value in case, accents and, unless it is a number, in
    punctuation at most."""
    if soften(text) == soften(value):
        return True
    return fold(text) == fold(value) and not _NUMBER.fullmatch(text.strip())


def is_misspelt(text: str, value: str) -> bool:
    """True if a text is a value with a letter wrong, or two in eight; digits are never wrong.

    Wrong letters are replaced, left out, added or changed places with the next.
    """
    written, stored = fold(text), fold(value)
    most = 2 if len(stored) >= 8 else 1 if len(stored) >= 5 else 0
    if not most or _DIGITS.findall(written) != _DIGITS.findall(stored):
        return False
    return OSA.distance(written, stored, score_cutoff=most) <= most


def is_spelled(near: Near) -> bool:
    """True if the letters alone say that the value is meant."""
    phrase, match = near.phrase, near.match
    if near.edit == OTHER_FORM or not _LETTER.search(phrase.text):
        return True
    if is_misspelt(phrase.text, match.value):
        return True
    return plausible(phrase, match)


def may_match(near: Near, question: Question, names: frozenset[Name] = frozenset()) -> bool:
    """False where a text that means something else resembles a value: numbers, words that ask for
    an operation and names of tables and columns match equal values only, and a year no code. What
    is written in digits, such as a date, is meant where all of them are said, not its year."""
    phrase, match = near.phrase, near.match
    said, digits = _DIGITS.findall(phrase.text), _DIGITS.findall(match.value)
    if said and digits and not _WORD.search(match.value) and not set(digits) <= set(said):
        return False
    whole = (
        not _LETTER.search(phrase.text)
        or soften(phrase.text) in OPERATION_WORDS
        or words_of(phrase.text) in names
    )
    if whole and not phrase.quoted and not is_equal(phrase.text, match.value):
        return False
    return not (is_year(question.text, phrase) and CODES.search(match.column.column))


def undisputed(near: Sequence[Near]) -> list[Near]:
    """The matches that no better reading of the same words rules out.

    A text that equals a stored value, or is one misspelt, rules out other matches of its parts.
    """
    clear: dict[Phrase, set[ColumnRef]] = {}
    for hit in near:
        if hit.is_clear:
            clear.setdefault(hit.phrase, set()).add(hit.match.column)

    def ruled_out(hit: Near) -> bool:
        phrase = hit.phrase
        start, end = phrase.span
        for other, columns in clear.items():
            low, high = other.span
            if high <= start or end <= low:
                continue
            if other.span == phrase.span:
                if not hit.is_clear:
                    return True
                continue
            if not hit.is_clear:
                if not (start <= low and high <= end):
                    return True
            elif low <= start and end <= high:
                rest = other.text[: start - low] + other.text[end - low :]
                if hit.match.column in columns or not phrase.capitalised or rest != rest.lower():
                    return True
        return False

    return [hit for hit in near if not ruled_out(hit)]


def unread(near: Sequence[Near], spelled: Sequence[Near]) -> list[Near]:
    """The other matches, of texts that share no word with one that is clear by its spelling."""
    sure = set(map(id, spelled))
    spans = {hit.phrase.span for hit in spelled if hit.is_clear}
    return [
        hit
        for hit in near
        if id(hit) not in sure
        and not any(low < hit.phrase.span[1] and hit.phrase.span[0] < high for low, high in spans)
    ]


def longest(spelled: Sequence[Near], alike: Sequence[Near]) -> list[Near]:
    """Matches of both kinds without those of a text within a longer one that has matches: by
    spelling, where the longer one's are of the same column and the text itself isn't stored; by
    meaning, wherever."""
    every = [*spelled, *alike]

    def within(hit: Near, other: Near) -> bool:
        (start, end), (low, high) = hit.phrase.span, other.phrase.span
        return low <= start and end <= high and end - start < high - low

    def surpassed(hit: Near) -> bool:
        return not hit.is_clear and any(
            other.match.column == hit.match.column and within(hit, other) for other in spelled
        )

    return [
        *(hit for hit in spelled if not surpassed(hit)),
        *(hit for hit in alike if not any(within(hit, other) for other in every)),
    ]


def grouped(near: Iterable[Near], *, by: Literal["searched", "column"]) -> list[list[Near]]:
    """Matches grouped by text or by column, in order of first appearance."""
    groups: dict[object, list[Near]] = {}
    for hit in near:
        groups.setdefault(hit.searched if by == "searched" else hit.match.column, []).append(hit)
    return list(groups.values())


def with_meaning(near: Sequence[Near], embedder: Embedder) -> list[Near]:
    """The same with the cosine of each pair; texts are embedded once, equal ones not at all."""
    apart = [hit for hit in near if hit.meaning < 1]
    texts = list(dict.fromkeys(t for hit in apart for t in (hit.searched, hit.match.value)))
    vectors = dict(zip(texts, embedder.embed(texts), strict=True)) if texts else {}
    differing = {id(hit) for hit in apart}
    return [
        Near(
            hit.match,
            hit.phrase,
            hit.edit,
            float(vectors[hit.searched] @ vectors[hit.match.value])
            if id(hit) in differing
            else 1.0,
        )
        for hit in near
    ]


def matches_of(near: Iterable[Near], question: Question) -> list[ValueMatch]:
    """Each stored value once a column, the nearest first."""
    best: dict[tuple[ColumnRef, str], Near] = {}
    for hit in near:
        key = (hit.match.column, hit.match.value)
        if key not in best or (hit.edit, hit.meaning) > (best[key].edit, best[key].meaning):
            best[key] = hit
    ranked = sorted(
        best.values(),
        key=lambda hit: (-hit.edit, -hit.meaning, str(hit.match.column), hit.match.value),
    )
    return [
        ValueMatch(
            hit.searched,
            hit.match.column,
            hit.match.value,
            round(hit.edit, 4),
            hit.match.row_count,
            hit.phrase.span if hit.phrase.span[1] <= len(question.text) else None,
        )
        for hit in ranked
    ]
