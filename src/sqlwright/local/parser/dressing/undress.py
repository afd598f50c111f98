"""Takes out of a query what its columns' stored formats needed: the way back from `dress`.

A query that somebody wrote comes out as the parser would say it: SUBSTR(d, 7, 4) = '2023' and
dt / 10000 = 2023 are both the year of a day.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeGuard

from sqlwright.local.form import nodes as f
from sqlwright.local.form.walking import changed, inside
from sqlwright.local.parser.dressing.dress import PERIODS
from sqlwright.local.parser.dressing.moments import MOMENTS, TIMED, day_of, iso_of
from sqlwright.types.periods import Period, ending, period_of, starting
from sqlwright.types.stored import Formats, Stored

Dates = Callable[[object], Stored | None]
"""The way in which an expression is stored, where it is a date."""
_PLACES = {
    "dmy": {(1, 2): "day", (4, 2): "month", (7, 4): "year", (4, 7): "year_month",
            (1, 10): "date", (-4, None): "year", (7, None): "year"},
    "mdy": {(1, 2): "month", (4, 2): "day", (7, 4): "year", (1, 10): "date", (-4, None): "year",
            (7, None): "year"},
    "compact": {(1, 4): "year", (5, 2): "month", (7, 2): "day",
                (-2, None): "day", (7, None): "day"},
    "year_month": {(1, 4): "year", (6, 2): "month", (6, None): "month", (-2, None): "month"},
}  # fmt: skip
"""Parts by first character and length, None for all that follows."""
_UNTIMED = frozenset({(-4, None), (7, None)})
_ORDER = {("year", "month", "day"): "date", ("year", "month"): "year_month"}


def part_of(node: f.Expression, date: Dates) -> f.Expression | None:
    """The part of a date that an expression cuts out of a column, its own parts being read
    already; None for any other."""
    match node:
        case f.Function("substr", (inner, f.Literal(int(start)))):
            return _slice(inner, (start, None), date)
        case f.Function("substr_to", (inner, f.Literal(int(start)), f.Literal(int(length)))):
            return _slice(inner, (start, length), date)
        case f.Arithmetic("||"):
            return _joined(node, date)
        case f.Arithmetic("/", inner, f.Literal(10_000)):
            return f.Function("year", (inner,)) if _is_number(date(inner)) else None
        case f.Arithmetic("%", f.Function("year_month", (inner,)), f.Literal(100)):
            return f.Function("month", (inner,)) if _is_number(date(inner)) else None
        case f.Arithmetic("%", f.Arithmetic("/", inner, f.Literal(100)), f.Literal(100)):
            return f.Function("month", (inner,)) if _is_number(date(inner)) else None
        case f.Arithmetic("%", inner, f.Literal(100)):
            return f.Function("day", (inner,)) if _is_number(date(inner)) else None
        case f.Arithmetic("/", f.Arithmetic("+", month, f.Literal(2)), f.Literal(3)):
            return _quarter(month, date)
    return None


def _is_number(way: Stored | None) -> TypeGuard[Stored]:
    return way is not None and way.way == "compact" and way.number


def _slice(inner: f.Expression, place: tuple[int, int | None], date: Dates) -> f.Expression | None:
    way = date(inner)
    if way is None or (way.timed and place in _UNTIMED):
        return None
    name = _PLACES.get(way.way, {}).get(place)
    if name is None:
        return None
    part = f.Function(name, (inner,))
    # A slice of a number is a text, a part of it a number.
    is_text = way.way == "compact" and way.number
    return f.Function("text", (part,)) if is_text else part


def _quarter(month: f.Expression, date: Dates) -> f.Expression | None:
    match month:
        case f.Function("integer", (f.Function("month", (inner,)),)):
            return f.Function("quarter", (inner,)) if date(inner) else None
        case f.Function("month", (inner,)):
            return f.Function("quarter", (inner,)) if _is_number(date(inner)) else None
    return None


def _joined(node: f.Arithmetic, date: Dates) -> f.Expression | None:
    """SUBSTR(d, 7, 4) || '-' || SUBSTR(d, 4, 2) || '-' || SUBSTR(d, 1, 2), with the time of day
    behind it or not."""
    pieces = list(_pieces(node))
    marks = [piece for piece in pieces if piece == f.Literal("-")]
    columns = []
    names = []
    for piece in pieces:
        match piece:
            case f.Literal("-"):
                continue
            case f.Function("text", (f.Function(name, (inner,)),)) if date(inner):
                pass
            case f.Function(name, (inner,) | (inner, f.Literal(11))) if date(inner):
                pass
            case _:
                return None
        names.append(name)
        columns.append(inner)
    if len(set(columns)) != 1 or not columns:
        return None
    if names[-1] == "substr":
        days = names[:-1]
        whole = days == ["date"] or (days == ["year", "month", "day"] and len(marks) == 2)
        return f.Function("datetime", tuple(columns[:1])) if whole else None
    if names == ["year_month", "day"] and len(marks) == 1:
        return f.Function("date", tuple(columns[:1]))
    name = _ORDER.get(tuple(names), "")
    if not name or len(marks) != len(names) - 1 or pieces[1] != f.Literal("-"):
        return None
    return f.Function(name, tuple(columns[:1]))


def _pieces(node: f.Expression) -> Iterator[f.Expression]:
    if isinstance(node, f.Arithmetic) and node.operator == "||":
        yield from _pieces(node.left)
        yield from _pieces(node.right)
    else:
        yield node


_SUMMED = frozenset({"sum", "avg", "total", "median", "stddev", "stddev_pop", "percentile"})
_AMOUNTS = frozenset({"amount", "amount_comma", "real"})
_WHOLE_PARTS = frozenset({"year", "month", "day", "quarter"})


def undress(form: f.Query, formats: Formats) -> f.Query:
    """The form with the columns that `formats` names as plain ones, so that `dress` gives a query
    of the same rows. What isn't recognised stays as it is written."""
    return changed(form, _Undresser(formats).node) if formats else form


