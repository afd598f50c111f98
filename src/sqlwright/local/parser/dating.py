"""Rewrites conditions on a year, as the parser writes them, to the full dates that the question
names.

Dates are taken to be stored as SQLite's functions read them (ISO 8601), as all of its date
functions require.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from sqlwright.english.dates import Moment
from sqlwright.english.vocabulary import MONTHS
from sqlwright.english.words import split_name
from sqlwright.form import nodes as f
from sqlwright.types.periods import period_of

_ALONE = re.compile(
    rf"\b(?:in|during|of|for|since|until)\s+(?:{'|'.join(MONTHS)})\b", re.IGNORECASE
)
_UNITS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (unit, re.compile(rf"\b(?:(?:per|each|every|by)\s+{unit}|{adverb})\b", re.IGNORECASE))
    for unit, adverb in (("day", "daily"), ("week", "weekly"), ("month", "monthly"),
                         ("year", "yearly|annually"))
)  # fmt: skip
_WRITTEN = {
    "day": ("date", ()),
    "week": ("strftime", (f.Literal("%Y-%W"),)),
    "month": ("strftime", (f.Literal("%Y-%m"),)),
    "year": ("year", ()),
}
"""Each unit of time as a part of a date: the function and its arguments before the column."""


def unit_of(question: str) -> str:
    """The unit of time for each of which a question wants something; empty where there is none,
    or several."""
    units = [unit for unit, cue in _UNITS if cue.search(question)]
    return units[0] if len(units) == 1 else ""


class Dating:
    """Makes queries mean the moments of one question; `is_time` tells columns of dates."""

    def __init__(
        self, question: str, moments: Sequence[Moment], is_time: Callable[[f.Column], bool]
    ) -> None:
        self._moments = moments
        self._is_time = is_time
        self._month = bool(_ALONE.search(question))
        self._unit = unit_of(question)

    def query(self, query: f.Query) -> f.Query:
        """The query with its conditions and groups of time as the question has them."""
        return _Dated(self._moments, self._unit, self._month, self._is_time).query(query)


class _Dated:
    """One query. Of several moments in one year the first is meant where the year stands first."""

    def __init__(
        self,
        moments: Sequence[Moment],
        unit: str,
        month: bool,
        is_time: Callable[[f.Column], bool],
    ) -> None:
        # The parser was asked with years, so a condition is matched to its moment by the year.
        self._left = {m.year: [one for one in moments if one.year == m.year] for m in moments}
        self._unit, self._month, self._is_time = unit, month, is_time

    def query(self, query: f.Query) -> f.Query:
        if isinstance(query, f.SetOperation):
            left, right = self.query(query.left), self.query(query.right)
            assert isinstance(right, f.Select)
            return replace(query, left=left, right=right)
        dated = replace(
            query,
            derived=tuple(map(self.query, query.derived)),
            where=None if query.where is None else self._condition(query.where),
        )
        return self._grouped(dated) if self._unit and query.group_by else dated

    def _grouped(self, query: f.Select) -> f.Select:
        """With the unit that the question counts by, where it groups by dates or their years."""
        return replace(
            query,
            items=tuple(i if isinstance(i, f.Star) else self._term(i) for i in query.items),
            group_by=tuple(map(self._term, query.group_by)),
            order_by=tuple(
                replace(term, expression=self._term(term.expression)) for term in query.order_by
            ),
        )

    def _term(self, term: f.Expression) -> f.Expression:
        match term:
            case (f.Column() as column) | f.Function("year", (f.Column() as column,)):
                # A column that is called a year holds years, not dates.
                if self._is_time(column) and self._unit not in split_name(column.ref.column):
                    return _part(column, self._unit)
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
                meant = self._compared(operator, left, text)
                return meant or self._compared_part(operator, left, text) or condition
            case f.Like(_, operand, f.Literal(str(text)), negated):
                return self._compared("!=" if negated else "=", operand, text) or condition
            case f.Between(operand, f.Literal(str(low)), f.Literal(str(high)), negated):
                meant = self._ranged(operand, low, high, negated=negated)
                return meant or self._part_ranged(condition, (low, high)) or condition
            case f.InList(operand, values):
                texts = [str(one.value) for one in values]
                part = self._part_of(operand, texts)
                said = tuple(map(f.Literal, texts))
                return condition if part is None else replace(condition, operand=part, values=said)
        return condition

    def _part_of(self, operand: f.Expression, texts: Sequence[str]) -> f.Function | None:
        """The part of a column's dates that years or months are compared with. As a text every day
        of 1990 is after '1990'; the year of none is."""
        is_year = isinstance(operand, f.Function) and operand.name == "year"
        column = None if is_year else self._column(operand)
        lengths = {len(text) if period_of(text) else 0 for text in texts}
        if column is None or len(lengths) != 1:
            return None
        unit = {4: "year", 7: "month"}.get(lengths.pop(), "")
        if not unit or unit in split_name(column.ref.column):
            return None  # A column that is called a year holds years, not dates.
        return _part(column, unit)

    def _compared_part(
        self, operator: f.ComparisonOperator, operand: f.Expression, text: str
    ) -> f.Condition | None:
        if operator in {">=", "<"}:
            return None  # The same by either.
        part = self._part_of(operand, [text])
        return None if part is None else f.Comparison(operator, part, f.Literal(text))

    def _part_ranged(self, node: f.Between, bounds: Sequence[str]) -> f.Condition | None:
        part = self._part_of(node.operand, bounds)
        return None if part is None else replace(node, operand=part)

    def _column(self, operand: f.Expression) -> f.Column | None:
        """The column of dates that a condition goes by."""
        match operand:
            case (f.Column() as column) | f.Function("year" | "date", (f.Column() as column,)):
                return column if self._is_time(column) else None
        return None

    def _meant(self, text: str) -> Moment | None:
        """The moment in the year that a text names. Of several each is given once, in the order of
        the question, and the last for all that follow."""
        left = self._left.get(text.strip(" %"), [])
        return left.pop(0) if len(left) > 1 else next(iter(left), None)

    def _compared(
        self, operator: f.ComparisonOperator, operand: f.Expression, text: str
    ) -> f.Condition | None:
        column = self._column(operand)
        if column is None:
            return None
        moment = self._meant(text)
        if moment is None:
            # "In May" without a year is a moment of every year.
            month = MONTHS.get(text.casefold()) if self._month else None
            part = f.Function("month", (column,))
            return f.Comparison(operator, part, f.Literal(f"{month:02d}")) if month else None
        written = _part(column, moment.unit)
        first, last = f.Literal(moment.first), f.Literal(moment.last)
        # The words before the moment say more surely how to compare than the parser does.
        if operator != "!=":
            operator = moment.operator or operator
        if operator in {"=", "!="} and moment.first != moment.last:
            return f.Between(written, first, last, negated=operator == "!=")
        # After a quarter is after its last month, before it is before its first one.
        return f.Comparison(operator, written, last if operator in {">", "<="} else first)

    def _ranged(
        self, operand: f.Expression, low: str, high: str, *, negated: bool
    ) -> f.Condition | None:
        column = self._column(operand)
        if column is None:
            return None
        begin, end = self._meant(low), self._meant(high)
        if begin is None or end is None or begin.unit != end.unit:
            return None
        bounds = f.Literal(begin.first), f.Literal(end.last)
        return f.Between(_part(column, begin.unit), *bounds, negated=negated)


def _part(column: f.Column, unit: str) -> f.Function:
    """A date's day, week, month or year."""
    name, before = _WRITTEN[unit]
    return f.Function(name, (*before, column))
