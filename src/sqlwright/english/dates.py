"""Points in time that a question names.

The parser reads years well and longer dates badly: of “in May 1997” it takes the year alone, and
“January 1, 1998” it cuts at the comma. What such a phrase means needs no model: it is read here,
the parser is asked with the year in its place, and its condition on that year is made one on all
that was said (`dating.py`). “Last month” and its like are read the same way, from today's date.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

from sqlwright.english.cues import one_of
from sqlwright.english.vocabulary import MONTHS
from sqlwright.types.periods import is_bound

_YEAR = r"(?P<year>(?:1[6-9]|20)\d\d)"
_MONTH = rf"(?P<month>{one_of(MONTHS)})\.?"
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_ABSOLUTE = tuple(
    re.compile(rf"(?<![\w.]){shape}(?!\w|\.\d|[T\s]+\d{{1,2}}:\d)", re.IGNORECASE)
    for shape in (
        rf"{_MONTH}\s+(?:the\s+)?{_DAY}\s*,?\s+(?:of\s+)?{_YEAR}",
        rf"(?:the\s+)?{_DAY}\.?\s+(?:of\s+)?{_MONTH}\s*,?\s+(?:of\s+)?{_YEAR}",
        rf"{_YEAR}[-/](?P<number>[01]?\d)[-/](?P<day>[0-3]?\d)",
        rf"{_MONTH}\s*,?\s+(?:of\s+)?(?:the\s+year\s+)?{_YEAR}",
        rf"(?:Q(?P<quarter>[1-4])|(?:the\s+)?(?P<which>first|second|third|fourth|last)\s+quarter)"
        rf"\s*,?\s+(?:of\s+|in\s+)?{_YEAR}",
    )
)
_QUARTERS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": 4}

ON = re.compile(r"\bon\s+$", re.IGNORECASE)

_WITHIN = r"(?:in|during|over|within|for)\s+the\s+(?:last|past|previous)"
_RELATIVE = tuple(
    re.compile(rf"(?<![\w.]){shape}(?!\w)(?!\s+(?:of|that|when|which|on record))", re.IGNORECASE)
    for shape in (
        rf"{_WITHIN}\s+(?P<number>\d+)\s+(?P<unit>day|week|month|year)s?",
        r"(?P<number>\d+|a|one)\s+(?P<unit>day|week|month|year)s?\s+(?P<ago>ago)",
        r"(?<!the )(?P<which>last|previous|this|current|next)\s+(?P<unit>week|month|quarter|year)",
        r"(?:(?<=in )|(?<=during )|(?<=for )|(?<=since ))the\s+"
        r"(?P<which>previous|current|next)\s+(?P<unit>week|month|quarter|year)",
        r"(?P<day>today|yesterday|tomorrow)",
    )
)
_STEPS = {"last": -1, "previous": -1, "this": 0, "current": 0, "next": 1}
_DAYS = {"yesterday": -1, "today": 0, "tomorrow": 1}

Bound = Literal["<", ">", "<=", ">="]

_BOUNDS: dict[Bound, str] = {
    ">=": "since|on or after|not before|(?:not?|never) earlier than",
    "<=": "until|till|up to|on or before|not after|(?:not?|never) later than",
    ">": "after|later than",
    "<": "before|prior to|earlier than",
}
"""Words before a time that say how to compare with it, by operator; the first that fits counts.
Other words may ask for any comparison."""

_BOUND_PATTERNS = tuple(
    (bound, re.compile(rf"\b(?:{words})\s+(?:the\s+)?(?:year\s+)?$", re.IGNORECASE))
    for bound, words in _BOUNDS.items()
)

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


def bound_before(text: str) -> Bound | None:
    """The comparison that the end of a text asks for with the time that follows; None for any."""
    return next((bound for bound, words in _BOUND_PATTERNS if words.search(text)), None)


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
    def year(self) -> str:
        """The year that stands in its place in the parser's question."""
        return self.first[:4]

    @property
    def unit(self) -> str:
        """Its precision: year, month or day."""
        return {4: "year", 7: "month", 10: "day"}[len(self.first)]

    def is_among(self, texts: Iterable[str]) -> bool:
        """True if a query with these texts uses it: its own, one of a day or time within its
        first or last part, or one of the day next to it where that says the same."""
        texts = tuple(texts)
        edge = self.last if self.operator in {">", "<="} else self.first
        return is_bound(edge, self.operator or "", texts) or any(
            text == time or text.startswith((f"{time}-", f"{time} ", f"{time}T"))
            for text in texts
            for time in (self.first, self.last)
        )


