"""Points in time that a question names: by a date, or by their place beside today.

The parser reads years well and longer dates badly: of “in May 1997” it takes the year alone, and
“January 1, 1998” it cuts at the comma. What such a phrase means needs no model: it is read here,
the parser is asked with the year in its place, and its condition on that year is made one on all
that was said (`dating.py`). “Last month” and its like are read the same way, from today's date.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import lru_cache
from typing import NamedTuple

from sqlwright.english.bounds import LEADS, Bound, bound_around, range_opens
from sqlwright.english.cues import SOME_NUMBER, one_of
from sqlwright.english.vocabulary import MONTHS, NUMBERS, WEEKDAY_NAMES
from sqlwright.types.periods import is_bound, period_of

_YEAR = r"(?P<year>(?:1[6-9]|20)\d\d)"
_MONTH = rf"(?P<month>{one_of(MONTHS)})\.?"
_NTH = r"(?:st|nd|rd|th)?"
_DAY = rf"(?P<day>[0-3]?\d){_NTH}"
_TO = r"\s*(?:\b(?:to|until|till|through|thru)\b|[-–—]|(?P<and>\band\b))\s*"
_ABSOLUTE = tuple(
    re.compile(rf"(?<![\w.])['\"]?{shape}['\"]?(?!\w|\.\d|[T\s]+\d{{1,2}}:\d)", re.IGNORECASE)
    for shape in (
        rf"(?P<both>between\s+|from\s+)?{_MONTH}\s+(?:the\s+)?{_DAY}{_TO}(?:the\s+)?"
        rf"(?P<until>[0-3]?\d){_NTH}\s*,?\s+(?:of\s+)?{_YEAR}",
        rf"{_MONTH}\s+(?:the\s+)?{_DAY}\s*,?\s+(?:of\s+)?{_YEAR}",
        rf"(?:the\s+)?{_DAY}\.?\s+(?:of\s+)?{_MONTH}\s*,?\s+(?:of\s+)?{_YEAR}",
        rf"{_YEAR}[-/](?P<number>[01]?\d)[-/](?P<day>[0-3]?\d)"
        r"(?:[T\s]+(?P<clock>[0-2]?\d:[0-5]\d(?::[0-5]\d)?))?",
        rf"(?P<day>[0-3]?\d)\.(?P<number>[01]?\d)\.{_YEAR}",
        rf"{_MONTH}\s*,?\s+(?:of\s+)?(?:the\s+year\s+)?{_YEAR}",
        rf"{_YEAR}-(?P<number>0[1-9]|1[0-2])(?![-/]\d|\s+seasons?\b)",
        rf"(?:(?<=end of )|(?<=start of )|(?<=beginning of )){_YEAR}",
        rf"(?:Q(?P<quarter>[1-4])|(?:the\s+)?(?P<which>first|second|third|fourth|last)\s+quarter)"
        rf"\s*,?\s+(?:of\s+|in\s+)?{_YEAR}",
        rf"(?:H(?P<half>[12])|(?:the\s+)?(?P<which>first|second|last)\s+half)"
        rf"\s*,?\s+(?:of\s+|in\s+)?{_YEAR}",
    )
)
_PLACES = {"first": 1, "second": 2, "third": 3, "fourth": 4}
_BEGUN = re.compile(
    rf"(?<![\w.])(?:{_MONTH}(?:\s+(?:the\s+)?{_DAY})?"
    rf"|(?:the\s+)?(?P<only>[0-3]?\d){_NTH}(?:\s+(?:of\s+)?(?P<named>{one_of(MONTHS)}))?)"
    r"(?P<between>\s*(?:,?\s*\b(?:to|until|till|through|thru|and)\b|[-–—])\s*(?:the\s+)?)$",
    re.IGNORECASE,
)
"""The first end of a range that leaves the year, or month and year, to the other one."""

_COUNT = rf"(?P<number>{SOME_NUMBER})"
_UNIT = r"(?P<unit>day|week|month|year)"
_LONG = r"(?P<unit>week|month|quarter|year)"
_IN = r"(?:in|during|over|within|for|of|from|since)"
_RELATIVE = tuple(
    re.compile(rf"(?<![\w.]){shape}(?!\w)(?!\s+(?:of|that|when|which|on record))", re.IGNORECASE)
    for shape in (
        rf"(?:{_IN}\s+)?(?:the\s+)?(?P<way>last|past|previous|next|coming)\s+{_COUNT}\s+{_UNIT}s?",
        rf"(?:{_IN}\s+(?:the\s+)?|the\s+)(?P<way>past)\s+{_UNIT}",
        rf"{_IN}\s+the\s+(?P<way>last)\s+{_UNIT}",
        rf"(?:(?P<how>(?:more|less)\s+than|over|at\s+(?:least|most))\s+)?"
        rf"(?P<number>{SOME_NUMBER}|an?)\s+{_UNIT}s?\s+(?P<ago>ago)",
        rf"(?P<ago>older\s+than)\s+{_COUNT}\s+{_UNIT}s?(?!\s+old)",
        rf"(?P<so>so\s+far\s+)?(?<!the )(?P<which>last|previous|this|current|next)\s+{_LONG}"
        r"(?P<far>\s+(?:so\s+far|to\s+date|until\s+now|up\s+to\s+now))?",
        rf"{_LONG}[- ](?P<far>to[- ]date)",
        rf"(?:(?<=in )|(?<=during )|(?<=for )|(?<=since ))the\s+"
        rf"(?P<which>previous|current|next|last(?=\s+quarter))\s+{_LONG}",
        r"(?P<turn>last|past|this|next)\s+(?P<weekday>(?:mon|tues|wednes|thurs|fri|satur|sun)day)",
        r"(?P<day>the\s+day\s+(?:before\s+yesterday|after\s+tomorrow)|today|yesterday|tomorrow)",
    )
)
_STEPS = {"last": -1, "previous": -1, "this": 0, "current": 0, "next": 1}
_DAYS = {"yesterday": -1, "today": 0, "tomorrow": 1,
         "the day before yesterday": -2, "the day after tomorrow": 2}  # fmt: skip
_HOW: dict[str, Bound] = {
    "more than": "<", "over": "<", "older than": "<", "at least": "<=", "less than": ">",
    "at most": ">=",
}  # fmt: skip
"""Words before a time that is so long ago, with how to compare with it."""
_WEEKDAYS = {names[0]: place for place, names in enumerate(WEEKDAY_NAMES)}
MOST = 3650
"""Most days, weeks, months or years that are counted from today; chosen."""


class Named(NamedTuple):
    """A time: where it is said, its first and last day, month or year, and a comparison with it."""

    span: tuple[int, int]
    first: str
    last: str
    operator: Bound | None = None
    relative: bool = False
    """True if it depends on today's date."""