def converted_columns(form: f.Query, formats: Formats) -> Formats:
    """The columns that a query converts, or compares with what was converted."""
    used = dict.fromkeys(column.ref for column in inside(form, f.Column) if column.ref in formats)
    return {ref: formats[ref] for ref in used if undress(form, {ref: formats[ref]}) != form}


class _Undresser:
    """Undresses one node whose parts are undressed already."""

    def __init__(self, formats: Formats) -> None:
        self._formats = formats

    def way(self, node: object) -> Stored | None:
        """The way in which an undressed expression is stored."""
        match node:
            case f.Column(ref):
                return self._formats.get(ref)
            case f.Aggregate("min" | "max", operand):
                return self.way(operand)
        return None

    def _date(self, node: object) -> Stored | None:
        way = self.way(node)
        return way if way is not None and way.is_date else None

    def node(self, node: object) -> object:
        match node:
            case f.Function():
                return self._function(node)
            case f.Arithmetic():
                return self._arithmetic(node)
            case f.Aggregate(function, operand) | f.Window(function, operand):
                if operand is None or isinstance(operand, f.Star):
                    return node
                if function in _SUMMED:
                    return replace(node, operand=self._number(operand))
                if function in {"min", "max"}:
                    return replace(node, operand=self._sorted(operand))
            case f.OrderTerm(expression):
                return replace(node, expression=self._sorted(expression))
            case f.Comparison():
                return self._comparison(node)
            case f.Between():
                return self._between(node)
            case f.InList():
                return self._listed(node)
            case f.Like():
                return self._like(node)
        return node

    # ---- expressions

    def _plain(self, node: f.Expression) -> f.Expression:
        """A date that is read as a day, as the column itself where its days are all there is."""
        match node:
            case f.Function("date", (inner,)):
                way = self._date(inner)
                return inner if way is not None and not way.timed else node
            case f.Function("datetime", (inner,)) if self._date(inner):
                return inner
        return node

    def _sorted(self, node: f.Expression) -> f.Expression:
        match node:
            case f.Function("date" | "datetime", _):
                return self._plain(node)
        return self._number(node)

    def _number(self, node: f.Expression) -> f.Expression:
        match node:
            case f.Function("real", (inner,)) if self.way(inner) is not None:
                return inner
        return node

    def _function(self, node: f.Function) -> f.Expression:
        way_in = node.arguments[-1] if node.arguments else None
        if node.name in _AMOUNTS:
            return self._amount(node)
        if node.name.startswith("from_") and way_in is not None:
            way = self._date(way_in)
            if way is not None and way.way == node.name.removeprefix("from_"):
                return f.Function("datetime" if way.timed and _epoch(way) else "date", (way_in,))
            return node
        part = part_of(node, self._date)
        if part is not None:
            return part
        if node.name in MOMENTS:
            return self._moment(node)
        if node.name == "integer" and isinstance(way_in, f.Function):
            whole = way_in.name in _WHOLE_PARTS and self._date(way_in.arguments[0])
            return way_in if whole and whole.way == "compact" and whole.number else node
        return node

    def _moment(self, node: f.Function) -> f.Expression:
        """A function of dates; a day's parts don't need its time."""

        def argument(inner: f.Expression) -> f.Expression:
            match inner:
                case f.Function("date" | "datetime", (column,)) if self._date(column):
                    exact = node.name in TIMED or node.name == "strftime"
                    return self._plain(inner) if exact else column
            return inner

        match node:
            case f.Function("year" | "month" | "day" as part, (f.Function("from_dmy", (cut,)),)):
                way = self._date(cut)
                if way is not None and way.way == "mdy":
                    turned = {"month": "day", "day": "month"}
                    return f.Function(turned.get(part, part), (cut,))
        name, arguments = node.name, tuple(map(argument, node.arguments))
        if name == "strftime" and arguments[0] == f.Literal("%Y-%m") and self._date(arguments[1]):
            return f.Function("year_month", arguments[1:])
        return replace(node, arguments=arguments)

    def _amount(self, node: f.Function) -> f.Expression:
        """A text made a number, whatever is taken out of it first."""
        inner = node.arguments[0]
        while isinstance(inner, f.Function) and inner.name in {"replace", "trim", "trim_of"}:
            inner = inner.arguments[0]
        way = self.way(inner)
        if way is None or way.is_date:
            return node
        return f.Function("real", (inner,))

    def _arithmetic(self, node: f.Arithmetic) -> f.Expression:
        part = part_of(node, self._date)
        if part is not None:
            return part
        if node.operator == "||":
            return node
        left, right = self._number(node.left), self._number(node.right)
        match left, right:
            case f.Function("julianday", (later,)), f.Function("julianday", (earlier,)):
                if node.operator == "-" and (self._date(later) or self._date(earlier)):
                    return f.Function("days_between", (later, earlier))
        if node.operator == "/" and left != node.left:
            left = node.left  # An amount is no whole number, but a model can't know.
        return replace(node, left=left, right=right)

    # ---- conditions

    def _compared(self, node: f.Expression) -> tuple[f.Expression, Stored | None]:
        """An operand as it would be said, and how the days in it are stored."""
        match node:
            case f.Function("real", (inner,)) if self.way(inner) is not None:
                return inner, None
            case f.Function(name, (inner,)) if name in PERIODS:
                return self._plain(node), self._date(inner)
            case f.Arithmetic("/", inner, f.Literal(100)) | f.Function(
                "substr_to", (inner, f.Literal(1), f.Literal(6))
            ):
                way = self._date(inner)
                if way is not None and way.way == "compact":
                    return f.Function("year_month", (inner,)), way
        return self._plain(node), self._date(node)

    def _comparison(self, node: f.Comparison) -> f.Condition:
        operand, way = self._compared(node.left)
        if not isinstance(node.right, f.Literal):
            return replace(node, left=self._sorted(node.left), right=self._sorted(node.right))
        if way is None:
            return replace(node, left=operand, right=_part_text(operand, node.right, self._date))
        if isinstance(operand, f.Function):
            return self._part_compared(node, operand)
        iso = iso_of(node.right.value, way)
        if iso is None or not (way.ordered or iso == node.right.value or _equal(node)):
            return replace(node, left=operand)
        return self._day_compared(node.operator, operand, iso)

    def _part_compared(self, node: f.Comparison, operand: f.Function) -> f.Condition:
        assert isinstance(node.right, f.Literal)
        text = _period_text(node.right.value, PERIODS[operand.name])
        return replace(node, left=operand, right=node.right if text is None else f.Literal(text))

    def _day_compared(
        self, operator: f.ComparisonOperator, operand: f.Expression, iso: str
    ) -> f.Condition:
        """A comparison with the first or last day of a month or year, as one with that."""
        period = starting(iso) if operator in {">=", "<"} else None
        if operator in {">", "<="}:
            period = ending(iso)
        return f.Comparison(operator, *_said(operand, period or Period(iso)))

    def _between(self, node: f.Between) -> f.Condition:
        operand, way = self._compared(node.operand)
        if not (isinstance(node.low, f.Literal) and isinstance(node.high, f.Literal)):
            return replace(node, operand=operand)
        if isinstance(operand, f.Function) or way is None:
            low, high = (_part_text(operand, one, self._date) for one in (node.low, node.high))
            return replace(node, operand=operand, low=low, high=high)
        low_day, high_day = iso_of(node.low.value, way), iso_of(node.high.value, way)
        if low_day is None or high_day is None:
            return replace(node, operand=operand)
        return _range(operand, low_day, high_day, negated=node.negated)

    def _listed(self, node: f.InList) -> f.Condition:
        operand, way = self._compared(node.operand)
        if isinstance(operand, f.Function) or way is None:
            values = tuple(_part_text(operand, one, self._date) for one in node.values)
            return replace(node, operand=operand, values=values)
        days = [iso_of(one.value, way) for one in node.values]
        if any(iso is None for iso in days):
            return replace(node, operand=operand)
        return replace(node, operand=operand, values=tuple(f.Literal(d) for d in days if d))

    def _like(self, node: f.Like) -> f.Condition:
        way, phrase = self._date(node.operand), str(node.phrase.value)
        period: Period | None = None
        if way is not None and node.kind == "ends" and way.way in {"dmy", "mdy"} and not way.timed:
            last = phrase.lstrip("/.-_")
            period = period_of(last) if len(last) == 4 else None
            if way.way == "dmy" and len(last) == 7:
                period = period_of(f"{last[3:]}-{last[:2]}")
        if way is not None and node.kind == "starts" and way.way in {"compact", "year_month"}:
            digits = phrase.replace("-", "")
            iso = digits if len(digits) == 4 else f"{digits[:4]}-{digits[4:]}"
            period = period_of(iso) if len(digits) in {4, 6} else None
        if period is None:
            return node
        operator: f.ComparisonOperator = "!=" if node.negated else "="
        return f.Comparison(operator, *_said(node.operand, period))


