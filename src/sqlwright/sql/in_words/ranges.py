"""Two bounds of days as the time between them: d >= '2024-02-01' AND d < '2024-03-01' is
February 2024."""

from __future__ import annotations

import calendar
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlwright.sql.shape.moments import DAY
from sqlwright.types.periods import Period, period_of


@dataclass(frozen=True)
class DayRange:
    """A value from the first moment of a day to before that of another; one of them may be empty
    for no bound."""

    subject: exp.Expr
    start: str
    end: str

    def told(self, *, negated: bool) -> tuple[str, str]:
        """The words before the time, and the time: years or months where they are bounded."""
        if not (self.start and self.end):
            bound = self.start or self.end
            time = _words(bound[: _length(bound, bound)])
            later = bool(self.start) != negated
            return ("is in", f"{time} or later") if later else ("is before", time)
        first, last = Period(self.start), Period(Period(self.end).before)
        length = _length(self.start, self.end)
        near, far = _words(first.iso[:length]), _words(last.iso[:length])
        verb = "is not" if negated else "is"
        if near != far:
            return f"{verb} from", f"{near} to {far}"
        return f"{verb} {'on' if length == 10 else 'in'}", near


def bounded(node: exp.Expr) -> DayRange | None:
    """A bound that was written as a day with which a month or year begins; None for others."""
    day = _day(node) if isinstance(node, (exp.GTE, exp.LT)) else ""
    if not day.endswith("-01") or not node.expression.meta.get(DAY):
        return None
    return DayRange(node.this, *((day, "") if isinstance(node, exp.GTE) else ("", day)))


def with_ranges(operands: Sequence[exp.Expr]) -> Iterator[exp.Expr | DayRange]:
    """Conditions that hold together, with a range in the first one's place for each two of them
    that bound one value."""
    done: set[int] = set()
    for place, one in enumerate(operands):
        if place in done:
            continue
        start = _day(one) if isinstance(one, exp.GTE) else ""
        for later in range(place + 1, len(operands)) if start else ():
            other = operands[later]
            end = _day(other) if isinstance(other, exp.LT) else ""
            if later not in done and start < end and one.this == other.this:
                done.add(later)
                yield DayRange(one.this, start, end)
                break
        else:
            yield one


def _day(comparison: exp.Expr) -> str:
    """The day that a column or expression is compared with; empty for anything else."""
    bound = comparison.expression
    is_text = isinstance(bound, exp.Literal) and bound.is_string
    return bound.name if is_text and len(bound.name) == 10 and period_of(bound.name) else ""


def _length(start: str, end: str) -> int:
    """Characters of the longest times that begin at both days: years, months or days."""
    if start.endswith("-01-01") and end.endswith("-01-01"):
        return 4
    return 7 if start.endswith("-01") and end.endswith("-01") else 10


def _words(iso: str) -> str:
    return f"{calendar.month_name[int(iso[5:])]} {iso[:4]}" if len(iso) == 7 else iso
