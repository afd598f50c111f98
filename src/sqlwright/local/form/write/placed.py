"""Medians and percentiles where an engine has no function for them: by each row's place in its
group and the number of values there."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form import nodes as f
from sqlwright.local.form.scopes import mentions
from sqlwright.local.form.walking import inside, own
from sqlwright.local.form.write.kinds import NUMBERS, Kinds
from sqlwright.schema import Schema

FUNCTIONS = frozenset({"median", "percentile"})
"""Aggregates that are worked out so."""
_MIDDLE = 50
"""The percentile that is the median."""


def takes_places(select: f.Select) -> bool:
    """True of a SELECT that works out a median or a percentile."""
    shown = (select.items, select.having, select.order_by)
    return any(one.function in FUNCTIONS for one in own(shown, f.Aggregate))


def by_places(select: f.Select, schema: Schema) -> f.Select:
    """The SELECT over a query of its rows, each with its place, that finds the same.

    A percentile lies between two values: each counts as much as it is near. Raises UnsupportedQuery
    for stars, and for queries within what is shown that look at this SELECT's rows.
    """
    shown = (select.items, select.having, select.order_by)
    within = [column for one in inside(shown, f.Select) for column in inside(one, f.Column)]
    if any(column.outer for column in within) or any(isinstance(i, f.Star) for i in select.items):
        raise UnsupportedQuery("a median beside that can't be said in this dialect")
    keys = tuple(key for key in select.group_by if not isinstance(key, f.Literal))
    rows = _Rows(keys, Kinds(schema, select.derived))
    outer = replace(
        select,
        items=rows.exchanged(select.items),
        having=rows.exchanged(select.having),
        order_by=rows.exchanged(select.order_by),
        group_by=tuple(map(rows.column, keys)),
        where=None, derived=(), extra=(), joins=(), crossed=(),
    )  # fmt: skip
    tables = tuple(node for node in mentions(select) if isinstance(node, f.Source))
    inner = replace(
        select,
        items=tuple(rows.items), extra=tables, distinct=False,
        group_by=(), having=None, order_by=(), limit=None, offset=None,
    )  # fmt: skip
    return replace(outer, derived=(inner,))


@dataclass
class _Rows:
    """The rows of a SELECT as a query, and what is made of its columns around it."""

    keys: tuple[f.Expression, ...]
    kinds: Kinds
    items: list[f.Expression] = field(default_factory=list)

    def column(self, expression: f.Expression) -> f.DerivedColumn:
        """The column of the query that gives an expression."""
        if expression not in self.items:
            self.items.append(expression)
        return f.DerivedColumn(1, self.items.index(expression) + 1)

    def exchanged(self, node: Any) -> Any:
        """A part of the SELECT as it is written around the query."""
        if node in self.keys or isinstance(node, f.DerivedColumn):
            return self.column(node)
        match node:
            case f.Column():
                return node if node.outer else self.column(node)
            case f.Aggregate() if node.function in FUNCTIONS:
                return self._weighed(node)
            case f.Star():
                return f.Star(None)
            case tuple():
                return tuple(map(self.exchanged, node))
            case f.Literal() | f.Select() | f.SetOperation():
                return node
        if not is_dataclass(node) or isinstance(node, type):
            return node
        parts = {one.name: self.exchanged(getattr(node, one.name)) for one in fields(node)}
        return replace(node, **parts)

    def _weighed(self, node: f.Aggregate) -> f.Expression:
        operand = node.operand
        assert not isinstance(operand, f.Star)
        if self.kinds.of(operand) not in NUMBERS:
            operand = f.Arithmetic("+", operand, f.Literal(0))
        # From the greatest down: NULL comes last then.
        down = (f.OrderTerm(operand, descending=True),)
        place = self.column(f.Window("row_number", None, self.keys, down))
        count = self.column(f.Window("count", operand, self.keys))
        left = (100 - (_MIDDLE if node.at is None else node.at)) / 100
        meant = f.Arithmetic("*", f.Arithmetic("-", count, f.Literal(1)), f.Literal(left))
        off = f.Arithmetic("-", f.Arithmetic("-", place, f.Literal(1)), meant)
        distance = f.Function("abs", (off,))
        weight = f.Arithmetic("-", f.Literal(1), distance)
        near = f.Comparison("<", distance, f.Literal(1))
        value = f.Arithmetic("*", self.column(operand), weight)
        return f.Aggregate("sum", f.Conditional(near, value))
