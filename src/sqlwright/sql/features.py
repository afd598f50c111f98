"""Features of SQL that a query uses, for breaking figures down."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sqlwright.sql.tree import query_tree

if TYPE_CHECKING:
    from sqlglot import exp

FEATURES = (
    "join", "group", "having", "order", "limit", "nested", "with", "set operation", "distinct",
    "aggregate", "window", "case", "cast", "arithmetic", "date function", "like", "between", "in",
    "or", "null", "negation",
)  # fmt: skip
"""Names of the features, in the order in which they are told."""


def features(sql: str) -> tuple[str, ...]:
    """The features that a query uses anywhere; none where the text is no query."""
    tree = query_tree(sql)
    if tree is None:
        return ()
    found = {name for node in tree.walk() for name in _of(node)}
    return tuple(name for name in FEATURES if name in found)


def _of(node: exp.Expr) -> Iterator[str]:
    """The features of one node of a tree."""
    from sqlglot import exp

    from sqlwright.sql.tree_facts.nodes import aggregate_of

    plain: dict[type[exp.Expr], str] = {
        exp.Join: "join", exp.Group: "group", exp.Having: "having", exp.Limit: "limit",
        exp.With: "with", exp.Distinct: "distinct", exp.Window: "window", exp.Case: "case",
        exp.If: "case", exp.Cast: "cast", exp.Add: "arithmetic", exp.Sub: "arithmetic",
        exp.Mul: "arithmetic", exp.Div: "arithmetic", exp.Mod: "arithmetic", exp.Like: "like",
        exp.ILike: "like", exp.Glob: "like", exp.Between: "between", exp.In: "in", exp.Or: "or",
        exp.Not: "negation", exp.NEQ: "negation", exp.Union: "set operation",
        exp.Intersect: "set operation", exp.Except: "set operation",
    }  # fmt: skip
    name = plain.get(type(node))
    if name is not None:
        yield name
    elif isinstance(node, exp.Order) and not isinstance(node.parent, exp.Window):
        yield "order"
    elif isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
        yield "null"
    elif isinstance(node, exp.Select):
        if isinstance(node.find_ancestor(exp.Select, exp.CTE), exp.Select):
            yield "nested"
    elif aggregate_of(node) is not None:
        if not isinstance(node.parent, exp.Window):
            yield "aggregate"
    elif _is_date(node):
        yield "date function"


def _is_date(node: exp.Expr) -> bool:
    """True of a call that reads, makes or prints a moment."""
    from sqlglot import exp

    from sqlwright.sql.tree_facts.nodes import DATES

    named = isinstance(node, exp.Anonymous) and node.name.lower() in _MOMENTS | DATES
    return named or isinstance(node, _date_nodes())


def _date_nodes() -> tuple[type[exp.Expr], ...]:
    from sqlglot import exp

    return (
        exp.TimeToStr, exp.Date, exp.Time, exp.Timestamp, exp.Datetime, exp.CurrentDate,
        exp.CurrentTime, exp.CurrentTimestamp,
    )  # fmt: skip


_MOMENTS = frozenset({"strftime", "unixepoch", "timediff"})
"""Functions of moments besides those that take a part of one."""
