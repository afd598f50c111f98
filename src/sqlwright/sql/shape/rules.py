"""The rules of each dialect: what stands for which node in SQLite's shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from sqlwright.sql.shape import moments, parts, steps, values
from sqlwright.sql.shape.moments import call, number


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
    exp.DateAdd: steps.added_by_call, exp.DateSub: steps.subtracted_by_call,
    exp.Add: first(parts.julian_day, steps.added), exp.Sub: steps.subtracted,
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
        exp.Add: steps.moved_by_interval,
        exp.Sub: first(parts.day_from_sunday, steps.moved_by_interval),
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
