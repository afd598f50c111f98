"""Explains each content word of a question by the database.

A content word is explained by a name it matches, by a stored value it is part of, or, more weakly,
by a name that means something like it. Words that ask for an operation need no explanation.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sqlwright.english.cues import COMPARATIVES, orders
from sqlwright.english.dates import moments
from sqlwright.english.vocabulary import DEEDS, FUNCTION_WORDS, GENERAL_WORDS, OPERATION_WORDS
from sqlwright.english.words import Token, stem
from sqlwright.local.form.lacking import asked_operations
from sqlwright.local.question.arrays import (
    QuestionArrays,
    WordMatches,
    encode_question,
    match_words,
)
from sqlwright.local.question.schema import SchemaArrays
from sqlwright.protocols import Embedder, FloatArray
from sqlwright.schema import ColumnRef
from sqlwright.types import Question, ValueMatch

EXPLAINED = 0.6
"""Least support, in [0, 1], of a word that counts as explained; chosen."""

FOUND = 0.95
"""Least similarity, in [0, 1], of a stored value that a phrase equals; chosen."""

KNOWN_SENSE = 0.5
"""Least cosine of a word and a name for which the word isn't called missing; chosen."""

_EXPECTED = FUNCTION_WORDS | OPERATION_WORDS | DEEDS | COMPARATIVES
"""Words that need no explanation."""

_QUOTED = re.compile(r"\"([^\"]+)\"|“([^”]+)”|(?<!\w)'([^']+)'(?!\w)")


@dataclass(frozen=True, eq=False)
class Support:
    """The explanations of a question's W content words by the database; arrays are (W,) in [0,
    1]."""

    tokens: tuple[Token, ...]
    """Content words in reading order."""
    by_name: FloatArray
    """Match with a word of a table's or column's name, in [0, 1]."""
    by_value: FloatArray
    """Score of a stored value that the word is part of, in [0, 1]."""
    by_cue: FloatArray
    """1 where a name is one of those that the word asks for (`cues.PROPERTIES`), else 0."""
    by_meaning: FloatArray
    """Static similarity to the nearest word of a name, in [0, 1]."""
    by_meant_value: FloatArray
    """As `by_value`, from values that look meant: of several words, quoted, or written with the
    capital that a name has in a question."""
    names_missing: int
    """Quoted or capitalised names that no stored value resembles."""
    matches: WordMatches
    asked: QuestionArrays

    @property
    def best(self) -> FloatArray:
        """The strongest support of each word; similar meaning counts a little less."""
        parts = (self.by_name, self.by_value, self.by_meaning)
        return np.asarray(np.maximum.reduce(parts), dtype=np.float32)

    @property
    def strict(self) -> FloatArray:
        """As `best`, without values that may be there by chance."""
        parts = (self.by_name, self.by_meant_value, self.by_meaning)
        return np.asarray(np.maximum.reduce(parts), dtype=np.float32)

    def unexplained(self, senses: Senses, told: Collection[str] = ()) -> tuple[str, ...]:
        """The words without any explanation: no name, no stored value that they are part of or
        equal, in whatever case and place, no operation, and none whose stem is `told` elsewhere."""
        operations = list(asked_operations(self.asked.text))
        return tuple(
            token.text
            for token, name, value, alike in zip(
                self.tokens,
                np.maximum.reduce((self.by_name, self.by_cue, self.by_meaning)),
                np.maximum(self.by_meant_value, np.where(self.by_value >= FOUND, 1.0, 0.0)),
                senses.best,
                strict=True,
            )
            if max(name, value) < EXPLAINED
            and alike < KNOWN_SENSE
            and stem(token.text) not in told
            and not any(token.within(span) for span in operations)
            and not self.asked.text[: token.start][-1:].isdigit()  # the end of 90th
        )

    def missing(self, senses: Senses | None = None) -> tuple[str, ...]:
        """Words that nothing in the database explains except by chance."""
        alike = senses.best if senses else np.zeros(len(self.tokens), dtype=np.float32)
        return tuple(
            token.text
            for token, best, sense in zip(self.tokens, self.strict, alike, strict=True)
            if best < EXPLAINED and sense < KNOWN_SENSE
        )