def moments(text: str, today: date | None = None) -> tuple[Moment, ...]:
    """The moments that a text names, in reading order; a year by itself is none. Without `today`
    those that depend on it are left out."""
    found: list[Moment] = []
    for moment in (*_absolute(text), *(_relative(text, today) if today else ())):
        start, end = moment.span
        if not any(m.span[0] < end and start < m.span[1] for m in found):
            found.append(moment)
    return tuple(sorted(found, key=lambda moment: moment.span))


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
        dates = moment.first if moment.first == moment.last else f"{moment.first} {moment.last}"
        text = text[:start] + dates + text[end:]
    return text


def _absolute(text: str) -> Iterator[Moment]:
    for shape in _ABSOLUTE:
        for match in shape.finditer(text):
            parts = match.groupdict()
            year = parts["year"]
            if "quarter" in parts:
                quarter = int(parts["quarter"] or _QUARTERS[parts["which"].casefold()])
                bounds = f"{year}-{quarter * 3 - 2:02d}", f"{year}-{quarter * 3:02d}"
                yield _moment(text, match.span(), *bounds)
                continue
            name, day = parts.get("month"), parts.get("day")
            month = MONTHS[name.casefold()] if name else int(parts["number"])
            if 1 <= month <= 12 and (not day or 1 <= int(day) <= 31):
                iso = f"{year}-{month:02d}" + (f"-{int(day):02d}" if day else "")
                # A day as SQL writes it is compared as SQL does, but that no time equals a day.
                if name or ON.search(text[: match.start()]):
                    yield _moment(text, match.span(), iso, iso)


def _moment(text: str, span: tuple[int, int], first: str, last: str) -> Moment:
    return Moment(span, text[slice(*span)], first, last, bound_before(text[: span[0]]))


def _relative(text: str, today: date) -> Iterator[Moment]:
    for shape in _RELATIVE:
        for match in shape.finditer(text):
            parts, span, said = match.groupdict(), match.span(), match.group()
            number, unit = parts.get("number"), parts.get("unit", "")
            if parts.get("day"):
                first = last = moved(today, "day", _DAYS[parts["day"].casefold()]).isoformat()
            elif number:
                count = int(number) if number.isdigit() else 1
                if count > MOST:
                    continue
                then = moved(today, unit.casefold(), -count).isoformat()
                if "ago" not in parts:
                    yield Moment(span, said, then, then, ">=", relative=True)
                    continue
                first = last = then
            else:
                first, last = _period(today, unit.casefold(), _STEPS[parts["which"].casefold()])
            asked = _moment(text, span, first, last)
            yield Moment(span, said, first, last, asked.operator, relative=True)


MOST = 3650
"""Most days, weeks, months or years that are counted back from today; chosen."""


def moved(day: date, unit: str, count: int) -> date:
    """So many days, weeks, months or years later; the last of a month where it has fewer days."""
    if unit in {"day", "week"}:
        return day + timedelta(days=count * (7 if unit == "week" else 1))
    months = day.year * 12 + day.month - 1 + count * (12 if unit == "year" else 1)
    year, month = max(months // 12, 1), months % 12 + 1
    return date(year, month, min(day.day, monthrange(year, month)[1]))


def _period(today: date, unit: str, step: int) -> tuple[str, str]:
    """The first and last day or month of this week, month, quarter or year, or of one beside it."""
    if unit == "week":
        monday = moved(today, "day", 7 * step - today.weekday())
        return monday.isoformat(), moved(monday, "day", 6).isoformat()
    if unit == "quarter":
        then = moved(today.replace(day=1), "month", 3 * step)
        begin = then.replace(month=(then.month - 1) // 3 * 3 + 1)
        return begin.isoformat()[:7], moved(begin, "month", 2).isoformat()[:7]
    day = moved(today.replace(day=1), unit, step).isoformat()
    iso = day[:4] if unit == "year" else day[:7]
    return iso, iso
