"""The account of a query: each phrase of the question, with what in the query answers it, and the
phrases that nothing answers as vetoes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

from sqlwright.candidates import facts_of
from sqlwright.english.cues import COMPARATIVES, PROPERTIES, is_done
from sqlwright.english.dates import moments
from sqlwright.english.vocabulary import (
    DEEDS,
    FUNCTION_WORDS,
    GENERAL_WORDS,
    GENERIC_NAMES,
    MONTHS,
    OPERATION_WORDS,
    POLITE,
    UNITS,
    WEEKDAYS,
)
from sqlwright.english.words import Token, singular, split_name, stem, tokens
from sqlwright.local.left_out.asked import AMOUNT_AFTER, NAME, QUOTED, Asked, cues, numbers
from sqlwright.local.left_out.reading import FOUND, Reading, Span, overlaps
from sqlwright.local.left_out.said import Said, called
from sqlwright.local.left_out.values import asks_otherwise, words_beside
from sqlwright.presentation.accounting import unanswered_words
from sqlwright.schema import ColumnRef, Schema
from sqlwright.sql.calculations import calculations
from sqlwright.types import Account, AskedPhrase, Candidate, Question, ValueMatch, Veto
from sqlwright.types.candidates import PhraseKind

DOUBTS: Mapping[PhraseKind, float] = {
    "value": 0.9, "number": 0.9, "time": 0.9, "negation": 0.9, "bound": 0.9, "pattern": 0.9,
    "extreme": 0.9, "average": 0.9, "quotation": 0.9, "name": 0.3, "output": 0.9,
    "order": 0.1, "count": 0.1, "sum": 0.1, "word": 0.05,
}  # fmt: skip
"""The weight against a query of nothing answering a phrase. Of 3,281 right queries of
Spider's training part 0.7 % leave one of those above a half unanswered, most of them wrong after
all; of 2,002 with a condition deleted 94 % do."""
CALLED = 0.25
"""The same for a word that an unused column or table is called by: 3.5 % of the right ones."""
GRAVE = 0.5
"""Doubt from which one phrase alone is a fault of the query."""

_CODED = frozenset({"value", "quotation", "name", "negation", "extreme", "pattern", "time", "word"})
"""Kinds of phrases that a code may stand for."""
_TIMES = MONTHS.keys() | WEEKDAYS | {f"{name}s" for name in WEEKDAYS}
_UNITS = frozenset(name for units in UNITS for name in units)
_DULL = FUNCTION_WORDS | OPERATION_WORDS | DEEDS | COMPARATIVES | POLITE
"""Words that ask for nothing that a name could stand for."""


def written_account(
    question: Question,
    schema: Schema,
    values: Sequence[ValueMatch],
    candidate: Candidate,
    today: date | None = None,
) -> Account | None:
    """`account` of a candidate's query; None where the query can't be read."""
    facts = facts_of(candidate, schema)
    if facts is None:
        return None
    said = Said(facts, schema, calculations(candidate.sql, schema.dialect).functions)
    return account(question, schema, values, said, today)


def account(
    question: Question,
    schema: Schema,
    values: Sequence[ValueMatch],
    said: Said,
    today: date | None = None,
) -> Account:
    """The account of a query for a question, given the stored values that its phrases name.

    `today` is the day that “last month” is reckoned from; without it such times are left out.
    """
    work = _Work(question, schema, tuple(values), said)
    for phrases in (
        work.times(today),
        work.quotations(),
        work.values_used(),
        work.outputs(),
        work.values_left(),
        work.numbers(),
        work.cues(),
        work.names(),
        work.words(),
    ):
        for phrase in phrases:
            work.found.append(phrase)
    return Account(tuple(sorted(work.told_by_codes(), key=lambda one: one.span)))


@dataclass
class _Work:
    """One question and query; each kind of phrase takes what those before it left."""

    question: Question
    schema: Schema
    values: tuple[ValueMatch, ...]
    said: Said
    found: list[AskedPhrase] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.text = self.question.text
        self.tokens = tuple(tokens(self.text))
        self._own_name = {stem(word) for word in split_name(self.schema.name)}
        self.evidence = {stem(word.text) for word in tokens(self.question.evidence)}

    def times(self, today: date | None) -> Iterator[AskedPhrase]:
        """Days, months and years in words and digits."""
        for moment in moments(self.text, today):
            yield self._phrase("time", moment.span, self.said.has_time(moment.first, moment.last))

    def quotations(self) -> Iterator[AskedPhrase]:
        """Texts in quotes."""
        for match in QUOTED.finditer(self.text):
            span = match.span(match.lastgroup or 0)
            if not self._taken(span):
                text = self.text[slice(*span)].strip().strip(".,;:!?").strip()
                answer = f"'{text}'" if self.said.holds(text) else ""
                answer = answer or self._all_named(span)
                yield self._phrase("quotation", span, answer, left=self._meant(span))

    def values_used(self) -> Iterator[AskedPhrase]:
        """Phrases that name a stored value which the query uses."""
        for match in self.values:
            if match.span is None or self._taken(match.span):
                continue
            if match.score >= 0.8 and self.said.holds(match.value):
                yield self._phrase("value", match.span, f"{match.column} = {match.value!r}")

    def outputs(self) -> Iterator[AskedPhrase]:
        """Columns that are listed to be shown, and aren't."""
        for span, columns in missing_outputs(self.text, self.tokens, self.said):
            if not self._taken(span):
                yield self._phrase("output", span, "", columns=columns)

    def values_left(self) -> Iterator[AskedPhrase]:
        """Phrases that name a stored value which the query doesn't use."""
        spans = {m.span for m in self.values if m.span and m.score >= FOUND}
        for span in sorted(spans, key=lambda one: (one[0] - one[1], one)):
            if self._taken(span) or self.said.holds(self.text[slice(*span)]):
                continue
            match = self._meant(span)
            if match is None or self._is_no_name(match) or not self._is_near(match):
                continue
            kinds = {one.column for one in self.values if one.span == span}
            kinds &= self.said.grouped | (self.said.shown & self._several)
            answer = f"one row per {min(kinds)}" if kinds else ""
            yield self._phrase("value", span, answer, left=match)

    def numbers(self) -> Iterator[AskedPhrase]:
        """Numbers, as digits or words."""
        for one in numbers(self.text):
            if not self._taken(one.span):
                there = self.said.has_number(one.worth) or (
                    one.worth <= 1 and self._bounds_otherwise()
                )
                said = self.text[slice(*one.span)]
                # The 100 of meter_100 is part of a name.
                answer = said if there or said in self.said.stems else ""
                yield self._phrase("number", one.span, answer)

    def cues(self) -> Iterator[AskedPhrase]:
        """Words for comparisons, negations, patterns and operations."""
        for one in cues(self.text):
            if not self._taken(one.span):
                yield self._phrase(one.kind, one.span, self._cue_answer(one))

    def _cue_answer(self, one: Asked) -> str:
        said, word = self.said, self.text[slice(*one.span)].casefold()
        answers: dict[str, str] = {
            "pattern": "LIKE" if said.matches_texts or said.texts else "",
            "bound": "a comparison"
            if said.bounds or self._bounds_otherwise()
            else self._beside(one),
            "negation": said.excludes,
            "average": "AVG" if said.averages else "",
            "count": "a count" if said.counts else "",
            "sum": "a sum" if said.counts else "",
            "order": "ORDER BY" if said.facts.orders else "",
            "extreme": "an order" if said.ranks else "",
        }
        if answers.get(one.kind):
            return answers[one.kind]
        words = [token.text for token in tokens(word)]
        return next(filter(None, map(said.naming, words)), "") or (
            f"'{word}'" if said.holds(word) else ""
        )

    @property
    def _several(self) -> frozenset[ColumnRef]:
        """The columns of which the question names several values."""
        named = {(one.column, one.span) for one in self.values if one.score >= FOUND}
        counted = Counter(column for column, _ in named)
        return frozenset(column for column, count in counted.items() if count > 1)

    def _beside(self, bound: Asked) -> str:
        """The groups that a query shows side by side, for a comparison that names no amount."""
        after = self.text[bound.span[1] :]
        amount = AMOUNT_AFTER.match(after) is not None
        first = self.said.facts.first
        if amount or not (first.grouping or len(first.aggregates) > 1):
            return ""
        return "groups side by side"

    def _bounds_otherwise(self) -> bool:
        """True of “more than one” said by two different rows, and of an order's first rows."""
        facts = self.said.facts
        return bool(
            facts.extremes
            or facts.operations
            or "-" in self.said.functions
            or any(one.operator in {"!=", "exists"} for one in facts.comparisons)
        )

    def names(self) -> Iterator[AskedPhrase]:
        """Words written as names that no stored value is."""
        for match in NAME.finditer(self.text):
            span = match.span("name")
            words = [one for one in self.tokens if one.within(span)]
            if self._taken(span) or not words:
                continue
            if any(word.text in _TIMES or word.text in _DULL for word in words):
                continue
            if stem(words[0].text) in self._own_name:
                continue
            answer = f"'{match['name']}'" if self.said.holds(match["name"]) else ""
            answer = answer or next(filter(None, (self._word_answer(one) for one in words)), "")
            yield self._phrase("name", span, answer, left=self._meant(span))

    def told_by_codes(self) -> Iterator[AskedPhrase]:
        """All that was found, with the constants that the question doesn't say, codes mostly, as
        the answers of phrases that nothing else answers: “potassium” is K."""
        known = {match.value.strip().casefold() for match in self.values if match.score >= FOUND}
        spare = iter(self.said.spare(self.text, known))
        for one in sorted(self.found, key=lambda one: -one.doubt):
            code = next(spare, None) if one.doubt and one.kind in _CODED else None
            yield one if code is None else replace(one, answer=f"perhaps '{code}'", doubt=0.0)

    def words(self) -> Iterator[AskedPhrase]:
        """The words that are left."""
        for token in self.tokens:
            if token.is_number or token.text in _DULL or self._taken((token.start, token.end)):
                continue
            tables = self._tables(token.text)
            answer = self._word_answer(token) or next(
                (f"the key of {name}" for name in tables if name in self.said.referred), ""
            )
            columns = () if answer else self._columns(token.text)
            tables = () if answer else tables
            if token.text in GENERAL_WORDS and not columns:
                continue
            span = (token.start, token.end)
            yield self._phrase("word", span, answer, columns=columns, tables=tables)

    def _word_answer(self, token: Token) -> str:
        answer = self.said.naming(token.text)
        if not answer and len(token.text) > 2 and self.said.holds(token.text):
            answer = f"'{token.text}'"
        if not answer and stem(token.text) in self.evidence:
            answer = "the evidence"
        return answer

    def _all_named(self, span: Span) -> str:
        """The names of what the query uses, where all words of a phrase stand for such."""
        words = [one.text for one in self.tokens if one.within(span)]
        names = [self.said.naming(word) for word in words]
        return ", ".join(dict.fromkeys(names)) if names and all(names) else ""

    def _columns(self, word: str) -> tuple[ColumnRef, ...]:
        """The columns called so that the query doesn't use, those of its own tables first."""
        if word in GENERIC_NAMES:
            return ()
        own = set(self.said.facts.tables)
        found = [
            ColumnRef(table.name, column.name)
            for table in self.schema.tables
            for column in table.columns
            if called(word, column.name, column.label)
        ]
        return tuple(sorted(found, key=lambda ref: ref.table not in own))

    def _tables(self, word: str) -> tuple[str, ...]:
        tables = self.schema.tables
        return tuple(table.name for table in tables if called(word, table.own_name, table.label))

    def _meant(self, span: Span) -> ValueMatch | None:
        """Of the stored values that a phrase names, the one meant most probably: in a table that
        the query reads, whose column the question names; None for none."""
        same = [one for one in self.values if one.span and one.span == span]
        near = set(self.said.facts.tables)
        stems = {stem(word.text) for word in self.tokens}

        def weight(match: ValueMatch) -> tuple[float, bool, bool, int]:
            named = any(called(word, match.column.column) for word in stems)
            return (match.score, match.column.table in near, named, match.row_count or 0)

        return max(same, key=weight, default=None)

    def _is_no_name(self, match: ValueMatch) -> bool:
        """True if a phrase asks for a thing, an operation or a number, not for a value."""
        span = match.span or (0, 0)
        words = [one for one in self.tokens if one.within(span)]
        if len(words) == 1 and self._is_everyday(match.phrase, words[0].text, span):
            return True
        names = [bool(self.said.naming(word.text)) for word in words]
        beside = words_beside(span, self.tokens)
        by_column = any(called(word.text, match.column.column) for word in beside)
        return asks_otherwise(match, words, names, by_column=by_column)

    def _is_everyday(self, phrase: str, word: str, span: Span) -> bool:
        """True of a word that is a unit, or in lower case what somebody does, a property that is
        asked for, or what a table is called."""
        if singular(word) in _UNITS:
            return True
        asked = word in PROPERTIES or is_done(self.text, span) or bool(self._tables(word))
        return phrase.islower() and asked

    def _is_near(self, match: ValueMatch) -> bool:
        """True if a value is of a table that the query reads or a neighbour of one, or if the
        phrase looks like a name."""
        if not match.phrase.islower() or " " in match.phrase:
            return True
        own, table = set(self.said.facts.tables), match.column.table
        return table in own or bool(self.schema.neighbours(table) & own)

    def _taken(self, span: Span) -> bool:
        return overlaps(span, (phrase.span for phrase in self.found))

    def _phrase(
        self,
        kind: PhraseKind,
        span: Span,
        answer: str,
        *,
        left: ValueMatch | None = None,
        columns: tuple[ColumnRef, ...] = (),
        tables: tuple[str, ...] = (),
    ) -> AskedPhrase:
        doubt = CALLED if kind == "word" and (columns or tables) else DOUBTS[kind]
        if kind == "name" and (left is not None or " " in self.text[slice(*span)].strip()):
            doubt = DOUBTS["quotation"]
        return AskedPhrase(
            kind,
            self.text[slice(*span)],
            span,
            answer,
            doubt=0.0 if answer else doubt,
            value=None if answer else left,
            columns=columns,
            tables=tables,
        )


