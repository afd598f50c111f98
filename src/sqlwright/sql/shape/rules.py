"""The rules of each dialect: what stands for which node in SQLite's shape."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from sqlglot import exp

from sqlwright.sql.shape import moments, parts, values
from sqlwright.sql.shape.moments import call, days_between, is_call, is_day, moved, number, text
from sqlwright.sql.shape.values import real

_OWN_UNITS = re.compile(r"(day|month|year|hour|minute|second)s?", re.IGNORECASE)
"""Units that SQLite's modifiers have."""
_LONGER_UNITS = {"week": ("day", 7), "quarter": ("month", 3)}
"""SQLite's unit of other units, and how many of it one is."""
_NO_NUMBERS = frozenset({"0e0", "0.0"})
"""Zeros that a value is added to in order to be a real number."""
_ONE = (exp.Literal.number(1), exp.Literal.string("1"))
_TIMES = frozenset({"hour", "minute", "second"})
_COUNT = re.compile(r"[+-]?\d+")
_CAST = re.compile(r" ?(\w+?)s?")


class _Step(NamedTuple):
    amount: exp.Expr
    unit: str
    times: int
    """By which the amount is to be multiplied."""


def added(node: exp.Expr) -> exp.Expr | None:
    """A moment and an interval; None where neither side is one."""
    for given, other in ((node.this, node.expression), (node.expression, node.this)):
        if _is_real(other):
            return real(given)
        step = _step(other)
        if step is not None and _step(given) is None:
            return _moved(given, step, "+")
        if is_day(given) and _is_whole(other):
            return _moved(given, _Step(other.unnest(), "day", 1), "+")
    return None


def subtracted(node: exp.Expr) -> exp.Expr | None:
    """A moment without an interval, or the days from one day to another."""
    left, right = node.this, node.expression
    step = _step(right)
    if step is not None:
        return None if _step(left) is not None else _moved(left, step, "-")
    if is_day(left) and _is_whole(right):
        return _moved(left, _Step(right.unnest(), "day", 1), "-")
    return days_between(left, right) if is_day(left) and is_day(right) else None


def moved_by_interval(node: exp.Expr) -> exp.Expr | None:
    """MySQL's + and -, which take days for numbers where there is no interval."""
    sides = (node.this, node.expression)
    if any(_step(side) is not None for side in sides) or any(_is_real(side) for side in sides):
        return added(node) if isinstance(node, exp.Add) else subtracted(node)
    return None


