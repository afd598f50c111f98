"""Points in time that a question names.

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

from sqlwright.english.bounds import Bound, bound_around, follows_at_once, range_opens
from sqlwright.english.cues import SOME_NUMBER, one_of
from sqlwright.english.vocabulary import MONTHS, NUMBERS, WEEKDAY_NAMES
from sqlwright.types.periods import Period, is_bound, period_of

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

ON = re.compile(r"\bon\s+$", re.IGNORECASE)

_COUNT = rf"(?P<number>{SOME_NUMBER})"
_UNIT = r"(?P<unit>day|week|month|year)"
_IN = r"(?:in|during|over|within|for|of|from|since)"
_SO_FAR = r"so\s+far|to\s+date|until\s+now|up\s+to\s+now"
_WEEKDAYS = {name: place for place, names in enumerate(WEEKDAY_NAMES) for name in names}
_RELATIVE = tuple(
    re.compile(rf"(?<![\w.]){shape}(?!\w)(?!\s+(?:of|that|when|which|on record))", re.IGNORECASE)
    for shape in (
        rf"(?:{_IN}\s+)?(?:the\s+)?(?P<way>last|past|previous|next|coming)\s+{_COUNT}\s+{_UNIT}s?",
        rf"(?:{_IN}\s+)?the\s+(?P<way>past)\s+{_UNIT}",
        rf"{_IN}\s+(?:the\s+)?(?P<way>past)\s+{_UNIT}",
        rf"{_IN}\s+the\s+(?P<way>last)\s+{_UNIT}",
        rf"(?P<how>(?:more|less|longer|fewer)\s+than\s+|over\s+|at\s+(?:least|most)\s+)?"
        rf"(?P<number>{SOME_NUMBER}|an?)\s+{_UNIT}s?\s+(?P<ago>ago)",
        rf"(?P<how>older\s+than)\s+{_COUNT}\s+(?P<unit>day|week|month)s?(?P<ago>)(?!\s+old)",
        rf"(?P<so>so\s+far\s+)?(?<!the )(?P<which>last|previous|this|current|next)\s+"
        rf"(?P<unit>week|month|quarter|year)(?P<far>\s+(?:{_SO_FAR}))?",
        r"(?P<unit>week|month|quarter|year)[- ]to[- ]date(?P<so>)",
        r"(?:(?<=in )|(?<=during )|(?<=for )|(?<=since ))the\s+"
        r"(?:(?P<which>previous|current|next)\s+(?P<unit>week|month|quarter|year)"
        r"|(?P<last>last)\s+(?P<quarter>quarter))",
        r"(?P<turn>last|past|this|next)\s+(?P<weekday>(?:mon|tues|wednes|thurs|fri|satur|sun)day)",
        r"the\s+day\s+(?P<beside>before\s+yesterday|after\s+tomorrow)",
        r"(?P<day>today|yesterday|tomorrow)",
    )
)
_STEPS = {"last": -1, "previous": -1, "this": 0, "current": 0, "next": 1}
_DAYS = {"yesterday": -1, "today": 0, "tomorrow": 1}
_HOW: dict[str, Bound] = {
    "more": "<", "longer": "<", "over": "<", "older": "<", "at least": "<=",
    "less": ">", "fewer": ">", "at most": ">=",
}  # fmt: skip
"""Words before a time that is so long ago, with how to compare with it."""

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
        ends = {">=": self.first, "<": self.first, ">": self.last, "<=": self.last}
        if self.is_range and not self.operator:
            asked = {">=": self.first, "<=": self.last}
        else:
            asked = {self.operator or "": ends.get(self.operator or "", "")}
        return any(is_bound(end, operator, texts) for operator, end in asked.items()) or any(
            text == time or text.startswith((f"{time}-", f"{time} ")) or time == f"{text}:00"
            for text in texts
            for time in (self.first, self.last)
        )


def moments(text: str, today: date | None = None) -> tuple[Moment, ...]:
    """The moments that a text names, in reading order; a year by itself is none. Two that enclose
    a range are one. Without `today` those that depend on it are left out."""
    found: list[Moment] = []
    for moment in (*_absolute(text), *(_relative(text, today) if today else ())):
        start, end = moment.span
        if not any(m.span[0] < end and start < m.span[1] for m in found):
            found.append(moment)
    found.sort(key=lambda moment: moment.span)
    return _enclosing([_bounded(one, text) for one in _ranges(found, text)], text)


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


def _enclosing(found: Iterable[Moment], text: str) -> tuple[Moment, ...]:
    """The moments with one in place of two bounds that follow one another: after May and before
    July."""
    done: list[Moment] = []
    for moment in found:
        low, high = (done[-1] if done else moment), moment
        if (
            low.operator in {">", ">="}
            and high.operator in {"<", "<="}
            and "time" not in {low.unit, high.unit}
            and follows_at_once(text[low.span[1] : high.span[0]])
        ):
            first = Period(low.last).after if low.operator == ">" else Period(low.first).first
            last = Period(high.first).before if high.operator == "<" else Period(high.last).last
            if first <= last:
                span = low.span[0], high.span[1]
                relative = low.relative or high.relative
                done[-1] = Moment(span, text[slice(*span)], first, last, relative=relative)
                continue
        done.append(moment)
    return tuple(done)


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


_LEADS: dict[str | None, str] = {
    None: "", "<": "before ", ">": "after ", "<=": "until ", ">=": "since ",
}  # fmt: skip


def with_dates(text: str) -> str:
    """A text with its moments as queries write them."""
    for moment in reversed(moments(text)):
        start, end = moment.span
        dates = f"{moment.first} {moment.last}" if moment.is_range else moment.first
        text = text[:start] + _LEADS[moment.operator] + dates + text[end:]
    return text


def _absolute(text: str) -> Iterator[Moment]:
    for shape in _ABSOLUTE:
        for match in shape.finditer(text):
            parts = match.groupdict()
            bounds = _months(parts) or _days(parts)
            if bounds is not None:
                yield Moment(match.span(), match.group(), *bounds)


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
    number = MONTHS[name.casefold()] if name else int(parts["number"] or 0)
    year = parts["year"] or ""
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


def _relative(text: str, today: date) -> Iterator[Moment]:
    for shape in _RELATIVE:
        for match in shape.finditer(text):
            parts = {name: said.casefold() for name, said in match.groupdict().items() if said}
            if "ago" in match.groupdict():
                meant = _ago(parts, today)
            elif "way" in parts:
                meant = _beside(parts, today)
            else:
                meant = _named(
                    parts, today, so_far="so" in match.groupdict() and not parts.get("which")
                )
            if meant is not None:
                yield Moment(match.span(), match.group(), *meant, relative=True)


MOST = 3650
"""Most days, weeks, months or years that are counted from today; chosen."""


def _count(parts: Mapping[str, str]) -> int | None:
    said = parts.get("number", "1")
    count = int(said) if said.isdigit() else NUMBERS.get(said, 1)
    return count if 1 <= count <= MOST else None


def _ago(parts: Mapping[str, str], today: date) -> tuple[str, str, Bound | None] | None:
    """The day so many days or months ago, and how to compare with it."""
    count = _count(parts)
    if count is None:
        return None
    how = parts.get("how", "")
    then = moved(today, parts["unit"], -count).isoformat()
    return then, then, next((bound for said, bound in _HOW.items() if how.startswith(said)), None)


def _beside(parts: Mapping[str, str], today: date) -> tuple[str, str] | None:
    """The last or next so many days, weeks, months or years, with today."""
    count = _count(parts)
    if count is None:
        return None
    if parts["way"] in {"next", "coming"}:
        end = moved(moved(today, parts["unit"], count), "day", -1)
        return today.isoformat(), end.isoformat()
    begin = moved(moved(today, parts["unit"], -count), "day", 1)
    return begin.isoformat(), today.isoformat()


def _named(parts: Mapping[str, str], today: date, *, so_far: bool) -> tuple[str, str]:
    """A day, week, month, quarter or year that is called by its place beside today."""
    if "day" in parts or "beside" in parts:
        steps = _DAYS[parts["day"]] if "day" in parts else 2
        if parts.get("beside", "").startswith("before"):
            steps = -2
        return (day := moved(today, "day", steps).isoformat()), day
    if "weekday" in parts:
        place = _WEEKDAYS[parts["weekday"]]
        ahead = (place - today.weekday()) % 7
        steps = {"next": ahead or 7, "this": place - today.weekday()}.get(parts["turn"], ahead - 7)
        return (day := moved(today, "day", steps).isoformat()), day
    unit = parts.get("unit") or parts["quarter"]
    first, last = _period(today, unit, _STEPS[parts.get("which") or parts.get("last", "this")])
    if so_far or "so" in parts or "far" in parts:
        return _day(first, first=True), today.isoformat()
    return first, last


def _day(iso: str, *, first: bool) -> str:
    """The first or last day of a month or year; days and times as they are."""
    period = period_of(iso)
    return iso if period is None else period.first if first else period.last


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
