"""Reads SQL's windows into the form."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form import nodes as f

_RANKS: dict[type[exp.Expr], f.WindowName] = {
    exp.RowNumber: "row_number",
    exp.Rank: "rank",
    exp.DenseRank: "dense_rank",
}
_NEIGHBOURS: dict[type[exp.Expr], f.WindowName] = {
    exp.Lag: "lag",
    exp.Lead: "lead",
    exp.FirstValue: "first_value",
}
_AGGREGATES: dict[type[exp.Expr], f.WindowName] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
}


def read_window(node: exp.Window, read: Callable[[exp.Expr], f.Expression]) -> f.Window:
    """A window. Raises UnsupportedQuery for frames other than running ones and the last rows, for
    steps of several rows and for windows by name."""
    if node.alias or node.args.get("first"):
        raise UnsupportedQuery("a window by name isn't part of the form")
    function, operand = _function(node.this, read)
    order = node.args.get("order")
    terms = tuple(
        f.OrderTerm(read(term.this), bool(term.args.get("desc")))
        for term in (order.expressions if order is not None else ())
    )
    if not terms and function not in _AGGREGATES.values():
        raise UnsupportedQuery(f"{function} without an order isn't part of the form")
    partition = tuple(map(read, node.args.get("partition_by") or ()))
    moving = _moving(node.args.get("spec"))
    if moving is not None and (not terms or function not in _AGGREGATES.values()):
        raise UnsupportedQuery("a window of some rows without an order isn't part of the form")
    return f.Window(function, operand, partition, terms, moving)


def _function(
    node: exp.Expr, read: Callable[[exp.Expr], f.Expression]
) -> tuple[f.WindowName, f.Expression | f.Star | None]:
    kind = type(node)
    if kind in _RANKS:
        return _RANKS[kind], None
    if isinstance(node, exp.Ntile):
        return "ntile", read(node.this)
    if kind in _NEIGHBOURS:
        step, default = node.args.get("offset"), node.args.get("default")
        if default is not None or (step is not None and step.name != "1"):
            raise UnsupportedQuery(f"{kind.__name__} over several rows isn't part of the form")
        return _NEIGHBOURS[kind], read(node.this)
    if kind not in _AGGREGATES or node.args.get("expressions"):
        raise UnsupportedQuery(f"{kind.__name__} as a window isn't part of the form")
    operand = node.this
    if isinstance(operand, exp.Star | exp.Literal) and kind is exp.Count:
        return "count", f.Star(None)
    return _AGGREGATES[kind], read(operand)


def _moving(spec: exp.Expr | None) -> int | None:
    """The number of rows a frame goes over; None where it is SQL's own."""
    if spec is None:
        return None
    start, side = spec.args.get("start"), spec.args.get("start_side")
    end = spec.args.get("end") or "CURRENT ROW"
    if end != "CURRENT ROW" or side != "PRECEDING":
        raise UnsupportedQuery("a window with rows behind this one isn't part of the form")
    if start == "UNBOUNDED":
        # Rows that the order leaves equal have no order among them either way.
        return None
    if isinstance(start, exp.Literal) and start.this.isdigit() and spec.args["kind"] == "ROWS":
        return int(start.this) + 1
    raise UnsupportedQuery("a window over a range isn't part of the form")
