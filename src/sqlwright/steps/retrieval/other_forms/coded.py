"""Codes that stand for what a question says, by the descriptions of their columns: `state = 2`,
described as “0 booked, 1 attended, 2 cancelled”."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlwright.english.code_lists import codes_told
from sqlwright.english.vocabulary import FUNCTION_WORDS
from sqlwright.english.words import Token, stem, tokens
from sqlwright.protocols import Workspace
from sqlwright.schema import Column, ColumnRef, Schema
from sqlwright.types import ValueMatch

_NO_NAMES = FUNCTION_WORDS | {"yes", "no", "true", "false", "other", "unknown", "none"}
"""Meanings that no phrase of a question names."""
_LOOKED_AT = 64
"""Stored values looked at for a code, which many columns may hold; chosen."""


def coded_values(text: str, workspace: Workspace, score: float) -> tuple[ValueMatch, ...]:
    """The codes whose meanings a question says, each with its column, in the schema's order; all
    have a similarity of `score`."""
    words = tokens(text)
    stems = [stem(word.text) for word in words]
    found = []
    for ref, code, meaning in _meanings(workspace.schema):
        wanted = [stem(word.text) for word in tokens(meaning)]
        span = _place(wanted, stems, words)
        if span is not None and _may_hold(ref, code, workspace):
            found.append(ValueMatch(text[slice(*span)], ref, code, score, None, span))
    return tuple(found)


def _meanings(schema: Schema) -> Iterator[tuple[ColumnRef, str, str]]:
    for table in schema.tables:
        for column in table.columns:
            for code, meaning in _told(column):
                if not {word.text for word in tokens(meaning)} <= _NO_NAMES:
                    yield ColumnRef(table.name, column.name), code, meaning


def _told(column: Column) -> tuple[tuple[str, str], ...]:
    for text in (column.value_description, column.description):
        if text and (codes := codes_told(text)):
            return codes
    return ()


def _place(
    wanted: Sequence[str], stems: Sequence[str], words: Sequence[Token]
) -> tuple[int, int] | None:
    """The characters of a question where some stems stand one after another; None for nowhere."""
    for first in range(len(stems) - len(wanted) + 1):
        if stems[first : first + len(wanted)] == list(wanted):
            return words[first].start, words[first + len(wanted) - 1].end
    return None


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
