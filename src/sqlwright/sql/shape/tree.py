"""A query's tree as SQLite's reading would have it, whatever dialect the query is written in.

Facts, forms and words are read from trees of this shape alone, so that one question's query gives
the same in every dialect. What a dialect says and SQLite doesn't stays as it is: then facts say
less. Nothing here is run: a tree in this shape is for reading, not for writing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from sqlwright.schema import fold_name
from sqlwright.sql.dialects import Dialect, dialect_named
from sqlwright.sql.tree import query_tree

if TYPE_CHECKING:
    from sqlglot import exp

_KEPT = 64
"""Trees in shape that are kept."""

Rule = Callable[["exp.Expr"], "exp.Expr | None"]
"""A node, whose parts are in shape, as SQLite has it; None where it stays."""


def shaped_tree(
    sql: str,
    dialect: str = "sqlite",
    days: frozenset[str] = frozenset(),
    spans: frozenset[str] = frozenset(),
) -> exp.Query | exp.Values | None:
    """The tree, or None when the text is no query or one that can't be read within bounds. Not to
    be changed: it is shared. `days` and `spans` are the folded names of columns that hold days and
    intervals, and nothing else (`Schema.day_columns`, `Schema.span_columns`)."""
    return query_tree(sql) if dialect == "sqlite" else _shaped(sql, dialect, days, spans)


@lru_cache(maxsize=_KEPT)
def _shaped(
    sql: str, dialect: str, days: frozenset[str], spans: frozenset[str]
) -> exp.Query | exp.Values | None:
    tree = query_tree(sql, dialect)
    if tree is None:
        return None
    try:
        return in_shape(tree, dialect_named(dialect), days, spans)
    except RecursionError:
        return None


def in_shape(
    tree: exp.Query | exp.Values,
    dialect: Dialect,
    days: frozenset[str] = frozenset(),
    spans: frozenset[str] = frozenset(),
) -> exp.Query | exp.Values:
    """A copy of a tree in SQLite's shape."""
    from sqlglot import exp

    from sqlwright.sql.shape.moments import DAY, SPAN

    rules = _rules(dialect.parser)
    whole = tree.copy()
    # Parents come after their parts, so that a rule sees these in shape.
    for node in reversed(list(whole.walk(bfs=True))):
        if isinstance(node, exp.Identifier):
            fold(node, dialect)
            continue
        if isinstance(node, exp.Column) and fold_name(node.name) in days:
            node.meta[DAY] = True
        if isinstance(node, exp.Column) and fold_name(node.name) in spans:
            node.meta[SPAN] = True
        if isinstance(node, exp.Ordered):
            _order(node, dialect)
        rule = rules.get(type(node))
        new = None if rule is None else rule(node)
        if new is not None and node.parent is not None:
            node.replace(new)
    for division in whole.find_all(exp.Div):  # divides as SQLite does: whole numbers to such
        division.set("typed", True)
        division.set("safe", True)
    return whole


def fold(node: exp.Identifier, dialect: Dialect) -> None:
    """A name without quotes as the engine looks for it."""
    if dialect.case == "blind" or node.args.get("quoted"):
        return
    node.set("this", node.name.lower() if dialect.case == "lower" else node.name.upper())


def _order(node: exp.Ordered, dialect: Dialect) -> None:
    """A key of an order whose NULLs stand where the engine puts them anyway: as SQLite says it."""
    falls = bool(node.args.get("desc"))
    usual = {"small": not falls, "large": falls, "last": False}[dialect.nulls]
    if bool(node.args.get("nulls_first")) == usual:
        node.set("nulls_first", not falls)


@cache
def _rules(parser: str) -> Mapping[type[exp.Expr], Rule]:
    """The rules for one dialect of the parser's, by the kind of node."""
    from sqlwright.sql.shape.rules import rules_of

    return rules_of(parser)