def _equal(node: f.Comparison) -> bool:
    return node.operator in {"=", "!="}


def _epoch(way: Stored) -> bool:
    return way.way in {"seconds", "milliseconds"}


def _said(operand: f.Expression, period: Period) -> tuple[f.Expression, f.Literal]:
    """A column and a time, as the part of its dates that the time is."""
    name = {length: name for name, length in PERIODS.items()}[len(period.iso)]
    part = operand if name == "date" else f.Function(name, (operand,))
    return part, f.Literal(period.iso)


def _range(operand: f.Expression, low: str, high: str, *, negated: bool) -> f.Condition:
    """Days between two others: a year or a month where they are its bounds."""
    first, last = starting(low), ending(high)
    if first is not None and last is not None:
        if len(first.iso) != len(last.iso):
            first, last = Period(low[:7]), Period(high[:7])
        part, bound = _said(operand, first)
        if first == last:
            return f.Comparison("!=" if negated else "=", part, bound)
        return f.Between(part, bound, f.Literal(last.iso), negated)
    return f.Between(operand, f.Literal(low), f.Literal(high), negated)


def _period_text(value: str | float, length: int) -> str | None:
    """A constant that a part of a date is compared with, as ISO writes it."""
    text = str(value)
    if length == 7 and len(text) == 7 and not text[2].isdigit():
        text = f"{text[3:]}-{text[:2]}"
    elif length == 7 and len(text) == 6 and text.isdigit():
        text = f"{text[:4]}-{text[4:]}"
    elif length == 10:
        text = day_of(value) or text
    return text if len(text) == length and period_of(text) else None


def _part_text(operand: f.Expression, literal: f.Literal, date: object) -> f.Literal:
    """A constant that a part of a day without marks is compared with."""
    match operand:
        case f.Function(name, (inner,)) if callable(date) and date(inner):
            if name in PERIODS:
                text = _period_text(literal.value, PERIODS[name])
                return literal if text is None else f.Literal(text)
            if name in {"month", "day"} and isinstance(literal.value, int):
                return f.Literal(f"{literal.value:02d}")
    return literal