def absolute(text: str) -> Iterator[Named]:
    """The times that a text says by their dates."""
    for shape in _ABSOLUTE:
        for match in shape.finditer(text):
            parts = match.groupdict()
            bounds = _months(parts) or _days(parts)
            if bounds is not None:
                yield Named(match.span(), *bounds)


def _months(parts: Mapping[str, str | None]) -> tuple[str, str] | None:
    """The first and last month of a quarter or half of a year; None for other times."""
    long = 3 if "quarter" in parts else 6 if "half" in parts else 0
    if not long:
        return None
    said = parts.get("quarter") or parts.get("half") or (parts["which"] or "").casefold()
    place = int(said) if said.isdigit() else _PLACES.get(said, 12 // long)
    year = parts["year"]
    return f"{year}-{(place - 1) * long + 1:02d}", f"{year}-{place * long:02d}"


def _days(parts: Mapping[str, str | None]) -> tuple[str, str] | None:
    """The month, day or time that is said, or the days of a range in one month."""
    name, day, clock, until = map(parts.get, ("month", "day", "clock", "until"))
    year = parts["year"] or ""
    if name is None and "number" not in parts:
        return year, year
    number = MONTHS[name.casefold()] if name else int(parts["number"] or 0)
    if name is day is None and number == (int(year) + 1) % 100:
        return None  # 2010-11 is a season rather than a month.
    if until and parts["and"] and (parts["both"] or "").casefold().strip() != "between":
        return None
    month = f"{year}-{number:02d}"
    first = f"{month}-{int(day):02d}" if day else month
    last = f"{month}-{int(until):02d}" if until else first
    if period_of(first) is None or period_of(last) is None or first > last:
        return None
    if clock:
        first = last = f"{first} {clock.zfill(5)}{'' if clock.count(':') > 1 else ':00'}"
    return first, last


def relative(text: str, today: date) -> Iterator[Named]:
    """The times that a text says by their place beside today; the last seven days are seven with
    today."""
    for shape in _RELATIVE:
        for match in shape.finditer(text):
            parts = {n: " ".join(s.casefold().split()) for n, s in match.groupdict().items() if s}
            number = parts.get("number", "1")
            count = int(number) if number.isdigit() else NUMBERS.get(number, 1)
            if 1 <= count <= MOST:
                first, last = _beside(parts, count, today)
                how = parts.get("how") or parts.get("ago", "")
                yield Named(match.span(), first, last, _HOW.get(how), relative=True)


def _beside(parts: Mapping[str, str], count: int, today: date) -> tuple[str, str]:
    unit, way = parts.get("unit", "day"), parts.get("way")
    if "day" in parts or "weekday" in parts:
        first = last = moved(today, "day", _steps(parts, today))
    elif "ago" in parts:
        first = last = moved(today, unit, -count)
    elif way in {"next", "coming"}:
        first, last = today, moved(moved(today, unit, count), "day", -1)
    elif way:
        first, last = moved(moved(today, unit, -count), "day", 1), today
    else:
        begin, end = _period(today, unit, _STEPS[parts.get("which", "this")])
        period = period_of(begin)
        so_far = period is not None and ("so" in parts or "far" in parts)
        return (period.first, today.isoformat()) if period and so_far else (begin, end)
    return first.isoformat(), last.isoformat()


def _steps(parts: Mapping[str, str], today: date) -> int:
    """The days from today to yesterday, last Monday and their like."""
    if "day" in parts:
        return _DAYS[parts["day"]]
    here = _WEEKDAYS[parts["weekday"]] - today.weekday()
    return {"this": here, "next": here % 7 or 7}.get(parts["turn"], here % 7 - 7)


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


@lru_cache(maxsize=64)
def moments(text: str, today: date | None = None) -> tuple[Moment, ...]:
    """The moments that a text names, in reading order; a year by itself is none. Two that enclose
    a range are one. Without `today` those that depend on it are left out. A text is read once."""
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
        begun = _BEGUN.search(text, done[-1].span[1] if done else 0, moment.span[0])
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
