"""Columns worked out with as what they don't hold: texts as numbers or as dates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqlwright.local.form import nodes as f
from sqlwright.local.form.sequence.symbols import DATE_PARTS, LATER_AGGREGATES
from sqlwright.local.form.walking import inside
from sqlwright.local.left_out.reading import Finding, Reading
from sqlwright.local.parser.dressing.dress import dress
from sqlwright.sql.dialects import dialect_of
from sqlwright.types import Veto

_SUMS = frozenset({"sum", "avg", "total", *LATER_AGGREGATES})
_WORKED_OUT = frozenset({"+", "-", "*", "/", "%", "ratio", "percent"})
_SAME = frozenset({"-", "/", "ratio", "percent"})
"""Operators whose result with twice the same doesn't depend on it."""
_BETWEEN = frozenset({"days_between"})
"""Functions of the time between their two arguments."""
_DATE_PARTS = frozenset(
    {"year", "month", "day", "strftime", "date", "datetime", "julianday", *DATE_PARTS}
)


def text_as_number(form: f.Query, read: Reading) -> Iterator[Finding]:
    """SUM, AVG or arithmetic over texts that aren't numbers."""
    for aggregate in inside(form, f.Aggregate):
        column = aggregate.operand
        if aggregate.function not in _SUMS or not isinstance(column, f.Column):
            continue
        if read.holds_words(column.ref):
            told = f"{aggregate.function} of {column.ref}, which holds text"
            yield _converted(Veto("text", told), column, form, read)
    for operation in inside(form, f.Arithmetic):
        for side in (operation.left, operation.right):
            if operation.operator not in _WORKED_OUT or not isinstance(side, f.Column):
                continue
            if read.holds_words(side.ref):
                told = f"{side.ref} holds text and is worked out with as a number"
                yield _converted(Veto("text", told), side, form, read)


def part_of_no_date(form: f.Query, read: Reading) -> Iterator[Finding]:
    """The year, month or day of a column that holds no dates that the engine reads."""
    engine = dialect_of(read.schema).title
    for call in inside(form, f.Function):
        if call.name not in _DATE_PARTS or not call.arguments:
            continue
        column = call.arguments[-1]
        if isinstance(column, f.Column) and read.holds_dates(column.ref) is False:
            told = (
                f"{column.ref} doesn't hold dates as {engine} reads them, "
                f"so it has no {_part(call)}"
            )
            yield _converted(Veto("date", told), column, form, read)


def _converted(veto: Veto, column: f.Column, form: f.Query, read: Reading) -> Finding:
    """The fault, mended where it is known how the column's values have to be converted."""
    if column.ref not in read.stored:
        return Finding(veto)
    stored = read.stored[column.ref]
    done = f"{column.ref} is stored as {stored.sample} and was converted"
    return Finding(replace(veto, done=done), dress(form, read.stored))


def _part(call: f.Function) -> str:
    return call.name if call.name in {"year", "month", "day"} else "date"


def same_twice(form: f.Query, read: Reading) -> Iterator[Finding]:
    """A column less or divided by itself, which is nought or one in every row."""
    del read
    pairs = [(one.left, one.right) for one in inside(form, f.Arithmetic) if one.operator in _SAME]
    pairs += [
        (call.arguments[0], call.arguments[-1])
        for call in inside(form, f.Function)
        if call.name in _BETWEEN
    ]
    for left, right in pairs:
        if left == right and _variable(left):
            yield Finding(
                Veto("constant", "something is compared with itself, which tells nothing")
            )
            return


def constants_only(form: f.Query, read: Reading) -> Iterator[Finding]:
    """An expression that no column plays a part in."""
    del read
    worked_out: list[f.Arithmetic | f.Aggregate] = list(inside(form, f.Arithmetic))
    worked_out += [one for one in inside(form, f.Aggregate) if not isinstance(one.operand, f.Star)]
    for one in worked_out:
        if any(True for _ in inside(one, f.Literal)) and not _variable(one):
            yield Finding(Veto("constant", "it works out constants only, none of them stored"))
            return


def _variable(node: object) -> bool:
    return any(
        True for kind in (f.Column, f.DerivedColumn, f.Star, f.Subquery) for _ in inside(node, kind)
    ) or any(call.name == "now" for call in inside(node, f.Function))
