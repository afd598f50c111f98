"""Points in time that a question names, and queries that mean them.

The parser points at single words: of “in May 1997” it often takes the year alone, and “January 1,
1998” is no text that any database stores. What such a phrase means needs no model: it is read
here, and a condition that goes by a part of it goes by all of it. Dates are taken to be stored as
SQLite's functions read them (ISO 8601), as all its date functions require.
"""

from __future__ import annotations

import re
from calendar import month_abbr, month_name
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

from sqlwright.local import form as f

_YEAR = r"(?P<year>(?:1[6-9]|20)\d\d)"
_NAMES = sorted({*month_name[1:], *month_abbr[1:], "Sept"}, key=len, reverse=True)
_MONTH = rf"(?P<month>{'|'.join(_NAMES)})\.?"
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_SHAPES = tuple(
    re.compile(rf"(?<![\w.]){shape}(?![\w]|\.\d)", re.IGNORECASE)
    for shape in (
        rf"{_MONTH}\s+(?:the\s+)?{_DAY}\s*,?\s+(?:of\s+)?{_YEAR}",
        rf"(?:the\s+)?{_DAY}\.?\s+(?:of\s+)?{_MONTH}\s*,?\s+(?:of\s+)?{_YEAR}",
        rf"{_YEAR}[-/](?P<number>[01]?\d)[-/](?P<day>[0-3]?\d)",
        rf"{_MONTH}\s*,?\s+(?:of\s+)?(?:the\s+year\s+)?{_YEAR}",
        rf"(?:Q(?P<quarter>[1-4])|(?:the\s+)?(?P<which>first|second|third|fourth|last)\s+quarter)"
        rf"\s*,?\s+(?:of\s+|in\s+)?{_YEAR}",
    )
)
_NUMBERS = {
    name.casefold(): number
    for names in (month_name, month_abbr)
    for number, name in enumerate(names)
    if name
} | {"sept": 9}
_QUARTERS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": 4}

_ALONE = re.compile(rf"\b(?:in|during|of|for|since|until)\s+(?:{_MONTH})", re.IGNORECASE)

