"""Columns whose names resemble a keyword."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

import numpy as np
from rapidfuzz import fuzz
from rapidfuzz.process import cdist

from sqlwright.english.vocabulary import FUNCTION_WORDS, KEY_WORDS, NAMING_WORDS
from sqlwright.english.words import singular, split_name
from sqlwright.indexes.folding import soften
from sqlwright.schema import ColumnRef, SchemaView
from sqlwright.types import ColumnLink

SHORTEST = 3
"""Letters of a name below which only equality counts."""
LEAST = 0.9
"""Least similarity of a name."""
MOST = 20
"""Most columns found."""
PART = 0.9
"""Similarity of a keyword and a name that has all its words among others; chosen: that of names
one letter in ten apart."""
_EVERYWHERE = FUNCTION_WORDS | {*KEY_WORDS, *NAMING_WORDS}
"""Words that too many names have as a part."""


def similar_columns(keywords: Sequence[str], view: SchemaView) -> tuple[ColumnLink, ...]:
    """Visible columns with a name, or a label of the documentation, at least `LEAST` alike.

    As the published code of CHESS has it: case, blanks, underscores and plurals aside, each keyword
    is compared as a whole and by its words, what stands left of a `=` and in parentheses. Besides,
    a name is found by part of its words: `email_address` by "email". The most alike first; among
    equals those of a table that a keyword names, then those whose name few others have, then the
    schema's order.
    """
    sought = {words for name in _names(keywords) if (words := _words(name))}
    wanted = set(map("".join, sought))
    names: dict[str, list[ColumnRef]] = {}
    parts: dict[str, set[str]] = {}
    for ref in view.visible:
        column = view.schema.column(ref)
        for name in (ref.column, column.label if column else ""):
            if words := _words(name):
                names.setdefault("".join(words), []).append(ref)
                for word in words:
                    parts.setdefault(word, set()).add("".join(words))
    if not wanted or not names:
        return ()
    ordered, stored = sorted(wanted), list(names)
    alike = cdist(ordered, stored, scorer=fuzz.ratio, score_cutoff=100 * LEAST, dtype=np.float32)
    best: dict[ColumnRef, tuple[float, int]] = {}
    for row, at in zip(*np.nonzero(alike), strict=True):
        score = float(alike[row, at]) / 100
        if score < 1 and min(len(ordered[row]), len(stored[at])) < SHORTEST:
            continue
        for ref in names[stored[at]]:
            best[ref] = max(best.get(ref, (0.0, 0)), (score, -len(names[stored[at]])))
    for words in sought:
        if not _EVERYWHERE.issuperset(words):
            for name in set.intersection(*(parts.get(word, set()) for word in words)):
                for ref in names[name]:
                    best[ref] = max(best.get(ref, (0.0, 0)), (PART, -len(names[name])))
    position = {ref: number for number, ref in enumerate(view.schema.columns)}
    tables = {table.name: "".join(_words(table.own_name)) in wanted for table in view.schema.tables}

    def rank(ref: ColumnRef) -> tuple[float, bool, int, int]:
        score, rarity = best[ref]
        return -score, not tables[ref.table], -rarity, position[ref]

    return tuple(ColumnLink(ref, round(best[ref][0], 4)) for ref in sorted(best, key=rank)[:MOST])


def _names(keywords: Iterable[str]) -> Iterator[str]:
    for keyword in keywords:
        yield keyword
        yield from keyword.split()
        yield from re.findall(r"\(([^()]*)\)", keyword)
        if "=" in keyword:
            yield keyword.split("=", 1)[0]


@lru_cache(maxsize=1 << 16)
def _words(name: str) -> tuple[str, ...]:
    """The words of a name, in the singular and without accents."""
    # Kept, because every question goes through all names of the schema.
    return tuple(singular(soften(word)) for word in split_name(name))
