"""Windows, medians, percentiles and days between moments in words."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

Tells = Callable[[exp.Expr], str]
"""Puts a part of an expression in words."""

_RANKS: dict[type[exp.Expr], str] = {
    exp.RowNumber: "place",
    exp.Rank: "rank",
    exp.DenseRank: "rank without gaps",
}
_NEIGHBOURS: dict[type[exp.Expr], str] = {
    exp.Lag: "of the row before",
    exp.Lead: "of the row after",
    exp.FirstValue: "of the first row",
}


def in_words(node: exp.Expr, tell: Tells) -> str | None:
    """A window, a median, a percentile or the days between two moments in words; None for anything
    else, and for windows with frames, several rows back, or defaults."""
    days = _days_between(node.this if isinstance(node, exp.Paren) else node)
    if days is not None:
        span = f"days from {tell(days[0])} to {tell(days[1])}"
        bare = isinstance(node, exp.Paren) and isinstance(node.parent, exp.Func)
        return span if bare else f"({span})"
    if isinstance(node, exp.Median):
        return f"median of {tell(node.this)}"
    if isinstance(node, exp.Anonymous) and node.name.upper() == "PERCENTILE":
        value, at = (*node.expressions, None, None)[:2]
        single = len(node.expressions) == 2 and isinstance(at, exp.Literal)
        return f"percentile {tell(at)} of {tell(value)}" if single and value and at else None
    if not isinstance(node, exp.Window) or node.alias or node.args.get("spec"):
        return None
    text = _window(node, tell)
    inside = isinstance(node.parent, exp.Binary | exp.Unary | exp.Func) and text is not None
    return f"({text})" if inside else text


def _days_between(node: exp.Expr) -> tuple[exp.Expr, exp.Expr] | None:
    """The two moments, the earlier one first, of a difference of the numbers of their days."""
    sides = (node.expression, node.this) if isinstance(node, exp.Sub) else ()
    calls = [one for one in sides if isinstance(one, exp.Anonymous) and len(one.expressions) == 1]
    if len(calls) < 2 or any(one.name.upper() != "JULIANDAY" for one in calls):
        return None
    return calls[0].expressions[0], calls[1].expressions[0]


def _window(node: exp.Window, tell: Tells) -> str | None:
    function, order = node.this, node.args.get("order")
    keys = order.expressions if order is not None else []
    by = ", then ".join(tell(key.this) + " descending" * bool(key.args.get("desc")) for key in keys)
    shares = ", ".join(map(tell, node.args.get("partition_by") or ()))
    within = f" within each {shares}" if shares else ""
    if type(function) in _RANKS and by:
        return f"{_RANKS[type(function)]} by {by}{within}"
    if type(function) in _NEIGHBOURS:
        known = by and set(_given(function)) == {"this"}
        return (
            f"{tell(function.this)} {_NEIGHBOURS[type(function)]} by {by}{within}"
            if known
            else None
        )
    if not isinstance(function, exp.AggFunc) or isinstance(function, exp.Ntile):
        return None
    if by:
        return f"running {tell(function)} by {by}{within}"
    return f"{tell(function)} of all rows" + (f" with the same {shares}" if shares else "")


def _given(node: exp.Expr) -> list[str]:
    return [name for name, value in node.args.items() if value]
