"""Parts of dates that other dialects give as numbers, and what these are compared with."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from sqlwright.sql.shape.moments import (
    NUMBER,
    SPAN,
    as_integer,
    days_between,
    is_call,
    julian,
    moment,
    part,
    parts_between,
    quarter,
    text,
)

_FORMS = {
    "YEAR": "%Y", "YEARS": "%Y", "MONTH": "%m", "MONTHS": "%m", "DAY": "%d", "DAYS": "%d",
    "HOUR": "%H", "HOURS": "%H", "MINUTE": "%M", "MINUTES": "%M", "DOW": "%w", "DAYOFWEEK": "%w",
    "WEEKDAY": "%w", "DOY": "%j", "DAYOFYEAR": "%j", "DAYOFMONTH": "%d", "WEEK": "%V",
    "WEEKOFYEAR": "%V",
}  # fmt: skip
"""STRFTIME's formats by the names of parts."""
_WIDTHS = {"%Y": 4, "%m": 2, "%d": 2, "%H": 2, "%M": 2, "%w": 1, "%j": 3, "%V": 2, "%U": 2}
"""Digits of the texts that the formats give."""

Rule = Callable[[exp.Expr], exp.Expr | None]


def part_named(name: str, node: exp.Expr) -> exp.Expr | None:
    """A part of a moment, or of the time between two, by its name; None for other parts."""
    name, bare = name.upper(), node.unnest()
    if isinstance(bare, exp.Sub):
        return _part_between(name, bare)
    interval = (isinstance(bare, exp.Cast) and bare.to.is_type("INTERVAL")) or SPAN in bare.meta
    if interval or isinstance(bare, exp.Interval) or is_call(bare, "AGE", "JUSTIFY_INTERVAL"):
        return None
    if name == "EPOCH":
        return part("%s", node)
    if name == "QUARTER":
        return quarter(node)
    form = _FORMS.get(name)
    return None if form is None else part(form, node, is_number=True)


def _part_between(name: str, node: exp.Sub) -> exp.Expr | None:
    """A part of the time between two moments: whole days, or seconds."""
    sides = (node.this, node.expression)
    if all(is_call(side, "JULIANDAY") for side in sides):
        sides = tuple(side.expressions[0] for side in sides)
    if name in {"DAY", "DAYS"}:
        return days_between(*sides)
    return parts_between("%s", *sides) if name == "EPOCH" else None


def extract(node: exp.Expr) -> exp.Expr | None:
    """EXTRACT and DATE_PART."""
    return part_named(node.name, node.expression)


def of(name: str) -> Rule:
    """A function of one moment that gives a part."""

    def rule(node: exp.Expr) -> exp.Expr | None:
        return part_named(name, node.this)

    return rule


def week_from_sunday(node: exp.Expr) -> exp.Expr | None:
    """MySQL's WEEK, whose weeks begin on Sundays."""
    return None if node.args.get("mode") else part("%U", node.this, is_number=True)


def called_part(node: exp.Anonymous) -> exp.Expr | None:
    """A call of a function of parts that the parser leaves as it is; None for other functions."""
    name, given = node.name.lower(), node.expressions
    if name in {"date_part", "datepart"} and len(given) == 2:
        unit = given[0].name
        return part_named(unit, given[1])
    if name == "weekday" and len(given) == 1:
        return part_named("DOW", given[0])
    return julian(given[0]) if name == "julian" and len(given) == 1 else None


def differs(node: exp.Expr) -> exp.Expr | None:
    """DATEDIFF and TIMESTAMPDIFF, where they count what lies between two moments as SQLite's
    functions can: days, seconds, turns of the year."""
    unit = node.args.get("unit")
    name = "DAY" if unit is None else unit.name.upper()
    end, start = node.this, node.expression
    if name in {"DAY", "DAYS"}:
        return days_between(end, start)
    if name in {"SECOND", "SECONDS"}:
        return parts_between("%s", end, start)
    if name == "YEAR" and node.args.get("date_part_boundary"):
        return parts_between("%Y", end, start)
    return None


