"""Nodes of a parse tree as facts."""

from __future__ import annotations

from sqlglot import exp

from sqlwright.sql.facts import Operator, SetOperator
from sqlwright.sql.names import read_from

_COMPARISONS: dict[type[exp.Expr], Operator] = {
    exp.EQ: "=",
    exp.NullSafeEQ: "=",
    exp.NEQ: "!=",
    exp.NullSafeNEQ: "!=",
    exp.LT: "<",
    exp.GT: ">",
    exp.LTE: "<=",
    exp.GTE: ">=",
}
_PATTERNS: dict[type[exp.Expr], Operator] = {
    exp.Like: "like",
    exp.ILike: "like",
    exp.Glob: "matches",
    exp.RegexpLike: "matches",
    exp.Match: "matches",
}
CONDITIONS = (
    *_COMPARISONS,
    *_PATTERNS,
    *(exp.Escape, exp.Between, exp.In, exp.Is, exp.Exists, exp.And, exp.Or, exp.Not),
)
_AGGREGATES: dict[type[exp.Expr], str] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
    exp.GroupConcat: "group_concat",
    exp.Median: "median",
    exp.Stddev: "stddev",
    exp.StddevSamp: "stddev",
    exp.StddevPop: "stddev_pop",
}
DATES = frozenset({"date", "time", "datetime", "julianday"})
"""Functions that take a part of a date, by their names."""
_SETS: dict[type[exp.Expr], SetOperator] = {
    exp.Union: "union",
    exp.Intersect: "intersect",
    exp.Except: "except",
}


def sides_of(node: exp.Expr) -> tuple[Operator, list[exp.Expr]]:
    """The operator of a condition, and what it compares."""
    if type(node) in _COMPARISONS:
        return _COMPARISONS[type(node)], [node.this, node.expression]
    if type(node) in _PATTERNS:
        return _PATTERNS[type(node)], [node.this, node.expression]
    if isinstance(node, exp.Between):
        return "between", [node.this, node.args["low"], node.args["high"]]
    if isinstance(node, exp.Is):
        null = isinstance(node.expression, exp.Null)
        return ("null", [node.this]) if null else ("=", [node.this, node.expression])
    if isinstance(node, exp.Exists):
        return "exists", [node.this]
    if isinstance(node, exp.In):
        query, given = node.args.get("query"), node.args.get("field")
        held = [query] if query is not None else list(node.expressions)
        # A name there is a table's.
        named = given is None or isinstance(given, (exp.Column, exp.Table))
        return "in", [node.this, *held, *([] if named else [given])]
    return "true", [node]


def bare_query(query: exp.Expr) -> exp.Expr:
    """A query without the parentheses around it."""
    while isinstance(query, (exp.Subquery, exp.Paren, exp.CTE)):
        query = query.this
    return query


def only_source(select: exp.Select) -> exp.Expr | None:
    """The query of which a SELECT gives all and nothing else."""
    given = {name for name, value in select.args.items() if value}
    if not given <= {"expressions", "from", "from_", "with", "with_"}:
        return None
    items, sources = select.expressions, list(read_from(select))
    if len(items) != 1 or not isinstance(items[0], exp.Star) or len(sources) != 1:
        return None
    return sources[0][0] if isinstance(sources[0][0], exp.Subquery) else None


def set_operator(node: exp.SetOperation) -> SetOperator:
    """The kind of a set operation."""
    operator = _SETS[type(node)]
    return "union_all" if operator == "union" and not node.args.get("distinct") else operator


def is_distinct(select: exp.Select) -> bool:
    """True if a SELECT leaves out repeats and nothing else, as DISTINCT ON does."""
    distinct = select.args.get("distinct")
    return distinct is not None and not distinct.args.get("on")


def left_out_of(star: exp.Expr) -> list[str]:
    """The columns that a star leaves out or replaces."""
    star = star.this if isinstance(star, exp.Column) else star
    named = [*(star.args.get("except_") or ()), *(star.args.get("replace") or ())]
    return [one.alias_or_name for one in named if isinstance(one, exp.Expr)]


def row_count(node: exp.Expr | None) -> int | None:
    """A LIMIT or OFFSET."""
    if node is None:
        return None
    amount = node.args.get("expression") or node.args.get("count")
    return int(amount.this) if isinstance(amount, exp.Literal) and amount.this.isdigit() else -1


def is_number(node: exp.Expr) -> bool:
    """True if it is a number without a sign."""
    return isinstance(node, exp.Literal) and not node.is_string


def signed_number(node: exp.Expr) -> int | float | None:
    """A negative number: a minus before a number without a sign; None for anything else."""
    if not isinstance(node, exp.Neg) or not is_number(node.this):
        return None
    value = value_of(node.this)
    return None if isinstance(value, str) else -value


def value_of(node: exp.Expr) -> str | int | float:
    """A literal's value."""
    text = str(node.this)
    if isinstance(node, exp.Literal) and not node.is_string:
        for kind in (int, float):
            try:
                return kind(text)
            except ValueError:
                continue
    return text


def aggregate_of(node: exp.Expr) -> tuple[str, exp.Expr | None] | None:
    """An aggregate's function and its operand."""
    if type(node) in _AGGREGATES and not node.args.get("expressions"):
        return _AGGREGATES[type(node)], node.args.get("this")
    if isinstance(node, exp.Anonymous) and node.name.lower() in {"total", "percentile"}:
        return node.name.lower(), next(iter(node.expressions), None)
    return None


def parts_of_window(node: exp.Expr) -> list[exp.Expr] | None:
    """The parts of a window, but for its function: that gives each row a value of its own, so it
    is no aggregate. None for anything else."""
    if not isinstance(node, exp.Window):
        return None
    order = node.args.get("order")
    parts = list(node.this.iter_expressions())
    parts += node.args.get("partition_by") or []
    return parts + [term.this for term in (order.expressions if order is not None else ())]


def date_part_of(node: exp.Expr) -> tuple[str, exp.Expr] | None:
    """The format or function that takes a part of a date, and the date; None for anything else."""
    if isinstance(node, exp.TimeToStr):
        moment, form = node.this, node.args.get("format")
        while isinstance(moment, exp.TsOrDsToTimestamp):
            moment = moment.this
        return (form.name, moment) if isinstance(form, exp.Literal) else None
    if isinstance(node, exp.Date) and node.this is not None and not node.expressions:
        return "date", node.this
    if isinstance(node, exp.Anonymous) and len(node.expressions) == 1:
        name = node.name.lower()
        return (name, node.expressions[0]) if name in DATES else None
    return None