NEAREST = 3
"""Stored values named for a name that none of them is."""
ALIKE = 0.5
"""Least similarity, in [0, 1], of these; chosen."""


def accounted(candidate: Candidate, read: Reading) -> Candidate:
    """The candidate with its account; as it is where it can't be read."""
    state = read.state
    found = written_account(state.question, read.schema, state.values, candidate, read.today)
    if found is None:
        return candidate
    found = Account(tuple(_with_nearest(one, read) for one in found.phrases))
    return replace(candidate, account=found)


def vetoed(candidate: Candidate) -> Candidate:
    """The candidate with a veto for each grave phrase that nothing in it answers and none of its
    vetoes is about."""
    if candidate.account is None:
        return candidate
    known = [veto.message.casefold() for veto in candidate.vetoes]
    new = tuple(_vetoes(candidate.account.unanswered, known))
    return replace(candidate, vetoes=(*candidate.vetoes, *new)) if new else candidate


def _vetoes(left: Iterable[AskedPhrase], known: Iterable[str]) -> Iterator[Veto]:
    for one in left:
        if one.doubt >= GRAVE and not any(one.text.casefold() in text for text in known):
            yield Veto("unanswered", unanswered_words(one))


def _with_nearest(phrase: AskedPhrase, read: Reading) -> AskedPhrase:
    """A name that nothing stored is called, with the values that are spelled most like it."""
    if phrase.answer or phrase.value is not None or phrase.kind not in {"quotation", "name"}:
        return phrase
    best: dict[str, ValueMatch] = {}
    for match in read.search(phrase.text):
        if match.score >= ALIKE:
            best.setdefault(match.value.casefold(), match)
    return replace(phrase, nearest=tuple(best.values())[:NEAREST])


