"""One form for queries that mean the same: which side of a join a column is read from, which table
`COUNT(*)` counts, and which joins the writer would restore by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form import nodes as f
from sqlwright.local.form.joins import Node, node_of, plan_joins
from sqlwright.local.form.scopes import mentions, replace_columns
from sqlwright.schema import Schema
from sqlwright.sql.declared_types import affinity

_Columns = frozenset[f.Column | f.DerivedColumn]


def canonicalize(
    select: f.Select, nodes: Sequence[Node], edges: Sequence[f.Join], schema: Schema
) -> f.Select:
    """`select` with its joins left out where the keys give them, else written down.

    `nodes` is what stands in the query's FROM clause, in order, `edges` the equalities that join
    them; conditions of `select` are searched for more when these leave tables apart.
    """
    edges = list(edges)
    select = _lift(select, nodes, edges)
    if not any(edge.outer for edge in edges):
        parents = _parents(_classes(edges), nodes, schema)
        select = replace_columns(select, lambda node: _parent(node, parents))
    select = _count_one_table(select, nodes, edges, schema)
    silent = _unmentioned(select, nodes)
    if not any(edge.outer for edge in edges):
        wanted = (frozenset(nodes), _classes(edges))
        for attempt in _attempts(select, edges, silent, nodes):
            if _restored(attempt, schema) == wanted:
                return attempt
    return _explicit(select, nodes, edges, silent)


def _unmentioned(select: f.Select, nodes: Sequence[Node]) -> list[f.Source]:
    mentioned = set(mentions(select))
    return [node for node in nodes if isinstance(node, f.Source) and node not in mentioned]


def _attempts(
    select: f.Select, edges: Sequence[f.Join], silent: Sequence[f.Source], nodes: Sequence[Node]
) -> Iterator[f.Select]:
    """Ever more said about the FROM clause: nothing, tables, one join, one join and tables."""
    for extra in _choices(silent):
        yield replace(select, extra=extra)
    if len(edges) < 2:
        return
    for edge in edges:
        (join,) = _forward([edge], nodes)
        rest = [node for node in silent if node not in (node_of(edge.left), node_of(edge.right))]
        for extra in _choices(rest):
            yield replace(select, joins=(join,), extra=extra)


def _forward(edges: Sequence[f.Join], nodes: Sequence[Node]) -> list[f.Join]:
    """Joins with the side that comes first in the FROM clause on the left."""
    order = {node: place for place, node in enumerate(nodes)}
    joins = []
    for edge in edges:
        backwards = order[node_of(edge.left)] > order[node_of(edge.right)] and not edge.outer
        joins.append(f.Join(edge.right, edge.left) if backwards else edge)
    return joins


def _choices(silent: Sequence[f.Source]) -> Iterator[tuple[f.Source, ...]]:
    yield ()
    if len(silent) > 1:
        yield from ((source,) for source in silent)
    if silent:
        yield tuple(silent)


def _restored(
    select: f.Select, schema: Schema
) -> tuple[frozenset[Node], frozenset[_Columns]] | None:
    """The nodes and joins that the writer would put into the FROM clause."""
    try:
        steps = plan_joins(mentions(select), schema, joins=select.joins)
    except UnsupportedQuery:
        return None
    nodes = frozenset(step.node for step in steps)
    return nodes, _classes([join for step in steps for join in step.on])


def _explicit(
    select: f.Select, nodes: Sequence[Node], edges: Sequence[f.Join], silent: Sequence[f.Source]
) -> f.Select:
    first, *apart = _components(nodes, edges)
    crossed = [node for group in apart for node in group if isinstance(node, f.Source)]
    joined = {node_of(end) for edge in edges for end in (edge.left, edge.right)}
    extra = [node for node in first if node in silent and node not in joined]
    return replace(
        select,
        joins=tuple(_forward(edges, nodes)),
        crossed=tuple(crossed),
        extra=tuple(node for node in extra if isinstance(node, f.Source)),
    )


def _components(nodes: Sequence[Node], edges: Iterable[f.Join]) -> list[list[Node]]:
    group_of = {node: [node] for node in nodes}
    for edge in edges:
        left, right = group_of[node_of(edge.left)], group_of[node_of(edge.right)]
        if left is not right:
            left.extend(right)
            group_of.update(dict.fromkeys(right, left))
    return list({id(group): group for group in group_of.values()}.values())


def _lift(select: f.Select, nodes: Sequence[Node], edges: list[f.Join]) -> f.Select:
    """Equalities of WHERE that tie what the joins leave apart become joins."""
    where = select.where
    operands = where.operands if isinstance(where, f.And) else (where,) if where else ()
    kept = []
    for operand in operands:
        match operand:
            case f.Comparison("=", f.Column() | f.DerivedColumn(), f.Column() | f.DerivedColumn()):
                if _ties(operand, nodes, edges):
                    edges.append(f.Join(operand.left, operand.right))  # type: ignore[arg-type]
                    continue
        kept.append(operand)
    if len(kept) == len(operands):
        return select
    return replace(select, where=f.And(tuple(kept)) if len(kept) > 1 else next(iter(kept), None))


def _ties(operand: f.Comparison, nodes: Sequence[Node], edges: Sequence[f.Join]) -> bool:
    ends = (operand.left, operand.right)
    if any(isinstance(end, f.Column) and end.outer for end in ends):
        return False
    left, right = (node_of(end) for end in ends if isinstance(end, f.Column | f.DerivedColumn))
    return not any(left in group and right in group for group in _components(nodes, edges))


def _classes(edges: Iterable[f.Join]) -> frozenset[_Columns]:
    """Columns that the joins make equal."""
    class_of: dict[f.Column | f.DerivedColumn, set[f.Column | f.DerivedColumn]] = {}
    for edge in edges:
        joined = class_of.get(edge.left, {edge.left}) | class_of.get(edge.right, {edge.right})
        class_of.update(dict.fromkeys(joined, joined))
    return frozenset(frozenset(columns) for columns in class_of.values())


def _parents(
    classes: Iterable[_Columns], nodes: Sequence[Node], schema: Schema
) -> dict[f.Column, f.Column]:
    """For each column of a class, the one that the keys of the class refer to."""
    order = {node: place for place, node in enumerate(nodes)}
    keys = schema.key_pairs
    found: dict[f.Column, f.Column] = {}
    for members in classes:
        columns = [column for column in members if isinstance(column, f.Column)]
        columns.sort(key=lambda column: order[node_of(column)])
        refs = {column.ref for column in columns}
        joined = {pair for pair in product(refs, refs) if pair in keys}
        near = {left for left, right in joined if left != right}
        far = {right for _, right in joined}
        parent = next((column for column in columns if column.ref in far - near), None)
        if parent is not None:
            kind = affinity(schema, parent.ref)
            found |= {column: parent for column in columns if affinity(schema, column.ref) == kind}
    return found


def _parent(node: f.Column | f.Star, parents: Mapping[f.Column, f.Column]) -> f.Column | f.Star:
    return parents.get(node, node) if isinstance(node, f.Column) else node


def _count_one_table(
    select: f.Select, nodes: Sequence[Node], edges: Sequence[f.Join], schema: Schema
) -> f.Select:
    """`COUNT(*)` counts the rows of a table that nothing else mentions, else of any: the one that
    refers to the most others of the query, the first of several."""
    tables = [node for node in nodes if isinstance(node, f.Source) and node.instance == 1]
    if not tables:
        return select
    mentioned = set(mentions(select))
    silent = [node for node in tables if node not in mentioned]
    keys = schema.key_pairs
    refers: Counter[Node] = Counter()
    for edge in edges:
        if isinstance(edge.left, f.Column) and isinstance(edge.right, f.Column):
            pair = (edge.left.ref, edge.right.ref)
            refers[node_of(edge.left)] += (pair in keys) - (pair[::-1] in keys)
            refers[node_of(edge.right)] += (pair[::-1] in keys) - (pair in keys)
    counted = max(silent or tables, key=lambda node: refers[node])

    def change(node: f.Column | f.Star) -> f.Column | f.Star:
        if isinstance(node, f.Star) and node.table is None:
            return f.Star(counted.table)
        return node

    return replace_columns(select, change)
