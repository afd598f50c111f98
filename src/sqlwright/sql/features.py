"""Features of SQL that a query uses, for breaking figures down."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING

from sqlwright.sql.shape.tree import shaped_tree

if TYPE_CHECKING:
    from sqlglot import exp

FEATURES = (
    "join", "group", "having", "order", "limit", "nested", "with", "set operation", "distinct",
    "aggregate", "window", "case", "cast", "arithmetic", "date function", "like", "between", "in",
    "or", "null", "negation",
)  # fmt: skip
"""Names of the features, in the order in which they are told."""


def features(sql: str, dialect: str = "sqlite") -> tuple[str, ...]:
    """The features that a query uses anywhere; none where the text is no query."""
    tree = shaped_tree(sql, dialect)
    if tree is None:
        return ()
    found = {name for node in tree.walk() for name in _of(node)}
    return tuple(name for name in FEATURES if name in found)


def _of(node: exp.Expr) -> Iterator[str]:
    """The features of one node of a tree."""
    from sqlglot import exp

    from sqlwright.sql.tree_facts.nodes import DATES, aggregate_of

    name = _plain().get(type(node))
    if name is not None:
        yield name
    elif isinstance(node, exp.Order):
        if not isinstance(node.parent, exp.Window):
            yield "order"
    elif isinstance(node, exp.Is):
        if isinstance(node.expression, exp.Null):
            yield "null"
    elif isinstance(node, exp.Select):
        if isinstance(node.find_ancestor(exp.Select, exp.CTE), exp.Select):
            yield "nested"
    elif isinstance(node, exp.Func) and aggregate_of(node) is not None:
        if not isinstance(node.parent, exp.Window):
            yield "aggregate"
    elif isinstance(node, exp.Anonymous) and node.name.lower() in _MOMENTS | DATES:
        yield "date function"


@cache
def _plain() -> Mapping[type[exp.Expr], str]:
    """Nodes that are a feature wherever they stand."""
    from sqlglot import exp

    return {
        exp.Join: "join", exp.Group: "group", exp.Having: "having", exp.Limit: "limit",
        exp.With: "with", exp.Distinct: "distinct", exp.Window: "window", exp.Case: "case",
        exp.If: "case", exp.Cast: "cast", exp.Add: "arithmetic", exp.Sub: "arithmetic",
        exp.Mul: "arithmetic", exp.Div: "arithmetic", exp.Mod: "arithmetic", exp.Like: "like",
        exp.ILike: "like", exp.Glob: "like", exp.Between: "between", exp.In: "in", exp.Or: "or",
        exp.Not: "negation", exp.NEQ: "negation", exp.Union: "set operation",
        exp.Intersect: "set operation", exp.Except: "set operation",
        **dict.fromkeys(
            (exp.TimeToStr, exp.Date, exp.Time, exp.Timestamp, exp.Datetime, exp.CurrentDate,
             exp.CurrentTime, exp.CurrentTimestamp),
            "date function",
        ),
    }  # fmt: skip


_MOMENTS = frozenset({"strftime", "unixepoch", "timediff"})
"""Functions of moments besides those that take a part of one."""