_BETWEEN = re.compile(
    r"\s*(?:,|,?\s*and|,?\s*as well as|,?\s*along with|\s*&)\s*"
    r"(?:(?:the|their|its|his|her|each|also)\s+)*",
    re.IGNORECASE,
)
"""Text between two things that are listed."""
_OUTPUT_NAMES = frozenset({"name", "names", "date", "dates", "year", "years", "type", "types"})
"""Words for operations that columns are called by, too."""
_LONGEST = 3
"""Words of one thing that is listed; chosen."""


def missing_outputs(
    text: str, words: Sequence[Token], said: Said
) -> Iterator[tuple[Span, tuple[ColumnRef, ...]]]:
    """Each listed thing that a column of the query's tables is called, isn't shown, and stands
    beside one that is: its range of characters and these columns."""
    if any(term.star for term in said.facts.first.shown):
        return
    shown = {ref for term in said.facts.first.shown for ref in term.columns}
    if not shown or said.facts.combines:
        return
    for group in _listed(text, words):
        columns = [_listed_columns(text[slice(*span)], said) for span in group]
        if not all(columns) or not any(set(one) & shown for one in columns):
            continue
        for span, refs in zip(group, columns, strict=True):
            words_of = text[slice(*span)].casefold().split()
            if set(refs) & shown or any(said.shows(word) for word in words_of):
                continue
            yield span, tuple(refs)