_MONTHLY = re.compile(r"\b(?:per|each|every|by|a) (?:calendar )?month\b|\bmonthly\b", re.IGNORECASE)
_DAILY = re.compile(r"\b(?:per|each|every|by|a) (?:calendar )?day\b|\bdaily\b", re.IGNORECASE)
_YEARLY = re.compile(r"\b(?:per|each|every|by|a) year\b|\byearly\b|\bannual", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Moment:
    """A month, a quarter or a day that a text names."""

    span: tuple[int, int]
    """Its characters."""
    said: str
    year: str
    first: str
    """ISO 8601: 1997-05, or 1997-05-03."""
    last: str
    """Of a quarter its last month, else `first`."""

    def means(self, text: str) -> bool:
        """Whether a constant is a part of it that tells it: its year, or words of it."""
        words = set(re.findall(r"\w+", text.casefold()))
        return bool(words) and words <= set(re.findall(r"\w+", self.said.casefold()))


@lru_cache(maxsize=256)
def moments(text: str) -> tuple[Moment, ...]:
    """The months, quarters and days of a year that a text names, in reading order; a year by
    itself is none."""
    found: list[Moment] = []
    for shape in _SHAPES:
        for match in shape.finditer(text):
            start, end = match.span()
            moment = _moment(match)
            if moment and not any(m.span[0] < end and start < m.span[1] for m in found):
                found.append(moment)
    return tuple(sorted(found, key=lambda moment: moment.span))


def _moment(match: re.Match[str]) -> Moment | None:
    parts = match.groupdict()
    year = parts["year"]
    if "quarter" in parts:
        quarter = int(parts["quarter"] or _QUARTERS[parts["which"].casefold()])
        first, last = f"{year}-{quarter * 3 - 2:02d}", f"{year}-{quarter * 3:02d}"
        return Moment(match.span(), match.group(), year, first, last)
    name, day = parts.get("month"), parts.get("day")
    month = _NUMBERS[name.casefold()] if name else int(parts["number"])
    if not 1 <= month <= 12 or (day and not 1 <= int(day) <= 31):
        return None
    told = f"{year}-{month:02d}" + (f"-{int(day):02d}" if day else "")
    return Moment(match.span(), match.group(), year, told, told)


class Dating:
    """Makes queries mean the moments of one question; `is_time` tells columns of dates."""

    def __init__(self, question: str, is_time: Callable[[f.Column], bool]) -> None:
        self._moments = moments(question)
        self._is_time = is_time
        self._unit = ""
        self._month = bool(_ALONE.search(question))
        if not _YEARLY.search(question):
            self._unit = "month" if _MONTHLY.search(question) else ""
            self._unit = "day" if _DAILY.search(question) else self._unit

    def query(self, query: f.Query) -> f.Query:
        """The query with its conditions and groups of time as the question has them."""
        if not self._moments and not self._unit and not self._month:
            return query
        if isinstance(query, f.SetOperation):
            right = self.query(query.right)
            assert isinstance(right, f.Select)
            return replace(query, left=self.query(query.left), right=right)
        return replace(
            query,
            items=tuple(map(self._grouped, query.items)),
            derived=tuple(map(self.query, query.derived)),
            where=None if query.where is None else self._condition(query.where),
            group_by=tuple(map(self._term, query.group_by)),
            order_by=tuple(
                replace(term, expression=self._term(term.expression)) for term in query.order_by
            ),
        )

    def _grouped(self, item: f.Expression | f.Star) -> f.Expression | f.Star:
        return item if isinstance(item, f.Star) else self._term(item)

    def _term(self, term: f.Expression) -> f.Expression:
        """The years of a column of dates as the months or days that the question counts by."""
        match term:
            case f.Function("year", (f.Column() as column,)):
                if self._unit and self._is_time(column):
                    return _month(column) if self._unit == "month" else _day(column)
        return term

    def _condition(self, condition: f.Condition) -> f.Condition:
        match condition:
            case f.And(operands) | f.Or(operands):
                return replace(condition, operands=tuple(map(self._condition, operands)))
            case f.Not(operand):
                return replace(condition, operand=self._condition(operand))
            case f.InQuery(_, query) | f.Exists(query):
                return replace(condition, query=self.query(query))
            case f.Comparison(operator, left, f.Literal(str(text))):
                return self._compared(operator, left, text) or condition
            case f.Like(_, operand, f.Literal(str(text)), negated):
                operator = "!=" if negated else "="
                return self._compared(operator, operand, text) or condition
            case f.Between(operand, f.Literal(str(low)), f.Literal(str(high)), negated):
                return self._ranged(operand, low, high, negated) or condition
        return condition

    def _meant(self, text: str) -> Moment | None:
        found = [moment for moment in self._moments if moment.means(text)]
        return found[0] if len(found) == 1 else None

    def _column(self, operand: f.Expression) -> f.Column | None:
        """The column of dates that a condition goes by."""
        match operand:
            case (f.Column() as column) | f.Function("year" | "date", (f.Column() as column,)):
                return column if self._is_time(column) else None
        return None

    def _compared(
        self, operator: f.ComparisonOperator, operand: f.Expression, text: str
    ) -> f.Condition | None:
        column, moment = self._column(operand), self._meant(text)
        if column is None:
            return None
        if moment is None:
            month = _NUMBERS.get(text.casefold()) if self._month else None
            part = f.Function("month", (column,))
            return f.Comparison(operator, part, f.Literal(f"{month:02d}")) if month else None
        written = _written(column, moment)
        first, last = f.Literal(moment.first), f.Literal(moment.last)
        if operator in {"=", "!="} and moment.first != moment.last:
            return f.Between(written, first, last, negated=operator == "!=")
        return f.Comparison(operator, written, last if operator in {">", "<="} else first)

    def _ranged(
        self, operand: f.Expression, low: str, high: str, negated: bool
    ) -> f.Condition | None:
        column = self._column(operand)
        begin, end = self._meant(low), self._meant(high)
        if begin is None and end is None and len(self._moments) == 2:
            # Both are in one year, and it is the year that was taken of both.
            begin, end = self._moments
            if not (begin.means(low) and end.means(high)):
                return None
        if column is None or begin is None or end is None or len(begin.first) != len(end.first):
            return None
        bounds = f.Literal(begin.first), f.Literal(end.last)
        return f.Between(_written(column, begin), *bounds, negated=negated)


def _written(column: f.Column, moment: Moment) -> f.Expression:
    return _month(column) if len(moment.first) == len("1997-05") else _day(column)


def _month(column: f.Column) -> f.Function:
    return f.Function("strftime", (f.Literal("%Y-%m"), column))


def _day(column: f.Column) -> f.Function:
    return f.Function("date", (column,))
