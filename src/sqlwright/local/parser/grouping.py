"""Groups of queries by the unit of time that the question names, in the order of time.

The parser reads years well, so it is asked for something “in each year” in the place of each month
(`retelling.py`). Where it can't tell which column holds times, by what the column is called, it
takes the year of something else: of a text, or of a word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Set
from dataclasses import replace

from sqlwright.english.cues import asks_for_order, whole_words
from sqlwright.english.words import split_name
from sqlwright.local.form import nodes as f
from sqlwright.local.form.sequence.symbols import DATE_PARTS
from sqlwright.local.form.walking import own, own_tables
from sqlwright.schema import ColumnRef

_UNITS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (unit, re.compile(rf"\b(?:(?:per|each|every|by)\s+{unit}|{adverb})\b", re.IGNORECASE))
    for unit, adverb in (("day", "daily"), ("week", "weekly"), ("month", "monthly"),
                         ("year", "yearly|annually"))
)  # fmt: skip
_NEWEST_FIRST = whole_words(r"(?:newest|latest|most recent|last)(?: \w+)? first")
_ADVERBS = whole_words("daily|weekly|monthly|yearly|annually")
_WRITTEN = {
    "time": ("datetime", ()),
    "day": ("date", ()),
    "week": ("strftime", (f.Literal("%Y-%W"),)),
    "month": ("strftime", (f.Literal("%Y-%m"),)),
    "year": ("year", ()),
}
"""Each unit of time as a part of a date: the function and its arguments before the column."""
_PARTS = frozenset({"year", "month", "day", "date", "strftime", *DATE_PARTS})


def unit_of(question: str) -> str:
    """The unit of time for each of which a question wants something; empty where there is none,
    or several."""
    units = [unit for unit, cue in _UNITS if cue.search(question)]
    return units[0] if len(units) == 1 else ""


def part_of(column: f.Column, unit: str) -> f.Function:
    """A date's day, week, month or year; its time of day with the day."""
    name, before = _WRITTEN[unit]
    return f.Function(name, (*before, column))


class Grouping:
    """Makes queries group by time as one question wants it. `is_time` tells columns of dates;
    `likeliest` is the likeliest of them in some tables, None where they have none."""

    def __init__(
        self,
        question: str,
        is_time: Callable[[f.Column], bool],
        likeliest: Callable[[Set[str]], ColumnRef | None],
    ) -> None:
        self._unit = unit_of(question)
        # “Monthly” may be what an amount is called: a monthly fee.
        self.is_of_each = bool(self._unit) and not _ADVERBS.search(question)
        self._is_time = is_time
        self._likeliest = likeliest
        self._ordered = asks_for_order(question)
        self._newest_first = bool(_NEWEST_FIRST.search(question))

    def query(self, query: f.Query, *, added: bool = False) -> f.Query:
        """The query with the unit that the question counts by in its groups, and in the order of
        time where neither the question nor the query has another. With `added` one that works out
        an amount over all rows does so for each unit."""
        if not isinstance(query, f.Select):
            return query
        if self._unit and query.group_by:
            query = self._grouped(query)
        elif added and any(own(query.items, f.Aggregate)) and (time := self._time_in(query)):
            part = part_of(f.Column(time), self._unit)
            query = replace(query, items=(part, *query.items), group_by=(part,))
        keys = [key for key in query.group_by if self._tells_time(key)]
        if keys and not (query.order_by or query.limit or self._ordered):
            order = tuple(f.OrderTerm(key, self._newest_first) for key in keys)
            return replace(query, order_by=order)
        return query

    def _grouped(self, query: f.Select) -> f.Select:
        """With the unit that the question counts by, where it groups by dates, their years, or the
        year of what is no date."""
        time = self._time_in(query)

        def term(node: f.Expression) -> f.Expression:
            match node:
                case (f.Column() as column) | f.Function("year", (f.Column() as column,)):
                    # A column that is called a year holds years, not dates.
                    if self._is_time(column) and self._unit not in split_name(column.ref.column):
                        return part_of(column, self._unit)
            if time is not None and self._is_of_nothing(node):
                return part_of(f.Column(time), self._unit)
            return node

        return replace(
            query,
            items=tuple(i if isinstance(i, f.Star) else term(i) for i in query.items),
            group_by=tuple(dict.fromkeys(map(term, query.group_by))),
            order_by=tuple(replace(o, expression=term(o.expression)) for o in query.order_by),
        )

    def _time_in(self, query: f.Select) -> ColumnRef | None:
        starred = {star.table for star in own(query, f.Star) if star.table}
        return self._likeliest(own_tables(query) | starred)

    def _is_of_nothing(self, node: f.Expression) -> bool:
        """True of a part of a date that is taken of a constant or of a column without dates."""
        if not (isinstance(node, f.Function) and node.name in _PARTS):
            return False
        return not any(self._is_time(column) for column in own(node, f.Column)) and not any(
            one.name == "now" for one in own(node, f.Function)
        )

    def _tells_time(self, key: f.Expression) -> bool:
        """True of a key of groups that is a time, or a column that is called the unit."""
        if isinstance(key, f.Column):
            return self._is_time(key) or self._unit in split_name(key.ref.column)
        dated = isinstance(key, f.Function) and key.name in _PARTS
        return dated and any(self._is_time(column) for column in own(key, f.Column))
