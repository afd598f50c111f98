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
from sqlwright.local.form import nodes as f
from sqlwright.local.parser.grouping import part_of
from sqlwright.types.periods import period_of

_ALONE = re.compile(
    rf"\b(?:in|during|of|for|since|until)\s+(?:{'|'.join(MONTHS)})\b", re.IGNORECASE
)


class Dating:
    """Makes queries mean the moments of one question; `is_time` tells columns of dates."""

    def __init__(
        self, question: str, moments: Sequence[Moment], is_time: Callable[[f.Column], bool]
    ) -> None:
        self._moments = moments
        self._is_time = is_time
        self._month = bool(_ALONE.search(question))

    def query(self, query: f.Query) -> f.Query:
        """The query with its conditions of time as the question has them."""
        return _Dated(self._moments, self._month, self._is_time).query(query)


class _Dated:
    """One query. Of several moments in one year the first is meant where the year stands first."""

    def __init__(
        self,
        moments: Sequence[Moment],
        month: bool,
        is_time: Callable[[f.Column], bool],
    ) -> None:
        # The parser was asked with years, so a condition is matched to its moment by the year.
        self._left = {m.year: [one for one in moments if one.year == m.year] for m in moments}
        self._month, self._is_time = month, is_time

    def query(self, query: f.Query) -> f.Query:
        if isinstance(query, f.SetOperation):
            left, right = self.query(query.left), self.query(query.right)
            assert isinstance(right, f.Select)
            return replace(query, left=left, right=right)
        return replace(
            query,
            derived=tuple(map(self.query, query.derived)),
            where=None if query.where is None else self._condition(query.where),
        )

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
        return part_of(column, unit)

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
        written = part_of(column, moment.unit)
        first, last = f.Literal(moment.first), f.Literal(moment.last)
        # The words around the moment say more surely how to compare than the parser does.
        if operator != "!=":
            operator = moment.operator or ("=" if moment.is_range else operator)
        if operator in {"=", "!="} and moment.is_range:
            return f.Between(written, first, last, negated=operator == "!=")
        # After a quarter is after its last month, before it is before its first one.
        return f.Comparison(operator, written, last if operator in {">", "<="} else first)

    def _ranged(
        self, operand: f.Expression, low: str, high: str, *, negated: bool
    ) -> f.Condition | None:
        column = self._column(operand)
        if column is None:
            return None
        left = self._left.get(low, [])
        if len(left) == 1 and left[0].is_range:
            return self._compared("!=" if negated else "=", operand, low)
        begin, end = self._meant(low), self._meant(high)
        if begin is None or end is None or begin.unit != end.unit:
            return None
        bounds = f.Literal(begin.first), f.Literal(end.last)
        return f.Between(part_of(column, begin.unit), *bounds, negated=negated)
