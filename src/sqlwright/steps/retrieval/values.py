"""Stored values that a question names: every phrase of up to six words, looked up and weighed.

The papers ask a language model for keywords first (CHESS section 3.1, CHASE-SQL section 3.2); here
all phrases are tried, because a lookup costs far less than a model call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from rapidfuzz import fuzz
from rapidfuzz.distance import OSA

from sqlwright.english.dates import BEFORE_YEAR
from sqlwright.english.vocabulary import SHOWING, STOP_WORDS
from sqlwright.english.words import stem
from sqlwright.indexes.derived import DerivedIndexes
from sqlwright.protocols import Context, Step, ValueIndex
from sqlwright.schema import ColumnRef, Schema
from sqlwright.steps.retrieval.other_forms.coded import Meanings, coded_values, meanings_of
from sqlwright.steps.retrieval.other_forms.named import OtherForm, is_of_kind, other_forms
from sqlwright.steps.retrieval.other_forms.within import held_within
from sqlwright.types import Question, State, ValueMatch

NAME = "retrieval.values"
SKIPPED = STOP_WORDS | SHOWING
"""Words that no phrase worth looking up begins or ends with, unless written as a name or part of a
value that the phrase equals."""
LONGEST_WHOLE = 4
"""Most words of a phrase that begins or ends with such a word; chosen."""

# Hyphens, slashes and a possessive ending divide words; a phrase may still span them.
_WORD = re.compile(r"[^\W_]+(?:(?:[.&]|['’](?!s\b))\w+)*[+#]*|[+#$€%]+")
SAME = 0.98
"""Similarity, in [0, 1], from which phrase and value differ in punctuation and spaces at
most; chosen."""
OTHER_FORM = 0.97
"""Similarity given to a value that is another form of a phrase; chosen: just below
`SAME`."""
THRESHOLD, QUOTED_THRESHOLD = 0.82, 0.6
"""Least similarity of a match, and where the phrase stands in quotes."""
LIMIT, PER_PHRASE, PER_COLUMN = 40, 10, 3
"""Most matches kept, of one phrase, and of one phrase in one column."""
LONGEST = 6
"""Most words of a phrase."""
_WIDE = 64
"""Matches looked up for a short form, which many columns may hold; chosen."""
_ENDINGS = frozenset(
    "s es 's ed d ing ings er ers r y ly n an ian ans ians ese ish i".split()  # noqa: SIM905
)

YEAR = re.compile(r"(?:1[6-9]|20)\d\d")
CODES = re.compile(r"zip|post|phone|mobile|fax|code|number", re.IGNORECASE)
"""Names of columns of digits that nobody means by “in 2010”."""

LIKE = 0.88
"""Letter by letter similarity, in [0, 1], of a misspelling at least; chosen."""

_QUOTED = re.compile(
    r"(?<!\w)'([^'\n]+(?:'\w[^'\n]*)*)'(?!\w)|\"([^\"\n]+)\"|[“”]([^“”\n]+)[“”]|‘([^’\n]+)’(?!\w)|`([^`\n]+)`"
)


@dataclass(frozen=True, slots=True)
class Phrase:
    """A piece of the question that may name a stored value."""

    text: str
    span: tuple[int, int]
    quoted: bool = False
    whole: bool = False
    """True if only a value that equals it counts: “in progress”, “signed up”, “The Wire”."""

    @property
    def capitalised(self) -> bool:
        """True if the phrase begins with a capital, as names do."""
        return self.text[:1].isupper()


def phrases_of(text: str, longest: int = LONGEST) -> list[Phrase]:
    """Quoted pieces as a whole, then every run of up to `longest` words worth looking up."""
    found: dict[tuple[int, int], Phrase] = {}
    for match in _QUOTED.finditer(text):
        group = match.lastindex or 0
        piece = match.group(group)
        if piece.strip():
            found[match.span(group)] = Phrase(piece, match.span(group), quoted=True)
    words = [match.span() for match in _WORD.finditer(text)]
    for first in range(len(words)):
        for last in range(first, min(first + longest, len(words))):
            span = (words[first][0], words[last][1])
            if span in found:
                continue
            if _worth(text, words[first : last + 1]):
                found[span] = Phrase(text[slice(*span)], span)
            elif _worth_whole(text, words[first : last + 1]):
                found[span] = Phrase(text[slice(*span)], span, whole=True)
    return list(found.values())


def _worth(text: str, words: Sequence[tuple[int, int]]) -> bool:
    """A phrase neither begins nor ends with a function word unless that is written as a name."""
    first, last = text[slice(*words[0])], text[slice(*words[-1])]
    if _possessive(text, words[0]):
        return False
    if len(words) == 1:
        return first.casefold() not in SKIPPED or (first.isupper() and words[0][0] > 0)
    if _possessive(text, words[-1]):
        return text[words[0][0]].isupper()
    if first in SKIPPED or last in SKIPPED:
        return False
    return not all(text[slice(*word)].casefold() in SKIPPED for word in words)


def _worth_whole(text: str, words: Sequence[tuple[int, int]]) -> bool:
    """A phrase of some words, of which one at least is none of those that only join others."""
    if not 1 < len(words) <= LONGEST_WHOLE or _possessive(text, words[0]):
        return False
    return not all(text[slice(*word)].casefold() in SKIPPED for word in words)


def _possessive(text: str, word: tuple[int, int]) -> bool:
    return text[slice(*word)] == "s" and text[word[0] - 1 : word[0]] in {"'", "’"}


def retrieve_values(
    question: Question, index: ValueIndex, schema: Schema | None = None
) -> tuple[ValueMatch, ...]:
    """Stored values that phrases of the question resemble, best first, each value once a column.

    A phrase must be at least THRESHOLD alike (QUOTED_THRESHOLD when it stands in quotes), or
    another form of the value (`other_forms`), which then scores OTHER_FORM.
    Of overlapping phrases, the longer one that equals a stored value beats the shorter ones. With
    the schema values count, too, that a phrase is a part of.
    """
    phrases = phrases_of(question.text)
    if not phrases:
        return ()
    results = index.search_many(
        [phrase.text for phrase in phrases], PER_PHRASE, per_column=PER_COLUMN
    )
    hits: list[tuple[Phrase, ValueMatch]] = []
    for phrase, matches in zip(phrases, results, strict=True):
        year = is_year(question.text, phrase)
        hits += [
            (phrase, match)
            for match in matches
            if plausible(phrase, match) and not (year and CODES.search(match.column.column))
        ]
    hits += by_other_forms(phrases, index, hits)
    hits = _undisputed(hits)
    if schema is not None:
        given = [(one.text, one.span) for one in phrases if not one.whole]
        nearest = [found for one, found in zip(phrases, results, strict=True) if not one.whole]
        spelt = [one.span for one, _ in hits]
        parts = held_within(given, nearest, spelt, question.text, schema)
        hits += [(Phrase(one.phrase, one.span or (0, 0)), one) for one in parts]
    return _distinct(hits)[:LIMIT]


def is_year(text: str, phrase: Phrase) -> bool:
    """True if the phrase is a year by which the question tells a time: in 2010, since 1997."""
    if phrase.quoted or not YEAR.fullmatch(phrase.text):
        return False
    return bool(BEFORE_YEAR.search(text[: phrase.span[0]]))


def plausible(phrase: Phrase, match: ValueMatch) -> bool:
    """True if a match is near enough, by rules that differ with how the phrase is written."""
    value = match.value.strip()
    if match.score >= SAME:
        if len(value) <= 3 and match.score < 1:
            return False  # A and A+, C and C#: what little differs is what matters
        return len(value) > 1 or phrase.quoted or (value == phrase.text and value != "I")
    if phrase.whole:
        return False
    if len(value) <= 2 or phrase.text.isdigit():
        return False
    if phrase.quoted:
        return match.score >= QUOTED_THRESHOLD
    word, other = phrase.text.casefold(), value.casefold()
    if " " not in word and " " not in other and _inflected(word, other):
        return True
    if " " not in word and not phrase.capitalised:
        # Short everyday words are one letter away from far too many names to count as misspelt.
        return " " not in other and OSA.normalized_similarity(word, other) >= LIKE
    return match.score >= THRESHOLD or fuzz.ratio(word, other) >= 100 * LIKE


def by_other_forms(
    phrases: Sequence[Phrase], index: ValueIndex, hits: Sequence[tuple[Phrase, ValueMatch]]
) -> Iterator[tuple[Phrase, ValueMatch]]:
    """Values that equal another form of a phrase; where a column of that kind holds the phrase
    itself, its codes only."""
    forms = [
        (phrase, form)
        for phrase in phrases
        if not phrase.whole
        for form in other_forms(phrase.text)
    ]
    if not forms:
        return
    equal: dict[Phrase, list[ColumnRef]] = {}
    for phrase, match in hits:
        if match.score >= SAME:
            equal.setdefault(phrase, []).append(match.column)
    texts = [text for _, form in forms for text in (form.text, *form.kind.beside)]
    texts = list(dict.fromkeys(texts))
    held = dict(zip(texts, index.search_many(texts, _WIDE, per_column=1), strict=True))

    def holds(column: ColumnRef, text: str) -> bool:
        return any(match.column == column and match.score >= 1 for match in held[text])

    def counts(form: OtherForm, column: ColumnRef) -> bool:
        if not form.short or is_of_kind(form, column):
            return True
        return bool(form.kind.beside) and all(holds(column, text) for text in form.kind.beside)

    for phrase, form in forms:
        held_itself = any(is_of_kind(form, column) for column in equal.get(phrase, ()))
        if held_itself and not form.short:
            continue
        for match in held[form.text]:
            if match.score >= (SAME if len(form.text) > 3 else 1) and counts(form, match.column):
                yield phrase, replace(match, score=OTHER_FORM)


def _inflected(word: str, value: str) -> bool:
    """True if one is a form of the other: a plural, a participle, an inhabitant of a place."""
    if stem(word) == stem(value):
        return True
    shared = next(
        (at for at, pair in enumerate(zip(word, value, strict=False)) if pair[0] != pair[1]),
        min(len(word), len(value)),
    )
    longer, shorter = max(len(word), len(value)), min(len(word), len(value))
    if shared == shorter:
        ending = max(word, value, key=len)[shared:].removeprefix(word[shared - 1 : shared])
        return shorter >= 3 and ending in _ENDINGS
    return shared >= 4 and shared >= longer - 3


def _undisputed(hits: Sequence[tuple[Phrase, ValueMatch]]) -> list[tuple[Phrase, ValueMatch]]:
    """Hits that no better reading of the same words rules out.

    A phrase that equals a stored value rules out look-alikes of its parts and of phrases that
    overlap it, and shorter equal phrases inside it. A name stays when only words in lower case
    follow or precede it there ("Sonoma" of "Sonoma county") and another column holds it.
    """
    exact: dict[Phrase, set[ColumnRef]] = {}
    for phrase, match in hits:
        if match.score >= SAME:
            exact.setdefault(phrase, set()).add(match.column)

    def ruled_out(phrase: Phrase, match: ValueMatch) -> bool:
        start, end = phrase.span
        for other, columns in exact.items():
            low, high = other.span
            if other.span == phrase.span or high <= start or end <= low:
                continue
            if match.score < SAME:
                if not (start <= low and high <= end):
                    return True
            elif low <= start and end <= high:
                rest = other.text[: start - low] + other.text[end - low :]
                if match.column in columns or not phrase.capitalised or rest != rest.lower():
                    return True
        return False

    return [hit for hit in hits if not ruled_out(*hit)]


def _distinct(hits: Sequence[tuple[Phrase, ValueMatch]]) -> tuple[ValueMatch, ...]:
    best: dict[tuple[str, str, str], ValueMatch] = {}
    for phrase, match in hits:
        key = (*match.column, match.value)
        found = ValueMatch(
            phrase.text, match.column, match.value, match.score, match.row_count, phrase.span
        )
        if key not in best or _rank(found) < _rank(best[key]):
            best[key] = found
    return tuple(sorted(best.values(), key=_rank))


def _rank(match: ValueMatch) -> tuple[float, int, int, str, str]:
    start, end = match.span or (0, 0)
    return (-match.score, start - end, start, str(match.column), match.value)


@dataclass(frozen=True)
class ValueRetrieval(Step):
    """The step: `retrieve_values` over the workspace's index, and codes by what their columns'
    descriptions say of them."""

    _meanings: DerivedIndexes[Schema, Meanings] = field(
        default_factory=DerivedIndexes, init=False, repr=False, compare=False, hash=False
    )

    reads: ClassVar[frozenset[str]] = frozenset({"question"})
    writes: ClassVar[frozenset[str]] = frozenset({"values", "looked_up"})

    def __call__(self, state: State, context: Context) -> State:
        context.run.check()
        workspace = context.workspace
        found = retrieve_values(state.question, workspace.values, workspace.schema)
        meanings = self._meanings.of(workspace.schema, meanings_of)
        known = {(match.column, match.value) for match in found}
        coded = [
            match
            for match in coded_values(state.question.text, meanings, workspace, OTHER_FORM)
            if (match.column, match.value) not in known
        ]
        ranked = sorted((*found, *coded), key=_rank)
        return state.evolve(values=tuple(ranked[:LIMIT]), looked_up=(*state.looked_up, NAME))
