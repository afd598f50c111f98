"""The rules of each dialect: what stands for which node in SQLite's shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from sqlwright.sql.shape import groups, moments, parts, steps, values

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
    exp.GroupConcat: groups.listed,
    exp.AnyValue: groups.any_value, exp.First: groups.any_value, exp.Bracket: groups.picked,
    exp.IgnoreNulls: groups.null_aware,
    exp.Count: groups.counted, exp.CountIf: groups.counted_if,
    exp.WithinGroup: groups.within_group, exp.PercentileCont: groups.quantile,
    exp.Fetch: groups.fetched, exp.Group: groups.grouped,
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
        exp.SubstringIndex: groups.picked_by_index,
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
