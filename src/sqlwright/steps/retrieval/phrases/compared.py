"""Texts that the evidence compares with a column it names: of others they say nothing."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping

from sqlwright.indexes.folding import soften
from sqlwright.schema import ColumnRef, Schema
from sqlwright.steps.retrieval.phrases.keyword_pieces import Name, words_of
from sqlwright.types import Question, ValueMatch

BEFORE = 100
"""Characters before an operator in which the name of its column is looked for."""

_LITERAL = r"'[^'\n]*'|\"[^\"\n]*\"|[\w.%+/-]*[\w%+]"
_OPERATOR = r"(?:<>|[!<>=]=?|\b(?:not )?(?:like|in)\b)"
_LIST = rf"\(\s*(?:{_LITERAL})(?:\s*,\s*(?:{_LITERAL}))*\s*\)"
_COMPARED = re.compile(rf"{_OPERATOR}\s*({_LIST}|{_LITERAL})", re.IGNORECASE)
_ONE = re.compile(_LITERAL)

Compared = Mapping[str, frozenset[ColumnRef]]
"""Columns by the folded text that is compared with them."""


def compared_texts(question: Question, schema: Schema) -> Compared:
    """The texts that the evidence compares with a column it names, and those columns.

    A text that it also compares with something else, or that stands in the question as it is
    written, may be meant of any column and is left out.
    """
    found: dict[str, frozenset[ColumnRef]] = {}
    elsewhere: set[str] = set()
    for one in _COMPARED.finditer(question.evidence):
        columns = _named(question.evidence[: one.start()], schema)
        for text in (each[0].strip("'\"").strip("%") for each in _ONE.finditer(one[1])):
            if not columns or re.search(rf"(?<!\w){re.escape(text)}(?!\w)", question.text):
                elsewhere.add(soften(text))
            found[soften(text)] = found.get(soften(text), frozenset()) | columns
    return {text: columns for text, columns in found.items() if text not in elsewhere}


def is_meant(match: ValueMatch, compared: Compared) -> bool:
    """False for a value of another column than its text is compared with."""
    columns = compared.get(soften(match.phrase))
    return columns is None or match.column in columns


def _named(before: str, schema: Schema) -> frozenset[ColumnRef]:
    """The columns of the longest name that a text ends in; of the table named before it, if one
    is."""
    said = words_of(before[-BEFORE:])

    def ends(name: str, within: Name) -> int:
        words = words_of(name)
        return len(words) if words and within[-len(words) :] == words else 0

    known: defaultdict[tuple[int, bool], set[ColumnRef]] = defaultdict(set)
    for table in schema.tables:
        for column in table.columns:
            length = max(ends(column.name, said), ends(column.label, said))
            told = length > 0 and ends(table.own_name, said[:-length]) > 0
            known[length, told].add(ColumnRef(table.name, column.name))
    return frozenset(known[best]) if known and (best := max(known))[0] else frozenset()
