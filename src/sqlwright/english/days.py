"""Days and longer times as people name them: by a date, or by their place beside today."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from typing import NamedTuple

from sqlwright.english.bounds import Bound
from sqlwright.english.cues import SOME_NUMBER, one_of
from sqlwright.english.vocabulary import MONTHS, NUMBERS, WEEKDAY_NAMES
from sqlwright.types.periods import period_of

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
BEGUN = re.compile(
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