@dataclass(frozen=True, eq=False)
class Senses:
    """Encoder similarity of content words with names of tables and columns."""

    table: FloatArray
    """(words, names)"""
    place: Mapping[ColumnRef | str, int]
    """Column of `table` for each reference and for each table's name."""

    @property
    def best(self) -> FloatArray:
        """(words,) with whatever name is most alike."""
        return np.asarray(self.table.max(axis=1, initial=0.0), dtype=np.float32)

    def among(self, names: Iterable[ColumnRef | str]) -> FloatArray:
        """(words,) with the most alike of the given names."""
        columns = [self.place[name] for name in names if name in self.place]
        return np.asarray(self.table[:, columns].max(axis=1, initial=0.0), dtype=np.float32)


def senses(
    found: Support, schema: SchemaArrays, columns: Iterable[ColumnRef], tables: Iterable[str]
) -> Senses:
    """Compare content words with the given columns' and tables' names, by the encoder."""
    wanted, wanted_tables = set(columns), set(tables)
    text_of: dict[ColumnRef | str, int] = {
        ref: int(text)
        for ref, text in zip(schema.columns, schema.name_texts, strict=True)
        if ref in wanted
    }
    text_of |= {
        name: int(text)
        for name, text in zip(schema.tables, schema.table_texts, strict=True)
        if name in wanted_tables
    }
    names = schema.vectors.rows(np.fromiter(text_of.values(), np.int64, len(text_of)))
    words = schema.vectors.embed([token.text for token in found.tokens])
    similar = np.clip(words @ names.T, 0.0, 1.0)
    place = {name: index for index, name in enumerate(text_of)}
    return Senses(np.asarray(similar, dtype=np.float32), place)


def support(
    question: Question, schema: SchemaArrays, values: Sequence[ValueMatch], static: Embedder
) -> Support:
    """Look for an explanation of every content word; `static` embeds single words cheaply."""
    asked = encode_question(Question(question.text), None, static)
    matches = match_words(asked, schema)
    # Times and orders are read by rules, so no name has to explain their words.
    read = [moment.span for moment in moments(question.text)]
    read += [(start, end) for start, end, _ in orders(question.text)]
    keep = [
        row
        for row, token in enumerate(asked.tokens)
        if not token.is_number
        and not any(token.within(span) for span in read)
        and token.text not in _EXPECTED
    ]
    named = np.maximum(
        matches.best.max(axis=1, initial=0.0), matches.static.max(axis=1, initial=0.0)
    )
    # A general verb asks for something only where some name explains it.
    keep = [
        row
        for row in keep
        if asked.tokens[row].text not in GENERAL_WORDS or named[row] >= EXPLAINED
    ]
    by_value = np.zeros(len(asked.tokens), dtype=np.float32)
    by_meant_value = np.zeros(len(asked.tokens), dtype=np.float32)
    for match in values:
        if match.span is None:
            continue
        part = " " in match.value.strip() and " " not in match.phrase  # found by a word of its own
        meant = part or _is_meant(question.text, match.span)
        for row, token in enumerate(asked.tokens):
            if token.within(match.span):
                by_value[row] = max(by_value[row], match.score)
                by_meant_value[row] = max(by_meant_value[row], match.score if meant else 0.0)
    return Support(
        tokens=tuple(asked.tokens[row] for row in keep),
        by_name=matches.best.max(axis=1, initial=0.0)[keep],
        by_value=by_value[keep],
        by_meant_value=by_meant_value[keep],
        by_cue=matches.cue.max(axis=1, initial=0.0)[keep],
        by_meaning=matches.static.max(axis=1, initial=0.0)[keep],
        names_missing=_names_missing(question.text, values),
        matches=matches,
        asked=asked,
    )


def _is_meant(text: str, span: tuple[int, int]) -> bool:
    phrase = text[span[0] : span[1]]
    if " " in phrase.strip() or any(letter.isdigit() for letter in phrase):
        return True
    quoted = span[0] > 0 and text[span[0] - 1] in "\"'“‘"
    return quoted or (span[0] > 0 and phrase[:1].isupper())


def _names_missing(text: str, values: Sequence[ValueMatch]) -> int:
    spans = [match.span for match in values if match.span and match.score >= 0.8]
    pieces = [match.span() for match in _QUOTED.finditer(text)]
    pieces += [
        match.span() for match in re.finditer(r"(?<=[a-z,] )[A-Z][\w'-]*(?: [A-Z][\w'-]*)*", text)
    ]
    return sum(not any(a < end and start < b for a, b in spans) for start, end in pieces)
