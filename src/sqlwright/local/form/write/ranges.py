"""Comparisons of dates with days, months and years, as ranges of days.

An engine with types has no text to compare a date with. A comparison with '2024-02' is one with
all of that February: from its first day to before the day after its last one. Such a range says
the same of dates and of times, and indexes and partitions serve it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from sqlwright.local.form import nodes as f
from sqlwright.local.form.walking import inside
from sqlwright.local.form.write.kinds import MOMENTS, Kinds, is_date, is_timestamp
from sqlwright.types.periods import Period, period_of

YEAR, MONTH, DAY, TIME = 4, 7, 10, 19
"""Characters of ISO 8601 down to each precision."""
_PARTS = {"year": YEAR, "year_month": MONTH, "date": DAY}
_PATTERNS = {"%Y": YEAR, "%Y-%m": MONTH, "%Y-%m-%d": DAY, "%F": DAY}
_EXCHANGED: dict[str, f.ComparisonOperator] = {
    "=": "=", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<=",
}  # fmt: skip


class Cut(NamedTuple):
    """A date or time, and how much of it is compared."""

    moment: f.Expression
    length: int
    is_day: bool
    """True of a date, which has no time of day."""


class Range(NamedTuple):
    """Times from one on to before another; either may be empty for no bound."""

    start: str
    """A day, or a day and a time of day."""
    end: str


class Ranged(NamedTuple):
    """A condition as times of which a moment is in one."""

    moment: f.Expression
    ranges: Sequence[Range]
    negated: bool


def cut_of(node: f.Expression, kinds: Kinds) -> Cut | None:
    """The moment that an expression is, or is the beginning of; None for others."""
    match node:
        case f.Function("integer", (f.Function("year", (moment,)),)):
            length = YEAR
        case f.Function("strftime", (f.Literal(str(pattern)), moment)) if pattern in _PATTERNS:
            length = _PATTERNS[pattern]
        case f.Function(name, (moment,)) if name in _PARTS:
            length = _PARTS[name]
        case _:
            moment, length = node, TIME
    kind = kinds.of(moment)
    if kind not in MOMENTS or isinstance(moment, f.Literal):
        return None
    return Cut(moment, min(length, DAY) if kind == "date" else length, is_day=kind == "date")


def ranged(node: f.Condition, cut: Callable[[f.Expression], Cut | None]) -> Ranged | None:
    """A comparison of a moment, by `cut`, with times that are longer than itself, as ranges; None
    for every other condition."""
    match node:
        case f.Comparison(operator, f.Literal(value), operand):
            return _compared(_EXCHANGED[operator], cut(operand), value)
        case f.Comparison(operator, operand, f.Literal(value)):
            return _compared(operator, cut(operand), value)
        case f.Between(operand, f.Literal(low), f.Literal(high), negated):
            return _between(cut(operand), low, high, negated=negated)
        case f.InList(operand, values, negated):
            return _among(cut(operand), [one.value for one in values], negated=negated)
        case f.Like(kind, operand, f.Literal(value), negated) if kind in {"starts", "contains"}:
            text = str(value).rstrip("-") if kind == "starts" else str(value)
            found = cut(operand)
            # A pattern of one day is a range, too: no date is like a text.
            found = None if found is None else found._replace(is_day=False)
            return _compared("!=" if negated else "=", found, text)
    return None


def _compared(operator: f.ComparisonOperator, cut: Cut | None, value: str | float) -> Ranged | None:
    period = None if cut is None else _within(value, cut)
    if cut is None or period is None or _is_plain([period], cut):
        return None
    if operator not in {"=", "!="} and _is_moment([value], cut):
        return None
    if operator in {">=", "<"}:
        bound = Range(period.first, "") if operator == ">=" else Range("", period.first)
    elif not period.after:
        return None
    elif operator in {">", "<="}:
        bound = Range(period.after, "") if operator == ">" else Range("", period.after)
    elif _is_repeatable(cut.moment):
        bound = Range(period.first, period.after)
    else:
        return None
    return Ranged(cut.moment, [bound], operator == "!=")


def _between(
    cut: Cut | None, low: str | float, high: str | float, *, negated: bool
) -> Ranged | None:
    if cut is None or not _is_repeatable(cut.moment):
        return None
    first, last = _within(low, cut), _within(high, cut)
    if last is None or not last.after or (first is not None and _is_plain([first, last], cut)):
        return None
    if _is_moment([low, high], cut):
        return None
    if first is not None:
        return Ranged(cut.moment, [Range(first.first, last.after)], negated)
    if cut.length == TIME and isinstance(low, str) and is_timestamp(low):
        return Ranged(cut.moment, [Range(low, last.after)], negated)
    return None


def _among(cut: Cut | None, values: Sequence[str | float], *, negated: bool) -> Ranged | None:
    if cut is None or not _is_repeatable(cut.moment):
        return None
    periods = [_within(value, cut) for value in values]
    known = [period for period in periods if period is not None and period.after]
    if len(known) < len(periods) or _is_plain(known, cut):
        return None
    return Ranged(cut.moment, _joined(known), negated)


def _joined(periods: Sequence[Period]) -> list[Range]:
    """Ranges of periods, one for those that follow one another."""
    found: list[Range] = []
    for period in sorted(periods, key=lambda one: (one.first, one.last)):
        if found and period.first <= found[-1].end:
            found[-1] = Range(found[-1].start, max(found[-1].end, period.after))
        else:
            found.append(Range(period.first, period.after))
    return found


def _within(value: str | float, cut: Cut) -> Period | None:
    """The time that a constant is, where it is as long as what is compared or longer."""
    period = period_of(value)
    return period if period is not None and len(period.iso) <= cut.length else None


def _is_plain(periods: Sequence[Period], cut: Cut) -> bool:
    """True of dates that are compared with days, which is no matter of ranges."""
    return cut.is_day and cut.length == DAY and all(len(one.iso) == DAY for one in periods)


def _is_moment(values: Sequence[str | float], cut: Cut) -> bool:
    """True of times that are compared with days or times, not equal to them: there SQL, the form's
    too, takes a day for its first moment. A day as a whole is what the form's `date` compares."""
    texts = [value for value in values if isinstance(value, str)]
    whole = len(texts) == len(values) and all(is_date(one) or is_timestamp(one) for one in texts)
    return cut.length == TIME and whole


def _is_repeatable(node: f.Expression) -> bool:
    """True of what may be written twice."""
    costly = (f.Subquery, f.Window, f.Conditional)
    return not any(True for kind in costly for _ in inside(node, kind))
