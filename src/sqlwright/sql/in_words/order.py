"""Order and number of a query's rows, in words."""

from __future__ import annotations

from sqlglot import exp

from sqlwright.sql.names import Names
from sqlwright.sql.tree import node_text

_NUMBERS = ("INT", "REAL", "FLOA", "DOUB", "NUM", "DEC", "MONEY")
"""Parts of the declared types of columns with numbers."""
_COUNTED = (
    *(exp.Count, exp.Sum, exp.Avg, exp.Length, exp.Round, exp.Abs, exp.Neg),
    *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod),
)
"""Expressions that give numbers."""


def direction(key: exp.Expr, text: str, *, numeric: bool) -> str:
    """One of the keys of an order, whose expression is `text`."""
    falling = bool(key.args.get("desc"))
    if numeric:
        words = f"{'highest' if falling else 'lowest'} {text} first"
    else:
        words = f"by {text}{', descending' if falling else ''}"
    first = key.args.get("nulls_first")
    if first is not None and bool(first) == falling:  # SQLite takes NULL for the least
        words += f", nulls {'first' if first else 'last'}"
    return words


def amount_words(limit: str, *, ordered: bool, later: bool) -> str:
    """The most rows that are given, in words; `later`: after others were skipped."""
    if limit.startswith("-"):
        return f"LIMIT {limit}"
    if later:
        return f"then only {limit} row{'' if limit == '1' else 's'}"
    if not ordered:
        return f"any {limit} row{'' if limit == '1' else 's'}"
    return "only 1 row" if limit == "1" else f"only the first {limit} rows"


def gives_numbers(node: exp.Expr, names: Names) -> bool:
    """True if an expression is known to give numbers."""
    while isinstance(node, (exp.Paren, exp.Min, exp.Max)):
        node = node.this
    if isinstance(node, exp.Column):
        named = names.find(node)
        column = None if named.column is None else names.schema.column(named.column)
        return column is not None and any(part in column.type.upper() for part in _NUMBERS)
    if isinstance(node, exp.Cast):
        return any(part in node_text(node.to).upper() for part in _NUMBERS)
    return isinstance(node, _COUNTED)
