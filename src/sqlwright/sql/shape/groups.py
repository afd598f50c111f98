"""Aggregates of other dialects, their groups and the number of rows, as SQLite has them."""

from __future__ import annotations

from sqlglot import exp

from sqlwright.sql.shape.moments import call, number


def listed(node: exp.Expr) -> exp.Expr | None:
    """STRING_AGG, LISTAGG, GROUP_CONCAT: without the comma that is there anyway, nor an order by
    what is listed."""
    given, order = node.this, None
    if isinstance(given, exp.Order):
        given, order = given.this, given
    operand = given.expressions[0] if isinstance(given, exp.Distinct) else given
    if order is not None and any(key.this != operand for key in order.expressions):
        return None
    plain = exp.GroupConcat(this=given)
    separator = node.args.get("separator")
    if separator is not None and separator.name != ",":
        plain.set("separator", separator)
    return plain


def any_value(node: exp.Expr) -> exp.Expr | None:
    """ANY_VALUE and FIRST, which SQLite says by the column alone."""
    return _unordered(node.this)


def picked(node: exp.Expr) -> exp.Expr | None:
    """The first of an aggregate's array."""
    array = node.this.unnest()
    # The parser counts from 0, whatever the dialect does.
    first = [place.name for place in node.expressions] == ["0"]
    return _unordered(array.this) if isinstance(array, exp.ArrayAgg) and first else None


def picked_by_index(node: exp.Expr) -> exp.Expr | None:
    """The first of what MySQL's GROUP_CONCAT lists."""
    listed = node.this
    count = node.args.get("count")
    if not isinstance(listed, exp.GroupConcat) or count is None or count.name != "1":
        return None
    return _unordered(listed.this)


def _unordered(node: exp.Expr) -> exp.Expr:
    """An aggregate's operand without the order that it is taken in."""
    return node.this if isinstance(node, exp.Order) else node


def null_aware(node: exp.Expr) -> exp.Expr | None:
    """A node that the parser adds to ANY_VALUE."""
    return node.this if isinstance(node.this, exp.Column) else None


def counted(node: exp.Expr) -> exp.Expr | None:
    """COUNT()."""
    return exp.Count(this=exp.Star()) if node.this is None else None


def counted_if(node: exp.Expr) -> exp.Expr | None:
    """COUNT_IF."""
    return exp.Count(this=exp.Case(ifs=[exp.If(this=node.this, true=number(1))]))


def within_group(node: exp.Expr) -> exp.Expr | None:
    """PERCENTILE_CONT (...) WITHIN GROUP (ORDER BY ...)."""
    order = node.expression
    keys = order.expressions if isinstance(order, exp.Order) else []
    if not isinstance(node.this, exp.PercentileCont) or len(keys) != 1 or keys[0].args.get("desc"):
        return None
    return _percentile(keys[0].this, node.this.this)


def quantile(node: exp.Expr) -> exp.Expr | None:
    """QUANTILE_CONT."""
    return None if node.expression is None else _percentile(node.this, node.expression)


def _percentile(operand: exp.Expr, share: exp.Expr) -> exp.Expr | None:
    if not isinstance(share, exp.Literal) or share.is_string:
        return None
    percent = round(float(share.name) * 100, 6)
    if percent == 50:
        return exp.Median(this=operand)
    whole = percent == int(percent)
    return call("PERCENTILE", operand, number(int(percent))) if whole else None


def fetched(node: exp.Expr) -> exp.Expr | None:
    """FETCH FIRST, where it is nothing but a number of rows."""
    options = node.args.get("limit_options")
    given = {} if options is None else options.args
    if given.get("percent") or given.get("with_ties") or node.args.get("count") is None:
        return None
    return exp.Limit(expression=node.args["count"])


def grouped(node: exp.Expr) -> exp.Expr | None:
    """GROUP BY ALL: by what is shown and isn't worked out of a group."""
    select = node.parent
    if not node.args.get("all") or not isinstance(select, exp.Select):
        return None
    items = [item.unalias() for item in select.expressions]
    if any(item.is_star for item in items):
        return None
    plain = [item.copy() for item in items if item.find(exp.AggFunc) is None]
    return exp.Group(expressions=plain) if plain else None
