"""Puts into a query what its columns' stored formats need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlwright.local.form import nodes as f
from sqlwright.local.form.walking import changed, inside
from sqlwright.local.parser.dressing.moments import (
    EXTREMES,
    MOMENTS,
    Ways,
    date_part,
    day,
    moment_of,
    stored_day,
)
from sqlwright.types.periods import period_of
from sqlwright.types.stored import Formats, Stored

_NUMERIC = frozenset({"abs", "round", "round_to", "integer", "power", "sqrt", "sign", "ceiling",
                      "floor", "greatest", "least", "coalesce", "nullif"})  # fmt: skip
"""Functions whose arguments are numbers where one is."""
_SUMMED = frozenset({"sum", "avg", "total", "median", "stddev", "stddev_pop", "percentile"})
PERIODS = {"year": 4, "year_month": 7, "date": 10}
"""Parts of a date that name a time by themselves, with their length."""


def dress(form: f.Query, formats: Formats) -> f.Query:
    """The form with each column that `formats` names converted wherever a date or a number is
    wanted of it. A column that is just shown, counted or grouped by stays as it is stored."""
    if not formats:
        return form

    def with_months(node: object) -> object:
        """STRFTIME('%Y-%m', d) as the part of a date that it is."""
        match node:
            case f.Function("strftime", (f.Literal("%Y-%m"), moment)):
                if any(column.ref in formats for column in inside(moment, f.Column)):
                    return f.Function("year_month", (moment,))
        return node

    return _Dresser(formats, ()).query(changed(form, with_months))


class _Dresser(Ways):
    """Dresses one SELECT; `derived` are the queries of its FROM clause, dressed."""

    def query(self, query: f.Query) -> f.Query:
        if isinstance(query, f.SetOperation):
            right = self.query(query.right)
            assert isinstance(right, f.Select)
            return replace(query, left=self.query(query.left), right=right)
        derived = tuple(map(self.query, query.derived))
        return _Dresser(self._formats, derived)._select(replace(query, derived=derived))

    def _select(self, select: f.Select) -> f.Select:
        keep = select.keep
        if keep is not None:
            keep = replace(keep, left=self.shown(keep.left))
        return replace(
            select,
            items=tuple(map(self._shown, select.items)),
            joins=tuple(map(self._join, select.joins)),
            where=None if select.where is None else self.condition(select.where),
            group_by=tuple(map(self.shown, select.group_by)),
            having=None if select.having is None else self.condition(select.having),
            order_by=tuple(map(self._term, select.order_by)),
            keep=keep,
        )

    def _shown(self, item: f.Expression | f.Star) -> f.Expression | f.Star:
        return item if isinstance(item, f.Star) else self.shown(item)

    def _join(self, join: f.Join) -> f.Join:
        if join.condition is None:
            return join
        return replace(join, condition=self.condition(join.condition))

    def _term(self, term: f.OrderTerm) -> f.OrderTerm:
        return replace(term, expression=self._sorted(term.expression))

    # ---- expressions

    def shown(self, node: f.Expression) -> f.Expression:
        """An expression whose own value is taken as it is."""
        match node:
            case f.Function(name, arguments) if name in MOMENTS:
                return self._moment(name, arguments)
            case f.Function(name, arguments):
                return self._function(name, arguments)
            case f.Aggregate():
                return self._aggregate(node)
            case f.Arithmetic(operator, left, right):
                read = self.shown if operator == "||" else self.number
                return replace(node, left=read(left), right=read(right))
            case f.Conditional(condition, then, otherwise):
                rest = None if otherwise is None else self.shown(otherwise)
                return self._alike(f.Conditional(self.condition(condition), self.shown(then), rest))
            case f.Subquery(query):
                return f.Subquery(self.query(query))
            case f.Window():
                return self._window(node)
        return node

    def _alike(self, node: f.Conditional) -> f.Conditional:
        """With both branches as numbers where one is an amount and the other a number."""
        ways = [self.way(one) for one in (node.then, node.otherwise) if one is not None]
        if len(set(ways)) < 2 or all(way is None or way.is_date for way in ways):
            return node
        rest = None if node.otherwise is None else self.meant(node.otherwise)
        return replace(node, then=self.meant(node.then), otherwise=rest)

    def number(self, node: f.Expression) -> f.Expression:
        """An expression that a number is wanted of."""
        dressed = self.shown(node)
        way = self.way(dressed)
        return dressed if way is None or way.is_date else self.meant(dressed)

    def _sorted(self, node: f.Expression) -> f.Expression:
        dressed = self.shown(node)
        way = self.way(dressed)
        return dressed if way is None or way.ordered else self.meant(dressed)

    def _moment(self, name: str, arguments: Sequence[f.Expression]) -> f.Expression:
        """A function of dates."""
        dressed = tuple(map(self.shown, arguments))
        ways = tuple(map(self.way, dressed))
        if len(dressed) == 1 and ways[0] is not None and ways[0].is_date:
            short = date_part(name, dressed[0], ways[0])
            if short is not None:
                return short
        pattern = dressed[0].value if isinstance(dressed[0], f.Literal) else ""
        timed = moment_of(name, str(pattern))
        return f.Function(
            name,
            tuple(
                self.meant(argument, timed=timed) if way is not None and way.is_date else argument
                for argument, way in zip(dressed, ways, strict=True)
            ),
        )

    def _function(self, name: str, arguments: Sequence[f.Expression]) -> f.Expression:
        if name == "real":
            number = self.number(arguments[0])
            plain = self.way(self.shown(arguments[0])) is None
            return f.Function(name, (number,)) if plain else number
        dressed = tuple(map(self.shown, arguments))
        if name == "integer" and _is_whole(dressed[0]):
            return dressed[0]
        if name in _NUMERIC and (name not in {"coalesce", "nullif"} or _any_number(dressed)):
            dressed = tuple(map(self.number, arguments))
        return f.Function(name, dressed)

    def _aggregate(self, node: f.Aggregate) -> f.Expression:
        if isinstance(node.operand, f.Star):
            return node
        if node.function in _SUMMED:
            return replace(node, operand=self.number(node.operand))
        if node.function in EXTREMES:
            return replace(node, operand=self._sorted(node.operand))
        return replace(node, operand=self.shown(node.operand))

    def _window(self, node: f.Window) -> f.Expression:
        operand = node.operand
        if operand is not None and not isinstance(operand, f.Star):
            read = self.number if node.function in _SUMMED else self.shown
            operand = (self._sorted if node.function in EXTREMES else read)(operand)
        return replace(
            node,
            operand=operand,
            partition=tuple(map(self.shown, node.partition)),
            order=tuple(map(self._term, node.order)),
        )

    # ---- conditions

    def condition(self, node: f.Condition) -> f.Condition:
        match node:
            case f.And(operands) | f.Or(operands):
                return replace(node, operands=tuple(map(self.condition, operands)))
            case f.Not(operand):
                return f.Not(self.condition(operand))
            case f.Exists(query):
                return replace(node, query=self.query(query))
            case f.IsNull(operand):
                return replace(node, operand=self.shown(operand))
            case f.Comparison(operator, left, f.Literal(value)):
                return self._compared(operator, left, value)
            case f.Comparison(operator, left, right):
                return f.Comparison(operator, *self._sides(operator, left, right))
            case f.Between():
                return self._between(node)
            case f.InList():
                return self._listed(node)
            case f.InQuery():
                return self._among(node)
            case f.Like():
                return self._like(node)

    def _sides(
        self, operator: str, left: f.Expression, right: f.Expression
    ) -> tuple[f.Expression, f.Expression]:
        """Both sides of a comparison: as they are stored where that compares rightly."""
        sides = self.shown(left), self.shown(right)
        ways = self.way(sides[0]), self.way(sides[1])
        if any(way is not None and way.way == "year_month" for way in ways) and all(
            _is_month(one) or self.way(one) is not None for one in sides
        ):
            return sides
        if ways[0] == ways[1] and (ways[0] is None or operator in {"=", "!="} or ways[0].ordered):
            return sides
        return self.meant(sides[0]), self.meant(sides[1])

    def _period(self, node: f.Expression) -> tuple[f.Expression, Stored] | None:
        """The column of days without marks that an operand names the times of."""
        match node:
            case f.Function(name, (inner,)) if name in PERIODS:
                node = inner
        dressed = self.shown(node)
        way = self.way(dressed)
        return (dressed, way) if way is not None and way.way == "compact" else None

    def _compared(
        self, operator: f.ComparisonOperator, left: f.Expression, value: str | float
    ) -> f.Condition:
        """A comparison with a constant."""
        found, period = self._period(left), period_of(value)
        if found is not None and period is not None and _fits(left, period.iso):
            operand, way = found
            first, last = stored_day(period.first, way), stored_day(period.last, way)
            if operator in {"=", "!="} and first != last:
                return f.Between(operand, first, last, negated=operator == "!=")
            return f.Comparison(operator, operand, last if operator in {">", "<="} else first)
        operand, (literal,) = self._against(
            left, (f.Literal(value),), equal=operator in {"=", "!="}
        )
        return f.Comparison(operator, operand, literal)

    def _against(
        self, node: f.Expression, literals: Sequence[f.Literal], *, equal: bool
    ) -> tuple[f.Expression, tuple[f.Literal, ...]]:
        """An operand and the constants that it is compared with."""
        dressed = self.shown(node)
        way = self.way(dressed)
        if way is None:
            if _is_whole(dressed) and not _is_whole(node):
                return dressed, tuple(map(_as_number, literals))
            return dressed, tuple(literals)
        if not way.is_date:
            numbers = tuple(map(_as_number, literals))
            if all(isinstance(number.value, str) for number in numbers):
                return dressed, tuple(literals)
            return self.meant(dressed), numbers
        periods = [period_of(one.value) if isinstance(one.value, str) else None for one in literals]
        if any(period is None for period in periods):
            return dressed, tuple(literals)
        days = [period.iso for period in periods if period is not None]
        if way.way == "year_month" and all(len(iso) > 4 for iso in days):
            return dressed, tuple(f.Literal(iso[:7]) for iso in days)
        if equal and way.mark and not way.timed and all(len(iso) == 10 for iso in days):
            return dressed, tuple(stored_day(iso, way) for iso in days)
        return day(self.meant(dressed, timed=False), way), tuple(literals)

    def _between(self, node: f.Between) -> f.Condition:
        if isinstance(node.low, f.Literal) and isinstance(node.high, f.Literal):
            return self._ranged(node, node.low, node.high)
        parts = tuple(self.shown(one) for one in (node.operand, node.low, node.high))
        ways = {self.way(part) for part in parts}
        if len(ways) > 1 or any(way is not None and not way.ordered for way in ways):
            parts = tuple(self.meant(part) for part in parts)
        operand, low, high = parts
        return f.Between(operand, low, high, node.negated)

    def _ranged(self, node: f.Between, low: f.Literal, high: f.Literal) -> f.Condition:
        """A range of constants."""
        found, begin, end = self._period(node.operand), period_of(low.value), period_of(high.value)
        if found and begin and end and _fits(node.operand, begin.iso, end.iso):
            operand, way = found
            first, last = stored_day(begin.first, way), stored_day(end.last, way)
            return f.Between(operand, first, last, node.negated)
        inner, (first, last) = self._against(node.operand, (low, high), equal=False)
        return f.Between(inner, first, last, node.negated)

    def _listed(self, node: f.InList) -> f.Condition:
        found = self._period(node.operand)
        periods = [period_of(one.value) for one in node.values]
        if found and all(p is not None and len(p.iso) == 10 for p in periods):
            days = tuple(stored_day(p.iso, found[1]) for p in periods if p is not None)
            return replace(node, operand=found[0], values=days)
        operand, values = self._against(node.operand, node.values, equal=True)
        return replace(node, operand=operand, values=values)

    def _among(self, node: f.InQuery) -> f.Condition:
        query = self.query(node.query)
        sides = self.shown(node.operand), f.Subquery(query)
        ways = self.way(sides[0]), self.way(sides[1])
        if ways[0] == ways[1]:
            return replace(node, operand=sides[0], query=query)
        right = self.meant(sides[1])
        assert isinstance(right, f.Subquery)
        return replace(node, operand=self.meant(sides[0]), query=right.query)

    def _like(self, node: f.Like) -> f.Condition:
        """A pattern; one that a date begins with is a time."""
        way = self.way(self.shown(node.operand))
        text = str(node.phrase.value).rstrip("-")
        period = period_of(text) if node.kind == "starts" else None
        if way is None or not way.is_date or period is None:
            return replace(node, operand=self.shown(node.operand))
        part = {length: name for name, length in PERIODS.items()}[len(period.iso)]
        operator: f.ComparisonOperator = "!=" if node.negated else "="
        return self._compared(operator, f.Function(part, (node.operand,)), period.iso)


def _fits(operand: f.Expression, *isos: str) -> bool:
    """True if constants are as long as the part of a date that they are compared with."""
    if isinstance(operand, f.Function) and operand.name in PERIODS:
        return all(len(iso) == PERIODS[operand.name] for iso in isos)
    return True


def _is_month(node: f.Expression) -> bool:
    """True of a month with its year, such as 2024-01."""
    return isinstance(node, f.Function) and node.name == "year_month"


def _is_whole(node: f.Expression) -> bool:
    """True of a part of a day that is stored as a number."""
    match node:
        case f.Arithmetic("/" | "%", f.Column() | f.Arithmetic("/"), f.Literal(int(by))):
            return by in {100, 10000}
    return False


def _any_number(nodes: Sequence[f.Expression]) -> bool:
    return any(isinstance(n, f.Literal) and not isinstance(n.value, str) for n in nodes)


def _as_number(literal: f.Literal) -> f.Literal:
    """A text of a number as the number."""
    if not isinstance(literal.value, str):
        return literal
    try:
        return f.Literal(int(literal.value))
    except ValueError:
        pass
    try:
        return f.Literal(float(literal.value))
    except ValueError:
        return literal
