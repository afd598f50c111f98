"""The columns that a question lists to be shown, and those of them that a query doesn't show."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sqlwright.english.vocabulary import FUNCTION_WORDS, OPERATION_WORDS
from sqlwright.english.words import Token
from sqlwright.local.left_out.said import Said, called
from sqlwright.schema import ColumnRef

_BETWEEN = re.compile(
    r"\s*(?:,|,?\s*and|,?\s*as well as|,?\s*along with|\s*&)\s*"
    r"(?:(?:the|their|its|his|her|each|also)\s+)*",
    re.IGNORECASE,
)
"""Text between two things that are listed."""
_NAMES = frozenset({"name", "names", "date", "dates", "year", "years", "type", "types"})
"""Words for operations that columns are called by, too."""
_LONGEST = 3
"""Words of one thing that is listed; chosen."""


def missing_outputs(
    text: str, words: Sequence[Token], said: Said
) -> Iterator[tuple[tuple[int, int], tuple[ColumnRef, ...]]]:
    """Each listed thing that a column of the query's tables is called, isn't shown, and stands
    beside one that is: its range of characters and these columns."""
    if any(term.star for term in said.facts.first.shown):
        return
    shown = {ref for term in said.facts.first.shown for ref in term.columns}
    if not shown or said.facts.combines:
        return
    for group in _listed(text, words):
        columns = [_columns(text[slice(*span)], said) for span in group]
        if not all(columns) or not any(set(one) & shown for one in columns):
            continue
        for span, refs in zip(group, columns, strict=True):
            words_of = text[slice(*span)].casefold().split()
            if set(refs) & shown or any(said.shows(word) for word in words_of):
                continue
            yield span, tuple(refs)


def _listed(text: str, words: Sequence[Token]) -> Iterator[list[tuple[int, int]]]:
    """The lists in a text: the ranges of their members, each of up to three words."""
    group: list[tuple[int, int]] = []
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


def _columns(phrase: str, said: Said) -> list[ColumnRef]:
    """The columns of the query's tables that all words of a phrase, or its last one, are called."""
    words = phrase.casefold().split()
    if any(word in OPERATION_WORDS - _NAMES for word in words) or _is_table(words[-1], said):
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
