"""Dates that are moved by intervals, and days subtracted from each other."""

from __future__ import annotations

import re
from typing import NamedTuple

from sqlglot import exp

from sqlwright.sql.shape.moments import call, days_between, is_call, is_day, moved, text
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
    step = _called(node)
    start = node.this
    if step is not None and step.unit == "second" and start.name == "1970-01-01":
        return call("DATETIME", step.amount, text("unixepoch"))
    return None if step is None else _moved(node.this, step, "+")


def subtracted_by_call(node: exp.Expr) -> exp.Expr | None:
    """DATE_SUB."""
    step = _called(node)
    return None if step is None else _moved(node.this, step, "-")


def _called(node: exp.Expr) -> _Step | None:
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