def _is_real(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and node.name in _NO_NUMBERS


def added_by_call(node: exp.Expr) -> exp.Expr | None:
    """DATE_ADD."""
    step = _called_step(node)
    start = node.this
    if step is not None and step.unit == "second" and start.name == "1970-01-01":
        return call("DATETIME", step.amount, text("unixepoch"))
    return None if step is None else _moved(node.this, step, "+")


def subtracted_by_call(node: exp.Expr) -> exp.Expr | None:
    """DATE_SUB."""
    step = _called_step(node)
    return None if step is None else _moved(node.this, step, "-")


def _called_step(node: exp.Expr) -> _Step | None:
    given, unit = node.expression, node.args.get("unit")
    if isinstance(given, exp.Interval):
        return _step(given)
    return None if given is None else _of_unit(given, "DAY" if unit is None else unit.name)


def _is_whole(node: exp.Expr) -> bool:
    node = node.unnest()
    return isinstance(node, exp.Literal) and not node.is_string and node.name.isdigit()


def _step(node: exp.Expr) -> _Step | None:
    """An interval of one unit; None for anything else."""
    node = node.unnest()
    if isinstance(node, exp.Interval):
        unit = node.args.get("unit")
        return None if unit is None or node.this is None else _of_unit(node.this, unit.name)
    if isinstance(node, exp.Mul):
        for one, other in ((node.this, node.expression), (node.expression, node.this)):
            step = _step(one)
            if step is not None and step.amount in _ONE:
                return _Step(other.unnest(), step.unit, step.times)
    if isinstance(node, exp.MakeInterval):
        given = [value for value in node.args.values() if isinstance(value, exp.Kwarg)]
        return _of_unit(given[0].expression, given[0].name) if len(given) == 1 else None
    if isinstance(node, exp.Cast) and node.to.is_type("INTERVAL"):
        return _cast(node.this.unnest())
    return None


def _cast(node: exp.Expr) -> _Step | None:
    """A text made an interval: a count, and a unit after it."""
    if isinstance(node, exp.DPipe) and isinstance(node.expression, exp.Literal):
        unit = _CAST.fullmatch(node.expression.name)
        return None if unit is None else _of_unit(node.this, unit[1])
    if isinstance(node, exp.Literal):
        whole = re.fullmatch(r"([+-]?\d+) (\w+?)s?", node.name)
        return None if whole is None else _of_unit(text(whole[1]), whole[2])
    return None


def _of_unit(count: exp.Expr, unit: str) -> _Step | None:
    own = _OWN_UNITS.fullmatch(unit)
    found = _LONGER_UNITS.get(unit.lower().removesuffix("s"))
    if own is not None:
        found = (own[1].lower(), 1)
    if found is None:
        return None
    count = count.unnest()
    if isinstance(count, exp.Neg) and isinstance(count.this, exp.Literal):
        count = text(f"-{count.this.name}")
    if isinstance(count, exp.Literal) and not _COUNT.fullmatch(count.name):
        return None
    return _Step(count, *found)


def _moved(given: exp.Expr, step: _Step, sign: str) -> exp.Expr | None:
    count, time = step.amount, step.unit in _TIMES
    if is_call(given.unnest(), "JULIANDAY") or isinstance(given.unnest(), exp.Sub):
        return None
    if isinstance(count, exp.Literal):
        amount = int(count.name) * step.times * (-1 if sign == "-" else 1)
        return moved(given, text(f"{amount:+d} {step.unit}s"), time=time)
    if step.times != 1:
        count = exp.Paren(this=exp.Mul(this=count, expression=exp.Literal.number(step.times)))
    signed = exp.DPipe(this=text(sign), expression=count)
    return moved(given, exp.DPipe(this=signed, expression=text(f" {step.unit}s")), time=time)


def listed(node: exp.Expr) -> exp.Expr | None:
    """STRING_AGG, LISTAGG, GROUP_CONCAT: without the comma that is there anyway, nor an order by
    what is listed."""
    given, order = node.this, None
    if isinstance(given, exp.Order):
        given, order = given.this, given
    operand = given.expressions[0] if isinstance(given, exp.Distinct) else given
    if order is not None and any(key.this != operand for key in order.expressions):
        return None
    plain = exp.GroupConcat(this=given)
    separator = node.args.get("separator")
    if separator is not None and separator.name != ",":
        plain.set("separator", separator)
    return plain


def any_value(node: exp.Expr) -> exp.Expr | None:
    """ANY_VALUE and FIRST, which SQLite says by the column alone."""
    return _unordered(node.this)


def picked(node: exp.Expr) -> exp.Expr | None:
    """The first of an aggregate's array."""
    array = node.this.unnest()
    # The parser counts from 0, whatever the dialect does.
    first = [place.name for place in node.expressions] == ["0"]
    return _unordered(array.this) if isinstance(array, exp.ArrayAgg) and first else None


def picked_by_index(node: exp.Expr) -> exp.Expr | None:
    """The first of what MySQL's GROUP_CONCAT lists."""
    listed = node.this
    count = node.args.get("count")
    if not isinstance(listed, exp.GroupConcat) or count is None or count.name != "1":
        return None
    return _unordered(listed.this)


def _unordered(node: exp.Expr) -> exp.Expr:
    """An aggregate's operand without the order that it is taken in."""
    return node.this if isinstance(node, exp.Order) else node


def null_aware(node: exp.Expr) -> exp.Expr | None:
    """A node that the parser adds to ANY_VALUE."""
    return node.this if isinstance(node.this, exp.Column) else None


def counted(node: exp.Expr) -> exp.Expr | None:
    """COUNT()."""
    return exp.Count(this=exp.Star()) if node.this is None else None


def counted_if(node: exp.Expr) -> exp.Expr | None:
    """COUNT_IF."""
    return exp.Count(this=exp.Case(ifs=[exp.If(this=node.this, true=number(1))]))


def within_group(node: exp.Expr) -> exp.Expr | None:
    """PERCENTILE_CONT (...) WITHIN GROUP (ORDER BY ...)."""
    order = node.expression
    keys = order.expressions if isinstance(order, exp.Order) else []
    if not isinstance(node.this, exp.PercentileCont) or len(keys) != 1 or keys[0].args.get("desc"):
        return None
    return _percentile(keys[0].this, node.this.this)


def quantile(node: exp.Expr) -> exp.Expr | None:
    """QUANTILE_CONT."""
    return None if node.expression is None else _percentile(node.this, node.expression)


def _percentile(operand: exp.Expr, share: exp.Expr) -> exp.Expr | None:
    if not isinstance(share, exp.Literal) or share.is_string:
        return None
    percent = round(float(share.name) * 100, 6)
    if percent == 50:
        return exp.Median(this=operand)
    whole = percent == int(percent)
    return call("PERCENTILE", operand, number(int(percent))) if whole else None


def fetched(node: exp.Expr) -> exp.Expr | None:
    """FETCH FIRST, where it is nothing but a number of rows."""
    options = node.args.get("limit_options")
    given = {} if options is None else options.args
    if given.get("percent") or given.get("with_ties") or node.args.get("count") is None:
        return None
    return exp.Limit(expression=node.args["count"])


def grouped(node: exp.Expr) -> exp.Expr | None:
    """GROUP BY ALL: by what is shown and isn't worked out of a group."""
    select = node.parent
    if not node.args.get("all") or not isinstance(select, exp.Select):
        return None
    items = [item.unalias() for item in select.expressions]
    if any(item.is_star for item in items):
        return None
    plain = [item.copy() for item in items if item.find(exp.AggFunc) is None]
    return exp.Group(expressions=plain) if plain else None


Rule = Callable[[exp.Expr], exp.Expr | None]
Rules = Mapping[type[exp.Expr], Rule]


def first(*rules: Rule) -> Rule:
    """The first of some rules that changes the node."""

    def rule(node: exp.Expr) -> exp.Expr | None:
        return next((new for new in (one(node) for one in rules) if new is not None), None)

    return rule


def _called(node: exp.Expr) -> exp.Expr | None:
    """A call that the parser leaves as it is."""
    assert isinstance(node, exp.Anonymous)
    return moments.now() if moments.call_of_now(node) else parts.called_part(node)


def _called_in_mysql(node: exp.Expr) -> exp.Expr | None:
    """MySQL's WEEKDAY counts from Monday and is told where it is compared."""
    return moments.now() if moments.call_of_now(node) else values.called_piece(node)


_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
_ALL: Rules = {
    **dict.fromkeys(_COMPARISONS, parts.compared),
    exp.EQ: first(values.any_of, parts.compared),
    exp.NEQ: first(values.none_of, parts.compared),
    exp.Between: parts.between,
    exp.In: parts.within,
    exp.Case: parts.cases,
    exp.Is: values.is_value,
    exp.Boolean: values.truth,
    exp.ArrayContains: values.in_array, exp.Interval: values.span,
    exp.ILike: values.like,
    exp.ByteString: values.literal, exp.RawString: values.literal, exp.National: values.literal,
    exp.Cast: values.cast, exp.TryCast: values.cast,
    exp.Trunc: values.truncated,
    exp.Div: first(parts.days_of_seconds, values.safe_division),
    exp.IntDiv: values.whole_division,
    exp.DPipe: values.joined_texts,
    exp.Concat: values.concatenated, exp.ConcatWs: values.concatenated_with,
    exp.Left: values.left, exp.Right: values.right,
    exp.GroupConcat: listed,
    exp.AnyValue: any_value, exp.First: any_value, exp.Bracket: picked,
    exp.IgnoreNulls: null_aware,
    exp.Count: counted, exp.CountIf: counted_if,
    exp.WithinGroup: within_group, exp.PercentileCont: quantile,
    exp.Fetch: fetched, exp.Group: grouped,
    exp.Extract: parts.extract,
    exp.Year: parts.of("YEAR"), exp.Month: parts.of("MONTH"), exp.Day: parts.of("DAY"),
    exp.DayOfMonth: parts.of("DAY"), exp.DayOfYear: parts.of("DOY"), exp.Hour: parts.of("HOUR"),
    exp.Minute: parts.of("MINUTE"), exp.Quarter: parts.of("QUARTER"),
    exp.DayOfWeek: parts.of("DOW"), exp.Week: parts.of("WEEK"), exp.WeekOfYear: parts.of("WEEK"),
    exp.TimeToUnix: parts.of("EPOCH"),
    exp.DateDiff: parts.differs, exp.TimestampDiff: parts.differs,
    exp.CurrentDate: moments.current_date, exp.UtcDate: moments.current_date,
    exp.CurrentTimestamp: moments.now, exp.Localtimestamp: moments.now,
    exp.UtcTimestamp: moments.now, exp.AtTimeZone: moments.anywhere,
    exp.CurrentDatetime: moments.now,
    exp.TimeToStr: moments.formatted,
    exp.TsOrDsToDate: moments.to_day,
    exp.StrToDate: moments.read_by_format, exp.StrToTime: moments.read_by_format,
    exp.UnixToTime: moments.from_seconds,
    exp.TimestampTrunc: moments.truncated, exp.DateTrunc: moments.truncated,
    exp.LastDay: moments.last_day,
    exp.Dayname: moments.day_name, exp.Monthname: moments.month_name,
    exp.DateAdd: added_by_call, exp.DateSub: subtracted_by_call,
    exp.Add: first(parts.julian_day, added), exp.Sub: subtracted,
    exp.Anonymous: _called,
}  # fmt: skip
"""Rules for several dialects. A name that the parser gives to a node means the same in all
of them, but for those below."""
_FLAGS: Rules = dict.fromkeys(
    (exp.Where, exp.Having, exp.And, exp.Or, exp.Not, exp.If), values.flags
)
"""Columns that hold truth values stand as conditions."""
_OF: Mapping[str, Rules] = {
    "postgres": {**_FLAGS, exp.Like: values.escaping},
    "duckdb": {**_FLAGS, exp.Div: first(parts.days_of_seconds, values.real_division)},
    "mysql": {
        exp.Like: values.escaping,
        exp.Div: first(parts.days_of_seconds, values.real_division),
        exp.EQ: first(values.any_of, parts.shifted_day, parts.compared),
        exp.NEQ: first(values.none_of, parts.shifted_day, parts.compared),
        exp.In: first(parts.shifted_day, parts.within),
        exp.Add: moved_by_interval,
        exp.Sub: first(parts.day_from_sunday, moved_by_interval),
        exp.SubstringIndex: picked_by_index,
        exp.Week: parts.week_from_sunday,
        exp.DayOfWeek: parts.unshifted_day,
        exp.Anonymous: _called_in_mysql,
        exp.Time: lambda node: moments.call("TIME", moments.moment(node.this, "%H")),
    },
}
"""Rules of one dialect, by the parser's name of it."""


def rules_of(parser: str) -> Rules:
    """The rules of a dialect; for one that nothing is written for, what all share."""
    return {**_ALL, **_OF.get(parser, {})}
