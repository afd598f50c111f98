"""Parts of dates that a query cuts out of the stored text or number."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeGuard

from sqlwright.local.form import nodes as f
from sqlwright.types.stored import Stored

Dates = Callable[[object], Stored | None]
"""The way in which an expression is stored, where it is a date."""
_PLACES = {
    "dmy": {(1, 2): "day", (4, 2): "month", (7, 4): "year", (4, 7): "year_month",
            (1, 10): "date", (-4, None): "year", (7, None): "year"},
    "mdy": {(1, 2): "month", (4, 2): "day", (7, 4): "year", (1, 10): "date", (-4, None): "year",
            (7, None): "year"},
    "compact": {(1, 4): "year", (5, 2): "month", (7, 2): "day",
                (-2, None): "day", (7, None): "day"},
    "year_month": {(1, 4): "year", (6, 2): "month", (6, None): "month", (-2, None): "month"},
}  # fmt: skip
"""Parts by first character and length, None for all that follows."""
_UNTIMED = frozenset({(-4, None), (7, None)})
_ORDER = {("year", "month", "day"): "date", ("year", "month"): "year_month"}


def part_of(node: f.Expression, date: Dates) -> f.Expression | None:
    """The part of a date that an expression cuts out of a column, its own parts being read
    already; None for any other."""
    match node:
        case f.Function("substr", (inner, f.Literal(int(start)))):
            return _slice(inner, (start, None), date)
        case f.Function("substr_to", (inner, f.Literal(int(start)), f.Literal(int(length)))):
            return _slice(inner, (start, length), date)
        case f.Arithmetic("||"):
            return _joined(node, date)
        case f.Arithmetic("/", inner, f.Literal(10_000)):
            return f.Function("year", (inner,)) if _is_number(date(inner)) else None
        case f.Arithmetic("%", f.Function("year_month", (inner,)), f.Literal(100)):
            return f.Function("month", (inner,)) if _is_number(date(inner)) else None
        case f.Arithmetic("%", f.Arithmetic("/", inner, f.Literal(100)), f.Literal(100)):
            return f.Function("month", (inner,)) if _is_number(date(inner)) else None
        case f.Arithmetic("%", inner, f.Literal(100)):
            return f.Function("day", (inner,)) if _is_number(date(inner)) else None
        case f.Arithmetic("/", f.Arithmetic("+", month, f.Literal(2)), f.Literal(3)):
            return _quarter(month, date)
    return None


def _is_number(way: Stored | None) -> TypeGuard[Stored]:
    return way is not None and way.way == "compact" and way.number


def _slice(inner: f.Expression, place: tuple[int, int | None], date: Dates) -> f.Expression | None:
    way = date(inner)
    if way is None or (way.timed and place in _UNTIMED):
        return None
    name = _PLACES.get(way.way, {}).get(place)
    if name is None:
        return None
    part = f.Function(name, (inner,))
    # A slice of a number is a text, a part of it a number.
    is_text = way.way == "compact" and way.number
    return f.Function("text", (part,)) if is_text else part


def _quarter(month: f.Expression, date: Dates) -> f.Expression | None:
    match month:
        case f.Function("integer", (f.Function("month", (inner,)),)):
            return f.Function("quarter", (inner,)) if date(inner) else None
        case f.Function("month", (inner,)):
            return f.Function("quarter", (inner,)) if _is_number(date(inner)) else None
    return None


def _joined(node: f.Arithmetic, date: Dates) -> f.Expression | None:
    """SUBSTR(d, 7, 4) || '-' || SUBSTR(d, 4, 2) || '-' || SUBSTR(d, 1, 2), with the time of day
    behind it or not."""
    pieces = list(_pieces(node))
    marks = [piece for piece in pieces if piece == f.Literal("-")]
    columns = []
    names = []
    for piece in pieces:
        match piece:
            case f.Literal("-"):
                continue
            case f.Function("text", (f.Function(name, (inner,)),)) if date(inner):
                pass
            case f.Function(name, (inner,) | (inner, f.Literal(11))) if date(inner):
                pass
            case _:
                return None
        names.append(name)
        columns.append(inner)
    if len(set(columns)) != 1 or not columns:
        return None
    if names[-1] == "substr":
        days = names[:-1]
        whole = days == ["date"] or (days == ["year", "month", "day"] and len(marks) == 2)
        return f.Function("datetime", tuple(columns[:1])) if whole else None
    if names == ["year_month", "day"] and len(marks) == 1:
        return f.Function("date", tuple(columns[:1]))
    name = _ORDER.get(tuple(names), "")
    if not name or len(marks) != len(names) - 1 or pieces[1] != f.Literal("-"):
        return None
    return f.Function(name, tuple(columns[:1]))


def _pieces(node: f.Expression) -> Iterator[f.Expression]:
    if isinstance(node, f.Arithmetic) and node.operator == "||":
        yield from _pieces(node.left)
        yield from _pieces(node.right)
    else:
        yield node
