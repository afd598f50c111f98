"""Values that a phrase is the last or an inner part of: hypertension is stored as `Essential
hypertension`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from sqlwright.english.cues import COMPARATIVES, PROPERTIES
from sqlwright.english.requests import DETERMINERS
from sqlwright.english.vocabulary import (
    DEEDS,
    FUNCTION_WORDS,
    GENERAL_WORDS,
    MONTHS,
    NUMBERS,
    OPERATION_WORDS,
    UNITS,
    WEEKDAYS,
)
from sqlwright.english.words import part_of, singular, split_name, stem, tokens
from sqlwright.schema import Schema
from sqlwright.types import ValueMatch
from sqlwright.types.results import WITHIN

_SHORTEST = 5
"""Letters of the longest word of such a phrase at least; chosen."""
_USUAL = (
    FUNCTION_WORDS | OPERATION_WORDS | DEEDS | GENERAL_WORDS | COMPARATIVES | WEEKDAYS
    | PROPERTIES.keys() | MONTHS.keys() | NUMBERS.keys() | {unit for one in UNITS for unit in one}
)  # fmt: skip


def held_within(
    phrases: Sequence[tuple[str, tuple[int, int]]],
    found: Sequence[Sequence[ValueMatch]],
    taken: Sequence[tuple[int, int]],
    asked: str,
    schema: Schema,
) -> Iterator[ValueMatch]:
    """The values that hold a phrase's words behind others, where one column alone does, in a table
    near one that the question names; words that names of the schema are made of ask for those.
    Movies, or a movie, are things, and no part of the name that one of them has.

    `found` are the nearest values of each phrase, `taken` the spans that values spell, `asked` the
    question.
    """
    words_of = {t.name: {stem(word) for word in split_name(t.own_name)} for t in schema.tables}
    columns = (ref.column for ref in schema.columns)
    named = {stem(word) for name in columns for word in split_name(name)}
    named = named.union(*words_of.values())
    question = tokens(asked)
    stems = {stem(word.text) for word in question}
    near = {name for name, words in words_of.items() if words & stems}
    for _ in range(2):
        near = near.union(*map(schema.neighbours, near))
    done = list(taken)
    longest = sorted(zip(phrases, found, strict=True), key=lambda one: -len(one[0][0]))
    for (text, span), matches in longest:
        words = [word.text for word in tokens(text)]
        if any(low < span[1] and span[0] < high for low, high in done):
            continue
        if max(map(len, words), default=0) < _SHORTEST or any(_is_usual(w, named) for w in words):
            continue
        holding = [match for match in matches if part_of(text, match.value)]
        before = [word.text for word in question if word.end <= span[0]][-1:]
        if singular(words[-1]) != words[-1] or not DETERMINERS.isdisjoint(before):
            holding = [match for match in holding if (match.row_count or 1) > 1]
        if len({match.column for match in holding}) == 1 and holding[0].column.table in near:
            done.append(span)
            for match in holding:
                yield ValueMatch(text, match.column, match.value, WITHIN, match.row_count, span)


def _is_usual(word: str, named: Collection[str]) -> bool:
    return word in _USUAL or singular(word) in _USUAL or stem(word) in named
