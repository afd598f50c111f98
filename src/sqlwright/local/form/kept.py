"""The rows that a SELECT keeps by a window, as a query around it, and the other way round.

`keep` is QUALIFY, which SQLite doesn't have: the first three of each group, the latest of each.
"""

from __future__ import annotations

from dataclasses import replace

from sqlwright.local.form import nodes as f
from sqlwright.local.form.walking import inside


def spelled_out(select: f.Select) -> f.Select:
    """A SELECT without `keep` that finds the same: a query of all rows in one that keeps some."""
    keep = select.keep
    if keep is None:
        return select
    items = [item for item in select.items if not isinstance(item, f.Star)]
    shown = tuple(f.DerivedColumn(1, place) for place in range(1, len(items) + 1))

    def column(expression: f.Expression) -> f.DerivedColumn:
        if expression not in items:
            items.append(expression)
        return f.DerivedColumn(1, items.index(expression) + 1)

    where = replace(keep, left=column(keep.left))
    order = tuple(replace(term, expression=column(term.expression)) for term in select.order_by)
    inner = replace(
        select, items=tuple(items), distinct=False, keep=None, order_by=(), limit=None, offset=None
    )
    return f.Select(
        shown,
        select.distinct,
        (inner,),
        where=where,
        order_by=order,
        limit=select.limit,
        offset=select.offset,
    )


def compacted(select: f.Select) -> f.Select:
    """A SELECT that says by `keep` what a query around it says; others as they are."""
    inner = select.derived[0] if len(select.derived) == 1 else None
    if not isinstance(inner, f.Select) or not _only_keeps(select, inner):
        return select
    where = select.where
    assert isinstance(where, f.Comparison)
    window = _passed(where.left, inner)
    items = [_passed(item, inner) for item in select.items]
    terms = [_passed(term.expression, inner) for term in select.order_by]
    shown = tuple(item for item in items if item is not None)
    order = tuple(term for term in terms if term is not None)
    if len(shown) < len(items) or len(order) < len(terms) or not isinstance(window, f.Window):
        return select
    return replace(
        inner,
        items=shown,
        distinct=select.distinct,
        keep=replace(where, left=window),
        order_by=tuple(
            replace(term, expression=own) for term, own in zip(select.order_by, order, strict=True)
        ),
        limit=select.limit,
        offset=select.offset,
    )


def _only_keeps(select: f.Select, inner: f.Select) -> bool:
    """True if one query does nothing but keep rows of another."""
    around = bool(select.extra or select.joins or select.crossed or select.group_by)
    around = around or select.having is not None or select.keep is not None
    within = inner.distinct or inner.limit is not None or inner.keep is not None
    constant = isinstance(select.where, f.Comparison) and isinstance(select.where.right, f.Literal)
    borrows = any(column.outer for column in inside(inner, f.Column))
    numbered = constant and type(select.where.right.value) is int  # type: ignore[union-attr]
    return numbered and not (around or within or borrows)


def _passed(node: f.Expression | f.Star, inner: f.Select) -> f.Expression | None:
    """The part that a query passes on by a column of it; None where nothing or a star is."""
    if not isinstance(node, f.DerivedColumn):
        return None
    item = inner.items[node.item - 1]
    return None if isinstance(item, f.Star | f.Literal) else item