def _listed(text: str, words: Sequence[Token]) -> Iterator[list[Span]]:
    """The lists in a text: the ranges of their members, each of up to three words."""
    group: list[Span] = []
    start = 0
    for place, word in enumerate(words):
        after = words[place + 1] if place + 1 < len(words) else None
        if word.text in FUNCTION_WORDS:
            if word.text not in {"and", "as", "well", "the", "their", "its"}:
                if len(group) > 1:
                    yield group
                group, start = [], place + 1
            elif not group or group[-1][1] <= word.start:
                start = place + 1
            continue
        gap = text[word.end : after.start] if after is not None else ""
        ends = after is None or not gap.isspace() or after.text in FUNCTION_WORDS
        if not ends:
            continue
        first = max(start, place + 1 - _LONGEST)
        span = (words[first].start, word.end)
        if group and not _BETWEEN.fullmatch(text[group[-1][1] : span[0]]):
            if len(group) > 1:
                yield group
            group = []
        group.append(span)
        start = place + 1
    if len(group) > 1:
        yield group


def _listed_columns(phrase: str, said: Said) -> list[ColumnRef]:
    """The columns of the query's tables that all words of a phrase, or its last one, are called."""
    words = phrase.casefold().split()
    if any(word in OPERATION_WORDS - _OUTPUT_NAMES for word in words) or _is_table(words[-1], said):
        return []
    tables = [said.schema.table(name) for name in dict.fromkeys(said.facts.tables)]
    return [
        ColumnRef(table.name, column.name)
        for table in tables
        if table is not None
        for column in table.columns
        if called(words[-1], column.name, column.label)
    ]


def _is_table(word: str, said: Said) -> bool:
    """True if a table is called so: its things are meant, not a column of their number."""
    return any(called(word, table.own_name, table.label) for table in said.schema.tables)
