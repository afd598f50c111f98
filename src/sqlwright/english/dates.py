"""Points in time that a question names.

The parser reads years well and longer dates badly: of “in May 1997” it takes the year alone, and
“January 1, 1998” it cuts at the comma. What such a phrase means needs no model: it is read here,
the parser is asked with the year in its place, and its condition on that year is made one on all
that was said (`dating.py`). “Last month” and its like are read the same way, from today's date.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date

from sqlwright.english.bounds import LEADS, Bound, bound_around, range_opens
from sqlwright.english.days import BEGUN, absolute, relative
from sqlwright.english.vocabulary import MONTHS
from sqlwright.types.periods import is_bound, period_of

ON = re.compile(r"\bon\s+$", re.IGNORECASE)

_WITHIN_BEFORE = r"in|during|for|of"
_TIME_BEFORE = rf"{_WITHIN_BEFORE}|since|before|after|until|till|by|from"
WITHIN = re.compile(rf"\b(?:{_WITHIN_BEFORE})\s+(?:the\s+)?(?:year\s+)?$", re.IGNORECASE)
"""Words before a time that is meant as a whole."""
BEFORE_YEAR = re.compile(rf"\b(?:{_TIME_BEFORE}|years?)\s+$", re.IGNORECASE)
"""Words before a number that is a year."""
BEFORE_TIME = re.compile(
    rf"\b(?:{_TIME_BEFORE}|between|and|or|to|than|over)\s+(?:the\s+)?$", re.IGNORECASE
)
"""Words before a time that is part of a sentence."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A day, a month or a longer time that a text names."""

    span: tuple[int, int]
    """First character and end."""
    said: str
    first: str
    """ISO 8601, cut to its precision: 1997, 1997-05, 1997-05-03."""
    last: str
    """The same as `first`, but for times of several months or days: a quarter, a week."""
    operator: Bound | None = None
    """The comparison that the words before it ask for, where they do."""
    relative: bool = False
    """True if it depends on today's date."""

    @property
    def is_range(self) -> bool:
        """True of what two days or months enclose."""
        return self.first != self.last

    @property
    def year(self) -> str:
        """The year that stands in its place in the parser's question."""
        return self.first[:4]

    @property
    def unit(self) -> str:
        """Its precision: year, month, day, or time of a day."""
        return {4: "year", 7: "month", 10: "day"}.get(len(self.first), "time")

    def is_among(self, texts: Iterable[str]) -> bool:
        """True if a query with these texts uses it: its own, one of a day or time within its
        first or last part, or one of the day next to it where that says the same."""
        texts = tuple(text.replace("T", " ") for text in texts)
        bounds = (self.operator,) if self.operator or not self.is_range else (">=", "<=")
        ends = {">": self.last, "<=": self.last}
        return any(is_bound(ends.get(one, self.first), one, texts) for one in bounds if one) or any(
            text == time or text.startswith((f"{time}-", f"{time} ")) or time == f"{text}:00"
            for text in texts
            for time in (self.first, self.last)
        )


def moments(text: str, today: date | None = None) -> tuple[Moment, ...]:
    """The moments that a text names, in reading order; a year by itself is none. Two that enclose
    a range are one. Without `today` those that depend on it are left out."""
    found: list[Moment] = []
    for named in (*absolute(text), *(relative(text, today) if today else ())):
        start, end = named.span
        if not any(m.span[0] < end and start < m.span[1] for m in found):
            found.append(Moment(named.span, text[start:end], *named[1:]))
    found.sort(key=lambda moment: moment.span)
    return tuple(_bounded(one, text) for one in _ranges(found, text))


def _ranges(found: Sequence[Moment], text: str) -> list[Moment]:
    """The moments with one in place of two that are the ends of a range, the first of which may
    leave the year to the other."""
    done: list[Moment] = []
    for moment in found:
        if done and (whole := _range(done[-1], moment, text)):
            done[-1] = whole
            continue
        begun = BEGUN.search(text, done[-1].span[1] if done else 0, moment.span[0])
        first = None if begun is None else _begun(begun, moment)
        done.append((first and _range(first, moment, text)) or moment)
    return done


def _begun(match: re.Match[str], last: Moment) -> Moment | None:
    """The first end of a range that doesn't say its year, or says its day alone."""
    day, (year, month, *rest) = match["day"] or match["only"], last.first.split("-")
    name = match["month"] or match["named"]
    if len(rest) != (1 if day else 0) and not (rest and name):
        return None
    began = MONTHS[name.casefold()] if name else int(month)
    began_in = int(year) - (began > int(month))
    iso = f"{began_in}-{began:02d}" + (f"-{int(day):02d}" if day else "")
    span = match.start(), match.start("between")
    return Moment(span, match.string[slice(*span)], iso, iso) if period_of(iso) else None


def _range(first: Moment, last: Moment, text: str) -> Moment | None:
    """Two moments as one, where the words around them say that they are its ends."""
    start = range_opens(text, first.span[0], text[first.span[1] : last.span[0]])
    if start is None or first.operator or last.operator:
        return None
    low, high = first.first, last.last
    if len(low) != len(high):
        low, high = _day(low, first=True), _day(high, first=False)
    if len(low) != len(high):
        low, high = low[:10] + (low[10:] or " 00:00:00"), high[:10] + (high[10:] or " 23:59:59")
    if low > high:
        return None
    span = start, last.span[1]
    relative = first.relative or last.relative
    return Moment(span, text[slice(*span)], low, high, relative=relative)


def _bounded(moment: Moment, text: str) -> Moment:
    """A moment with the comparison that the words around it ask for."""
    if moment.operator:
        return moment
    day = moment.unit in {"day", "time"} and not moment.is_range
    operator, span = bound_around(text, moment.span, day=day)
    return replace(moment, span=span, said=text[slice(*span)], operator=operator)


_NOW = re.compile(
    r"""\b(?:
        now|today|yesterday|tomorrow|currently|presently|recently|lately|nowadays|ago|overdue
      | upcoming|so\ far|to\ date|until\ now|at\ present
      | how\ old|years?\ old|(?:younger|older)\ than|of\ age
      | (?:this|current|last|past|previous|next|coming)\s(?:(?:\w+|\d+)\s)?
        (?:day|week|month|quarter|year|season|decade|hour)s?
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)


def speaks_of_now(text: str) -> bool:
    """True if a text may mean a time as seen from the day it is said: last month, so far, how
    old."""
    return bool(_NOW.search(text))


def with_dates(text: str) -> str:
    """A text with its moments as queries write them."""
    for moment in reversed(moments(text)):
        start, end = moment.span
        dates = f"{moment.first} {moment.last}" if moment.is_range else moment.first
        text = text[:start] + LEADS[moment.operator] + dates + text[end:]
    return text


def _day(iso: str, *, first: bool) -> str:
    """The first or last day of a month or year; days and times as they are."""
    period = period_of(iso)
    return iso if period is None else period.first if first else period.last
