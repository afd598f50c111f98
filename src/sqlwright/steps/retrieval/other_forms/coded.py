"""Codes that stand for what a question says, by the descriptions of their columns: `state = 2`,
described as “0 booked, 1 attended, 2 cancelled”."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from sqlwright.english.code_lists import codes_told
from sqlwright.english.vocabulary import FUNCTION_WORDS
from sqlwright.english.words import stem, tokens
from sqlwright.protocols import Workspace
from sqlwright.schema import Column, ColumnRef, Schema
from sqlwright.types import ValueMatch

_NO_NAMES = FUNCTION_WORDS | {"yes", "no", "true", "false", "other", "unknown", "none"}
"""Meanings that no phrase of a question names."""
_LOOKED_AT = 64
"""Stored values looked at for a code, which many columns may hold; chosen."""


class Meaning(NamedTuple):
    """A code of a column with the words of its meaning."""

    column: ColumnRef
    code: str
    stems: tuple[str, ...]
    """Of the words that say it, in order; at least one."""


Meanings = Mapping[str, Sequence[Meaning]]
"""The meanings of codes by the first of their stems, in the schema's order."""


def meanings_of(schema: Schema) -> Meanings:
    """The meanings that a schema's descriptions tell. It takes up to 0.1 ms a column, so it is
    made once."""
    found: dict[str, list[Meaning]] = {}
    for table in schema.tables:
        for column in table.columns:
            for code, meaning in _told(column):
                words = [word.text for word in tokens(meaning)]
                if not _NO_NAMES.issuperset(words):
                    ref, stems = ColumnRef(table.name, column.name), tuple(map(stem, words))
                    found.setdefault(stems[0], []).append(Meaning(ref, code, stems))
    return found


def coded_values(
    text: str, meanings: Meanings, workspace: Workspace, score: float
) -> Iterator[ValueMatch]:
    """The codes whose meanings a question says, each with its column, where it says them first; all
    have a similarity of `score`."""
    words = tokens(text)
    stems = tuple(stem(word.text) for word in words)
    known: set[tuple[ColumnRef, str]] = set()
    for first, word in enumerate(words):
        for one in meanings.get(stems[first], ()):
            end = first + len(one.stems)
            if stems[first:end] != one.stems or (one.column, one.code) in known:
                continue
            known.add((one.column, one.code))
            if _may_hold(one.column, one.code, workspace):
                span = (word.start, words[end - 1].end)
                yield ValueMatch(text[slice(*span)], one.column, one.code, score, None, span)


def _told(column: Column) -> tuple[tuple[str, str], ...]:
    for text in (column.value_description, column.description):
        if text and (codes := codes_told(text)):
            return codes
    return ()


def _may_hold(ref: ColumnRef, code: str, workspace: Workspace) -> bool:
    """True unless it is known that a column doesn't hold a code."""
    catalog = workspace.catalog
    profile = None if catalog is None else catalog.columns.get(ref)
    if profile is None:
        return True
    if profile.main_storage == "text":
        found = workspace.values.search(code, _LOOKED_AT)
        known = profile.indexing == "whole"
        return not known or any(one.column == ref and one.value == code for one in found)
    low, high = profile.minimum, profile.maximum
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return False
    return code.lstrip("-").isdigit() and low <= int(code) <= high
