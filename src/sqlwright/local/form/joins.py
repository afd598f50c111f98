"""Joins restored along a schema's keys.

Given the tables a query mentions, `plan_joins` finds which further tables are needed to connect
them and on which columns, by growing a tree along shortest paths (the classic approximation of a
Steiner tree: Takahashi & Matsuyama, "An approximate solution for the Steiner problem in graphs",
1980). Declared keys cost less than inferred ones.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form.nodes import Column, DerivedColumn, Join, Source
from sqlwright.schema import ColumnRef, ForeignKey, Schema

DECLARED_COST = 1.0
"""Of an edge of the join graph: a declared key."""
INFERRED_COST = 1.5
"""Of an edge for an inferred key. Chosen: two declared keys cost more than one inferred."""

Node = Source | int
"""Item of a FROM clause: an appearance of a table, or the number of a derived table."""

Pairs = tuple[tuple[str, str], ...]
"""Joined column names, near side first."""


@dataclass(frozen=True, slots=True)
class JoinStep:
    """One more entry of a FROM clause, with the equalities that tie it to those before it."""

    node: Node
    on: tuple[Join, ...] = ()
    outer: bool = False


@dataclass(frozen=True, slots=True)
class _Link:
    """A key as seen from one of its two tables."""

    target: str
    pairs: Pairs
    cost: float


def node_of(column: Column | DerivedColumn) -> Node:
    """The FROM item that a column belongs to."""
    if isinstance(column, DerivedColumn):
        return column.table
    return Source(column.ref.table, column.instance)


def plan_joins(
    mentioned: Iterable[Node],
    schema: Schema,
    *,
    joins: Sequence[Join] = (),
    crossed: Sequence[Source] = (),
) -> tuple[JoinStep, ...]:
    """A FROM clause that holds all `mentioned`, in order; empty for no tables.

    Explicit joins come first; what they leave apart is connected along keys, save `crossed` tables
    and derived tables, which are joined without a condition. Raises UnsupportedQuery when no keys
    connect the tables.
    """
    nodes = list(dict.fromkeys(mentioned))
    edges = list(joins)
    ends = [node_of(column) for join in joins for column in (join.left, join.right)]
    nodes = list(dict.fromkeys([*nodes, *ends, *crossed]))
    free = {*crossed, *(node for node in nodes if isinstance(node, int))}
    groups = _groups(nodes, edges)
    tied = [group for group in groups if any(node not in free for node in group)]
    if len(tied) > 1:
        edges.extend(_connect(tied, schema))
    start = node_of(joins[0].left) if joins else (nodes[0] if nodes else None)
    return tuple(_ordered(start, nodes, edges))


def _groups(nodes: Sequence[Node], edges: Sequence[Join]) -> list[list[Node]]:
    """The nodes by what the edges connect, in order of first mention."""
    group_of: dict[Node, list[Node]] = {node: [node] for node in nodes}
    for edge in edges:
        left, right = group_of[node_of(edge.left)], group_of[node_of(edge.right)]
        if left is not right:
            left.extend(right)
            for node in right:
                group_of[node] = left
    unique = {id(group): group for group in group_of.values()}
    return list(unique.values())


def _connect(groups: list[list[Node]], schema: Schema) -> Iterator[Join]:
    """Joins that make one tree of the groups: the nearest group is tied to the tree each time."""
    links = _links(schema)
    tree = [node for node in groups[0] if isinstance(node, Source)]
    waiting = [[node for node in group if isinstance(node, Source)] for group in groups[1:]]
    while waiting:
        goals = {node: number for number, group in enumerate(waiting) for node in group}
        path = _shortest(tree, goals, links)
        if path is None:
            names = ", ".join(sorted({group[0].table for group in waiting}))
            raise UnsupportedQuery(f"no key joins {names} to {tree[0].table}")
        for near, link, far in path:
            for left, right in link.pairs:
                yield Join(
                    Column(ColumnRef(near.table, left), near.instance),
                    Column(ColumnRef(far.table, right), far.instance),
                )
            if far not in goals:
                tree.append(far)
        tree.extend(waiting.pop(goals[path[-1][2]]))


_Path = tuple[tuple[Source, _Link, Source], ...]


def _shortest(
    tree: Sequence[Source], goals: Mapping[Source, int], links: Mapping[str, tuple[_Link, ...]]
) -> _Path | None:
    """The cheapest way from any node of the tree to any goal; the first found among equals."""
    queue: list[tuple[float, int, Source, _Path]] = []
    for node in tree:
        heapq.heappush(queue, (0.0, len(queue), node, ()))
    count = len(queue)
    done: set[Source] = set()
    inside = set(tree)
    while queue:
        cost, _, node, path = heapq.heappop(queue)
        if node in goals:
            return path
        if node in done:
            continue
        done.add(node)
        for link in links.get(node.table, ()):
            for far in _appearances(link.target, node, inside, goals):
                if far not in done:
                    count += 1
                    step = (*path, (node, link, far))
                    heapq.heappush(queue, (cost + link.cost, count, far, step))
    return None


def _appearances(
    table: str, near: Source, inside: set[Source], goals: Mapping[Source, int]
) -> Iterator[Source]:
    """The appearances of a table that a path may step on."""
    found = [goal for goal in goals if goal.table == table and goal != near]
    yield from found
    first = Source(table)
    if first not in inside and first not in goals and first != near:
        yield first


@lru_cache(maxsize=64)
def _links_of(keys: tuple[ForeignKey, ...]) -> dict[str, tuple[_Link, ...]]:
    found: dict[str, list[_Link]] = {}
    for key in sorted(keys, key=lambda key: key.inferred):
        cost = INFERRED_COST if key.inferred else DECLARED_COST
        forward = tuple(zip(key.columns, key.target_columns, strict=True))
        backward = tuple((far, near) for near, far in forward)
        found.setdefault(key.table, []).append(_Link(key.target_table, forward, cost))
        found.setdefault(key.target_table, []).append(_Link(key.table, backward, cost))
    return {table: tuple(links) for table, links in found.items()}


def _links(schema: Schema) -> dict[str, tuple[_Link, ...]]:
    return _links_of(schema.foreign_keys)


def _ordered(start: Node | None, nodes: Sequence[Node], edges: list[Join]) -> Iterator[JoinStep]:
    """The FROM clause: each entry tied to earlier ones where an edge allows."""
    if start is None:
        return
    placed: set[Node] = {start}
    yield JoinStep(start)
    waiting = list(edges)
    rest = [node for node in nodes if node != start]
    while True:
        step = _next_step(placed, waiting)
        if step is None:
            apart = next((node for node in rest if node not in placed), None)
            if apart is None:
                return
            step = JoinStep(apart)
        placed.add(step.node)
        waiting = [edge for edge in waiting if edge not in step.on]
        yield step


def _next_step(placed: set[Node], waiting: Sequence[Join]) -> JoinStep | None:
    for edge in waiting:
        left, right = node_of(edge.left), node_of(edge.right)
        if (left in placed) == (right in placed):
            continue
        new = right if left in placed else left
        on = tuple(
            other
            for other in waiting
            if new in (ends := {node_of(other.left), node_of(other.right)})
            and ends - {new} <= placed
        )
        return JoinStep(new, on, edge.outer and new == right)
    return None
