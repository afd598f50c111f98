"""SELECTs made such that an engine with strict rules says what SQLite's loose ones mean.

Columns beside aggregates that the grouped ones determine are grouped by, too; a SELECT DISTINCT in
an order of something else groups by what it shows; what several queries combine is of one kind.
Where an engine has no function for medians and percentiles, each row's place in its group and the
number of values there give them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form import nodes as f
from sqlwright.local.form.joins import JoinStep
from sqlwright.local.form.scopes import mentions
from sqlwright.local.form.walking import inside, own
from sqlwright.local.form.write.kinds import NUMBERS, Kind, Kinds, arms
from sqlwright.schema import ColumnRef, Schema

Reference = f.Column | f.DerivedColumn


def settled(select: f.Select, steps: Sequence[JoinStep], schema: Schema) -> f.Select:
    """A SELECT without constants to sort by, and with stars spelled out and columns grouped by
    where the rules ask for it. Its FROM clause is given, and stays what it is."""
    select = replace(
        select,
        order_by=tuple(t for t in select.order_by if not isinstance(t.expression, f.Literal)),
    )
    if not is_grouped(select):
        return select
    select = without_stars(select, steps, schema)
    known = _determined(select, steps, schema)
    keys = tuple(key for key in select.group_by if not isinstance(key, f.Literal))
    if select.group_by:
        more = dict.fromkeys(one for one in bare_columns(select) if one in known)
        keys += tuple(one for one in more if one not in keys)
    return replace(select, group_by=keys)


def is_grouped(select: f.Select) -> bool:
    """True of a SELECT whose rows stand for groups."""
    parts = (select.items, select.having, select.order_by)
    return bool(select.group_by) or any(True for _ in own(parts, f.Aggregate))


def bare_columns(select: f.Select) -> Iterator[Reference]:
    """The columns of a grouped SELECT that stand neither in an aggregate nor in a key."""
    for part in (select.items, select.having, select.order_by):
        yield from _bare(part, frozenset(select.group_by))


def _bare(part: object, keys: frozenset[f.Expression]) -> Iterator[Reference]:
    if part in keys or isinstance(part, f.Aggregate | f.Select | f.SetOperation):
        return
    if isinstance(part, f.Column | f.DerivedColumn):
        if not (isinstance(part, f.Column) and part.outer):
            yield part
        return
    if isinstance(part, tuple):
        for one in part:
            yield from _bare(one, keys)
        return
    for name in getattr(part, "__slots__", ()):
        yield from _bare(getattr(part, name), keys)


def _determined(
    select: f.Select, steps: Sequence[JoinStep], schema: Schema
) -> frozenset[Reference]:
    """The columns that are the same throughout each group: of tables by their primary keys, by
    equalities of joins and conditions, by comparisons with constants."""
    equal = [(on.left, on.right) for step in steps if not step.outer for on in step.on]
    known: set[Reference] = {
        key for key in select.group_by if isinstance(key, f.Column | f.DerivedColumn)
    }
    for left, right in _equalities(select.where):
        if isinstance(right, f.Literal):
            known.add(left)
        else:
            equal.append((left, right))
    keys = list(_primary_keys(steps, schema))
    grown = True
    while grown:
        before = len(known)
        for left, right in equal:
            if left in known or right in known:
                known |= {left, right}
        for key, columns in keys:
            if key <= known:
                known |= columns
        grown = len(known) > before
    return frozenset(known)


def _equalities(
    where: f.Condition | None,
) -> Iterator[tuple[Reference, Reference | f.Literal]]:
    conditions = where.operands if isinstance(where, f.And) else (where,)
    for one in conditions:
        match one:
            case f.Comparison("=", f.Column() | f.DerivedColumn() as left, right) if isinstance(
                right, f.Column | f.DerivedColumn | f.Literal
            ):
                yield left, right


def _primary_keys(
    steps: Sequence[JoinStep], schema: Schema
) -> Iterator[tuple[frozenset[Reference], frozenset[Reference]]]:
    for step in steps:
        node = step.node
        table = schema.table(node.table) if isinstance(node, f.Source) else None
        if table is None or not table.primary_key or not isinstance(node, f.Source):
            continue
        columns = {
            column.name: f.Column(ColumnRef(table.name, column.name), node.instance)
            for column in table.columns
        }
        key = frozenset(columns[name] for name in table.primary_key if name in columns)
        yield key, frozenset(columns.values())


def without_stars(select: f.Select, steps: Sequence[JoinStep], schema: Schema) -> f.Select:
    """A SELECT that names each column it shows."""
    items: list[f.Expression | f.Star] = []
    for item in select.items:
        items += _spelled(item, select, steps, schema) if isinstance(item, f.Star) else [item]
    return replace(select, items=tuple(items))


def _spelled(
    star: f.Star, select: f.Select, steps: Sequence[JoinStep], schema: Schema
) -> Iterator[f.Expression]:
    # A star of the only table is written without its name, and so is one of everything.
    all_of_them = star.table is None or len(steps) == 1
    for step in steps:
        node = step.node
        if isinstance(node, f.Source):
            table = schema.table(node.table)
            if table is not None and (all_of_them or node == f.Source(str(star.table))):
                for column in table.columns:
                    yield f.Column(ColumnRef(table.name, column.name), node.instance)
        elif all_of_them:
            width = len(arms(select.derived[node - 1])[0].items)
            for place in range(1, width + 1):
                yield f.DerivedColumn(node, place)


def in_an_order(select: f.Select, steps: Sequence[JoinStep], schema: Schema) -> f.Select:
    """A SELECT DISTINCT in an order of what it doesn't show: each shown row once, by the least of
    its places, or by the greatest where the order descends. Others stay as they are."""
    if not select.distinct or not select.order_by:
        return select
    if any(isinstance(item, f.Star) for item in select.items):
        select = without_stars(select, steps, schema)
    if all(_is_shown(term.expression, select.items) for term in select.order_by):
        return select
    items = tuple(item for item in select.items if not isinstance(item, f.Star))
    if not is_grouped(select) and not any(True for _ in inside(select.items, f.Window)):
        return replace(
            select, distinct=False, group_by=items, order_by=_extremes(select.order_by, items)
        )
    more = [t.expression for t in select.order_by if not _is_shown(t.expression, items)]
    every = (*items, *more)
    inner = replace(select, items=every, distinct=False, order_by=(), limit=None, offset=None)
    shown = tuple(f.DerivedColumn(1, place) for place in range(1, len(items) + 1))
    order = tuple(
        replace(term, expression=f.DerivedColumn(1, every.index(term.expression) + 1))
        for term in select.order_by
    )
    return f.Select(
        shown,
        derived=(inner,),
        group_by=shown,
        order_by=_extremes(order, shown),
        limit=select.limit,
        offset=select.offset,
    )


def _is_shown(node: f.Expression, items: Sequence[f.Expression | f.Star]) -> bool:
    return isinstance(node, f.Literal) or node in items


def _extremes(
    order: Sequence[f.OrderTerm], shown: Sequence[f.Expression]
) -> tuple[f.OrderTerm, ...]:
    return tuple(
        term
        if term.expression in shown
        else replace(
            term, expression=f.Aggregate("max" if term.descending else "min", term.expression)
        )
        for term in order
    )


def of_one_kind(query: f.Query, schema: Schema) -> f.Query:
    """A combination of queries whose items are texts where they would be of different kinds."""
    members = arms(query)
    if len(members) == 1 or any(isinstance(i, f.Star) for one in members for i in one.items):
        return query
    apart = []
    for place in range(min(len(one.items) for one in members)):
        kinds = [Kinds(schema, one.derived).of_item(one, place) for one in members]
        if len({_class(kind) for kind in kinds}) > 1:
            apart.append(place)
    return as_texts(query, apart) if apart else query


def _class(kind: Kind) -> str:
    return "number" if kind in NUMBERS else kind


def as_texts(query: f.Query, places: Sequence[int]) -> f.Query:
    """The query with some items as texts."""
    if isinstance(query, f.SetOperation):
        left, right = as_texts(query.left, places), as_texts(query.right, places)
        assert isinstance(right, f.Select)
        return replace(query, left=left, right=right)
    items = tuple(
        f.Function("text", (item,)) if place in places and not isinstance(item, f.Star) else item
        for place, item in enumerate(query.items)
    )
    return replace(query, items=items)


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
