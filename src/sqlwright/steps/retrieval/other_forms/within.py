"""Values that a phrase is the last or an inner part of: hypertension is stored as `Essential
hypertension`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from sqlwright.english.cues import COMPARATIVES, PROPERTIES
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
from sqlwright.types.values import WITHIN

_SHORTEST = 5
_USUAL = (
    FUNCTION_WORDS | OPERATION_WORDS | DEEDS | GENERAL_WORDS | COMPARATIVES | WEEKDAYS
    | PROPERTIES.keys() | MONTHS.keys() | NUMBERS.keys() | {unit for one in UNITS for unit in one}
)  # fmt: skip


def schema_words(schema: Schema) -> frozenset[str]:
    """The stems of all words in a schema's names and labels: what they ask for is no value."""
    names = [
        name for table in schema.tables for name in (table.own_name, table.label, *(
            text for column in table.columns for text in (column.name, column.label)
        ))
    ]  # fmt: skip
    return frozenset(stem(word) for name in names for word in split_name(name))


def held_within(
    phrases: Sequence[tuple[str, tuple[int, int]]],
    found: Sequence[Sequence[ValueMatch]],
    taken: Sequence[tuple[int, int]],
    named: Collection[str],
) -> Iterator[ValueMatch]:
    """The values that hold a phrase's words among others, for phrases of which every word is only
    found so; `found` are the nearest values of each, `taken` the spans that values spell, `named`
    the stems of the words that a schema's names are made of."""
    longest = sorted(zip(phrases, found, strict=True), key=lambda one: -len(one[0][0]))
    done = list(taken)
    for (text, span), matches in longest:
        words = [word.text for word in tokens(text)]
        if any(low < span[1] and span[0] < high for low, high in done):
            continue
        if not words or max(map(len, words)) < _SHORTEST or any(_is_usual(w, named) for w in words):
            continue
        holding = [match for match in matches if part_of(text, match.value)]
        if len({match.column for match in holding}) != 1:
            continue
        done.append(span)
        for match in holding:
            yield ValueMatch(text, match.column, match.value, WITHIN, match.row_count, span)


def _is_usual(word: str, named: Collection[str]) -> bool:
    return word in _USUAL or singular(word) in _USUAL or stem(word) in named
