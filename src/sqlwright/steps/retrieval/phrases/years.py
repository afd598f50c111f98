"""Columns of whole numbers that hold a year of the question.

A value index holds texts, so a year stored as a number is known from the column's profile.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlwright.catalog.records import ColumnProfile
from sqlwright.english.dates import BEFORE_TIME
from sqlwright.english.words import singular, split_name
from sqlwright.protocols import Catalog
from sqlwright.schema import ColumnRef, SchemaView
from sqlwright.types import Question, ValueMatch

_YEAR = re.compile(r"(?<![\w./:-])(?:1[6-9]|20)\d\d(?![\w/:-]|[.,]\d)")
_WORDS = frozenset({"year", "yr"})
FIRST, LAST = 1600, 2099
"""Years that questions ask for by four digits."""


def years_in(question: Question, view: SchemaView, catalog: Catalog | None) -> list[ValueMatch]:
    """The years of the question and its evidence that columns of years are known to hold.

    A column of years is one of whole numbers, no key, that is called so; or that holds nothing but
    numbers from 1600 to 2099, for a number before which stands a word such as “in” or “since”.
    """
    if catalog is None:
        return []
    catalog = catalog.steady or catalog
    text, found = f"{question.text}\n{question.evidence}", dict[tuple[ColumnRef, str], ValueMatch]()
    for year in _YEAR.finditer(text):
        dated = bool(BEFORE_TIME.search(text[: year.start()]))
        span = year.span() if year.end() <= len(question.text) else None
        for ref, profile, named in _columns(view, catalog):
            if (named or dated) and _holds(profile, int(year[0])):
                rows = dict(profile.frequent).get(int(year[0])) if not profile.sampled else None
                match = ValueMatch(year[0], ref, year[0], 1.0, rows, span)
                found.setdefault((ref, year[0]), match)
    return list(found.values())


def _columns(view: SchemaView, catalog: Catalog) -> Iterator[tuple[ColumnRef, ColumnProfile, bool]]:
    """The columns of years with their profiles, and whether they are called so."""
    keys = view.schema.foreign_key_columns
    for ref in view.visible:
        profile, column = catalog.columns.get(ref), view.schema.column(ref)
        table = view.schema.table(ref.table)
        if profile is None or column is None or table is None or profile.main_storage != "integer":
            continue
        if ref in keys or table.primary_key == (ref.column,):
            continue
        low, high = profile.minimum, profile.maximum
        if not isinstance(low, int) or not isinstance(high, int):
            continue
        named = any(
            singular(word) in _WORDS
            for name in (ref.column, column.label)
            for word in split_name(name)
        )
        if named or (low >= FIRST and high <= LAST and profile.distinct > 1):
            yield ref, profile, named


def _holds(profile: ColumnProfile, year: int) -> bool:
    """True if a year is among a column's numbers, as far as its profile tells."""
    if profile.complete:
        return any(value == year for value, _ in profile.frequent)
    low, high = profile.minimum, profile.maximum
    return isinstance(low, int) and isinstance(high, int) and low <= year <= high
