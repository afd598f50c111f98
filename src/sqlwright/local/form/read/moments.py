"""Reads SQLite's functions of dates, with what moves the date, into the form."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from sqlglot import exp

from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form import nodes as f
from sqlwright.local.form.read.patterns import day_of, moment_from, part_of

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
