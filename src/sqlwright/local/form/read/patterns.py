"""Spellings that stand for one symbol: dates and amounts stored as text, quarters, deviations, and
SQLite's functions of dates with what moves the date."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from sqlglot import exp

from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form import nodes as f
from sqlwright.local.form.write.functions import MONTHS, WEEKDAYS

_STORED = (f.Column, f.DerivedColumn)
_DASH = f.Literal("-")
_PARTS = {
    "%Y": "year",
    "%m": "month",
    "%d": "day",
    "%w": "weekday",
    "%H": "hour",
    "%M": "minute",
    "%W": "week",
    "%m-%d": "month_day",
    "%Y-%m": "year_month",
    "%Y-%m-%d": "date",
}
_ONE, _TWO, _THREE = f.Literal(1), f.Literal(2), f.Literal(3)
_THOUSAND = (f.Literal(1000), f.Literal(1000.0))


def part_of(pattern: f.Literal, moment: f.Expression) -> f.Function:
    """A date by a format."""
    part = _PARTS.get(str(pattern.value))
    if part == "date" and _is_day(moment):
        assert isinstance(moment, f.Function)
        return moment
    return f.Function(part, (moment,)) if part else f.Function("strftime", (pattern, moment))


def _is_day(node: f.Expression) -> bool:
    """True for what is a day without a time anyway."""
    return isinstance(node, f.Function) and (
        node.name in {"date", "start_of_month", "start_of_year"}
        or node.name.endswith(("_after", "_before"))
    )


def day_of(moment: f.Expression) -> f.Expression:
    """The day of a moment."""
    return moment if _is_day(moment) else f.Function("date", (moment,))


def moment_from(number: f.Expression) -> f.Function:
    """Seconds since 1970, or milliseconds where they are divided by a thousand, as a moment."""
    match number:
        case f.Arithmetic("/" | "ratio", count, by) if by in _THOUSAND:
            return f.Function("from_milliseconds", (count,))
    return f.Function("from_seconds", (number,))


def operation(node: f.Arithmetic) -> f.Expression:
    """A symbol for an operation, where there is one; else the operation."""
    match node:
        case f.Arithmetic("||"):
            return _joined(node)
        case f.Arithmetic("-", f.Function("julianday", (end,)), f.Function("julianday", (start,))):
            return f.Function("days_between", (end, start))
        case f.Arithmetic(
            "-",
            f.Function("strftime", (f.Literal("%s"), end)),
            f.Function("strftime", (f.Literal("%s"), start)),
        ):
            return f.Function("seconds_between", (end, start))
    moment = _quarter(node)
    return node if moment is None else f.Function("quarter", (moment,))


def _quarter(node: f.Arithmetic) -> f.Expression | None:
    match node:
        case f.Arithmetic(
            "/", f.Arithmetic("+", f.Function("integer", (f.Function("month", (one,)),)), add), by
        ) if add == _TWO and by == _THREE:
            return one
        case f.Arithmetic(
            "+",
            f.Arithmetic(
                "/",
                f.Arithmetic("-", f.Function("integer", (f.Function("month", (one,)),)), less),
                by,
            ),
            more,
        ) if less == _ONE and by == _THREE and more == _ONE:
            return one
    return None


def _joined(node: f.Arithmetic) -> f.Expression:
    """Pieces of one text, put together as a date is written."""
    match node:
        case f.Arithmetic(
            "||",
            f.Function("from_dmy" | "from_mdy" as source, (text,)),
            f.Function("substr", (own, f.Literal(11))),
        ) if own == text:
            return f.Function(f"{source}_time", (text,))
        case f.Arithmetic("||", f.Arithmetic("||", before, dash), after) if dash == _DASH:
            found = _dated(before, after)
            return node if found is None else found
        case f.Arithmetic("||", before, f.Arithmetic("||", dash, after)) if dash == _DASH:
            found = _dated(before, after)
            return node if found is None else found
    return node


def _dated(before: f.Expression, after: f.Expression) -> f.Expression | None:
    piece = _piece(after)
    if piece is None:
        return None
    text, start = piece
    match before:
        case f.Function("year", (f.Function("from_dmy", (own,)),)) if own == text:
            source = {4: "from_dmy", 1: "from_mdy"}.get(start)
            return None if source is None else _of("year_month", source, text)
        case f.Function("year_month", (f.Function(source, (own,)),)) if own == text:
            last = {"from_dmy": 1, "from_mdy": 4, "from_compact": 7}.get(source)
            return f.Function(source, (text,)) if start == last else None
    if before == f.Function("substr_to", (text, _ONE, f.Literal(4))) and start == 5:
        return _of("year_month", "from_compact", text)
    return None


def _of(part: str, source: str, text: f.Expression) -> f.Function:
    return f.Function(part, (f.Function(source, (text,)),))


def _piece(node: f.Expression) -> tuple[f.Expression, int] | None:
    """The text that two letters are taken of, and where they start."""
    match node:
        case f.Function("substr_to", (text, f.Literal(int(start)), f.Literal(2))) if isinstance(
            text, _STORED
        ):
            return text, start
    return None


def call(node: f.Function) -> f.Expression:
    """A symbol for a call, where there is one; else the call."""
    match node:
        case f.Function("substr_to", (text, f.Literal(7), f.Literal(4))) if isinstance(
            text, _STORED
        ):
            return _of("year", "from_dmy", text)
        case f.Function("real", (inner,)):
            return _amount(inner) or node
        case f.Function("sqrt", (inner,)):
            return deviation_of(inner) or node
    return node


def cases(node: f.Conditional) -> f.Expression:
    """The name of a weekday or month, where each has its case; else the cases."""
    found: dict[str, str] = {}
    rest: f.Expression | None = node
    part: f.Expression | None = None
    while isinstance(rest, f.Conditional):
        match rest:
            case f.Conditional(
                f.Comparison("=", f.Function() as asked, f.Literal(str(number))),
                f.Literal(str(name)),
                otherwise,
            ) if part is None or asked == part:
                found[number], part, rest = name, asked, otherwise
            case _:
                return node
    for kind, names in (("weekday", WEEKDAYS), ("month", MONTHS)):
        last = next((number for number in names if number not in found), None)
        if last is not None and isinstance(rest, f.Literal):
            found[last] = str(rest.value)
        if found == names and isinstance(part, f.Function) and part.name == kind:
            return f.Function(f"{kind}_name", part.arguments)
    return node


def _amount(node: f.Expression) -> f.Function | None:
    """A number out of a text without its signs."""
    signs: dict[object, object] = {}
    while isinstance(node, f.Function) and node.name in {"replace", "trim"}:
        if node.name == "replace":
            sign, by = node.arguments[1:]
            if not (isinstance(sign, f.Literal) and isinstance(by, f.Literal)):
                return None
            signs[sign.value] = by.value
        node = node.arguments[0]
    if not isinstance(node, _STORED) or not signs:
        return None
    if signs.keys() <= {"$", "€", ","} and set(signs.values()) == {""}:
        return f.Function("amount", (node,))
    rest = {sign: by for sign, by in signs.items() if sign != ","}
    if signs.get(",") == "." and rest.keys() <= {"€", " ", ".", " €"} and not any(rest.values()):
        return f.Function("amount_comma" if "." in rest else "decimal_comma", (node,))
    return None


def deviation_of(node: f.Expression) -> f.Aggregate | None:
    """The standard deviation, from what a root is taken of, a variance; None of anything else."""
    match node:
        case f.Arithmetic(
            "-", f.Aggregate("avg", f.Arithmetic("*", one, other)), f.Arithmetic("*", mean, again)
        ) if one == other and mean == again == f.Aggregate("avg", one):
            return f.Aggregate("stddev_pop", one)
        case f.Arithmetic(
            "/" | "ratio", inner, f.Arithmetic("-", f.Aggregate("count", all_), less)
        ):
            value = _squares(_bare(inner), all_) if less == _ONE else None
            return None if value is None else f.Aggregate("stddev", value)
    return None


def _squares(node: f.Expression, counted: f.Expression | f.Star) -> f.Expression | None:
    """The value whose squared differences from the mean are added up."""
    match node:
        case f.Arithmetic(
            "-",
            f.Aggregate("sum", f.Arithmetic("*", one, other)),
            f.Arithmetic("/" | "ratio", f.Arithmetic("*", total, again), f.Aggregate("count", of)),
        ) if _bare(one) == other and _bare(total) == _bare(again) == f.Aggregate("sum", other):
            return other if of == counted and of in {other, f.Star(None)} else None
    return None


def _bare(node: f.Expression) -> f.Expression:
    """A value that is made real, before that."""
    match node:
        case f.Function("real", (inner,)):
            return inner
    return node


DATES = {"DATE": "date", "TIME": "time", "DATETIME": "datetime", "JULIANDAY": "julianday"}
_STEP = re.compile(r"([+-]?)\s*(\d+) (day|month|year)s?")
_STARTS = {"start of month": "start_of_month", "start of year": "start_of_year"}
_SIGNS = {f.Literal("+"): "after", f.Literal("-"): "before"}
_UNITS = re.compile(r" (day|month|year)s?")
NOW = f.Function("now")

Reads = Callable[[exp.Expr], f.Expression]


def read_moment(node: exp.Expr, read: Reads) -> f.Expression:
    """An argument of a date function."""
    if isinstance(node, exp.TsOrDsToTimestamp):
        node = node.this
    if isinstance(node, exp.CurrentTimestamp | exp.CurrentDate):
        return NOW
    if isinstance(node, exp.Literal) and node.is_string and node.this.lower() == "now":
        return NOW
    value = read(node)
    return NOW if value == f.Literal("now") else value


def read_date_call(name: str, arguments: Sequence[exp.Expr], read: Reads) -> f.Expression:
    """A call of a date function with modifiers, of STRFTIME too. Raises UnsupportedQuery for
    modifiers that the form lacks."""
    rest = list(arguments)
    pattern = read(rest.pop(0)) if name == "STRFTIME" and rest else None
    if not rest or (pattern is not None and not isinstance(pattern, f.Literal)):
        raise UnsupportedQuery(f"the function {name} isn't part of the form")
    moment = read_moment(rest.pop(0), read)
    for modifier in rest:
        moment = _moved(moment, read(modifier), days=name == "DATE" or _of_days(pattern))
    if pattern is not None:
        assert isinstance(pattern, f.Literal)
        return part_of(pattern, moment)
    if name == "DATE":
        return day_of(moment)
    plain = name == "DATETIME" and isinstance(moment, f.Function)
    if plain and moment.name.startswith("from_"):  # type: ignore[union-attr]
        return moment
    return f.Function(DATES[name], (moment,))


def _of_days(pattern: f.Expression | None) -> bool:
    """True for a format without a part of the time."""
    text = str(pattern.value) if isinstance(pattern, f.Literal) else ""
    return bool(text) and not re.search(r"%[^YmdjwuWUGgV]", text)


def _moved(moment: f.Expression, modifier: f.Expression, *, days: bool) -> f.Expression:
    text = str(modifier.value) if isinstance(modifier, f.Literal) else ""
    if text == "unixepoch":
        return moment_from(moment)
    if text in _STARTS:
        # Both are the first second of a day, which every function sees alike.
        return f.Function(_STARTS[text], (moment,))
    if not days:
        raise UnsupportedQuery(f"a time moved by {text!r} isn't part of the form")
    step = _STEP.fullmatch(text)
    if step is not None:
        way = "before" if step[1] == "-" else "after"
        return f.Function(f"{step[3]}s_{way}", (moment, f.Literal(int(step[2]))))
    match modifier:
        case f.Arithmetic(
            "||", f.Arithmetic("||", f.Literal() as sign, count), f.Literal(str(unit))
        ):
            found = _UNITS.fullmatch(unit)
            if sign in _SIGNS and found is not None:
                return f.Function(f"{found[1]}s_{_SIGNS[sign]}", (moment, count))
        case f.Arithmetic("||", count, f.Literal(str(unit))):
            found = _UNITS.fullmatch(unit)
            if found is not None:
                return f.Function(f"{found[1]}s_after", (moment, count))
    raise UnsupportedQuery("a date with such a modifier isn't part of the form")