def days_of_seconds(node: exp.Expr) -> exp.Expr | None:
    """Seconds between two moments divided by those of a day: the days between them."""
    between = node.this.unnest()
    if node.expression.name != "86400" or not isinstance(between, exp.Sub):
        return None
    sides = (between.this, between.expression)
    if not all(isinstance(one, exp.TimeToStr) and one.args["format"].name == "%s" for one in sides):
        return None
    return days_between(*(one.this for one in sides))


def julian_day(node: exp.Expr) -> exp.Expr | None:
    """PostgreSQL's way to the number of a day: seconds since 1970 as days, and those before."""
    days = node.this
    if node.expression.name != "2440587.5" or not isinstance(days, exp.Div):
        return None
    seconds = days.this
    if days.expression.name != "86400" or not isinstance(seconds, exp.TimeToStr):
        return None
    return julian(seconds.this) if seconds.args["format"].name == "%s" else None


# ---- what parts are compared with


def compared(node: exp.Expr) -> exp.Expr | None:
    """A comparison with a part that was a number: its literal as the part's text, else the part
    made a number again."""
    left, right = node.this, node.expression
    for own, other in ((left, right), (right, left)):
        if _is_number(own):
            _agree(own, [other])
    return None


def between(node: exp.Expr) -> exp.Expr | None:
    """BETWEEN of such a part."""
    if _is_number(node.this):
        _agree(node.this, [node.args["low"], node.args["high"]])
    return None


def within(node: exp.Expr) -> exp.Expr | None:
    """IN of such a part and a list."""
    if _is_number(node.this) and node.expressions:
        _agree(node.this, node.expressions)
    return None


def cases(node: exp.Expr) -> exp.Expr | None:
    """CASE that goes by such a part."""
    if node.this is not None and _is_number(node.this):
        _agree(node.this, [branch.this for branch in node.args["ifs"]])
    return None


def _is_number(node: exp.Expr) -> bool:
    return bool(node.unnest().meta.get(NUMBER))


def _agree(taken: exp.Expr, others: list[exp.Expr]) -> None:
    """Make literals the texts that a part can be; where one can't be, the part a number."""
    form = taken.unnest().args["format"].name
    if all(other.unnest().args.get("format") == taken.unnest().args["format"] for other in others):
        return
    texts = [_padded(other, _WIDTHS[form]) for other in others]
    if None in texts:
        taken.replace(as_integer(taken.copy()))
        return
    for other, written in zip(others, texts, strict=True):
        other.replace(text(written or ""))


def _padded(node: exp.Expr, width: int) -> str | None:
    """A whole number as the text that STRFTIME gives; None for anything else."""
    node = node.unnest()
    digits = node.name if isinstance(node, exp.Literal) else ""
    return digits.zfill(width) if digits.isdecimal() and len(digits) <= width else None


# ---- MySQL's days of the week, which begin elsewhere


def shifted_day(node: exp.Expr) -> exp.Expr | None:
    """MySQL's DAYOFWEEK (1 is Sunday) and WEEKDAY (0 is Monday) compared with numbers, as SQLite's
    day of the week (0 is Sunday)."""
    own = node.this
    shift = _shift(own)
    if shift is None:
        return None
    others = node.expressions if isinstance(node, exp.In) else [node.expression]
    texts = [_padded(other, 1) for other in others]
    if not others or None in texts:
        return None
    for other, written in zip(others, texts, strict=True):
        other.replace(text(str((int(written or 0) + shift) % 7)))
    own.replace(part("%w", _moment_of(own)))
    return None


def unshifted_day(node: exp.Expr) -> exp.Expr | None:
    """MySQL's DAYOFWEEK by itself, which stays, of the bare moment."""
    node.set("this", moment(node.this))
    return None


def day_from_sunday(node: exp.Expr) -> exp.Expr | None:
    """DAYOFWEEK(d) - 1 of MySQL."""
    is_one = isinstance(node.expression, exp.Literal) and node.expression.name == "1"
    if is_one and isinstance(node.this, exp.DayOfWeek):
        return part("%w", _moment_of(node.this), is_number=True)
    return None


def _shift(node: exp.Expr) -> int | None:
    if isinstance(node, exp.DayOfWeek):
        return 6
    return 1 if is_call(node, "WEEKDAY") else None


def _moment_of(node: exp.Expr) -> exp.Expr:
    given = node.expressions[0] if isinstance(node, exp.Anonymous) else node.this
    return moment(given)
