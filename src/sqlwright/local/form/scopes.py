"""Finds the sources of a form's columns, and rewrites them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast

from sqlwright.local.form import nodes as f
from sqlwright.local.form.joins import Node
from sqlwright.local.form.walking import own, parts_of

_Part = TypeVar("_Part")
_CLAUSES = ("items", "where", "group_by", "having", "keep", "order_by")


def _clauses(select: f.Select) -> Iterator[object]:
    return (getattr(select, name) for name in _CLAUSES)


def mentions(select: f.Select) -> tuple[Node, ...]:
    """Nodes that the FROM clause of a SELECT must hold before joins are restored, in order of
    mention: tables of its columns and stars (those of subqueries' `outer` columns too), then extra
    ones. Kept with the SELECT."""
    known = select.kept.get("mentions")
    if known is None:
        known = select.kept["mentions"] = _mentions(select)
    return cast("tuple[Node, ...]", known)


def _mentions(select: f.Select) -> tuple[Node, ...]:
    found: dict[Node, None] = {}
    for part in _clauses(select):
        for node in _own_nodes(part, own=True):
            found[node] = None
    for source in select.extra:
        found[source] = None
    for join in select.joins:
        found.update(dict.fromkeys(_own_nodes(join.condition, own=True)))
    for number in range(1, len(select.derived) + 1):
        found[number] = None
    return tuple(found)


def needed(condition: f.Condition) -> frozenset[Node]:
    """The tables that a FROM clause must hold for a condition."""
    derived = {column.table for column in own(condition, f.DerivedColumn)}
    return frozenset({*_own_nodes(condition, own=True), *derived})


def _own_nodes(part: object, *, own: bool) -> Iterator[Node]:
    """Sources of one SELECT's own columns. In its subqueries these are the columns marked outer."""
    if isinstance(part, f.Column):
        if part.outer != own:
            yield f.Source(part.ref.table, part.instance)
    elif isinstance(part, f.Star):
        if own and part.table is not None:
            yield f.Source(part.table)
    elif isinstance(part, tuple):
        for item in part:
            yield from _own_nodes(item, own=own)
    elif isinstance(part, f.Select | f.SetOperation):
        if own:
            yield from _outer_nodes(part)
    else:
        kind: Any = part.__class__
        for name in parts_of(kind):
            yield from _own_nodes(getattr(part, name), own=own)


def _outer_nodes(query: f.Query) -> Iterator[Node]:
    """Sources of the enclosing SELECT that a subquery's columns mention."""
    if isinstance(query, f.SetOperation):
        yield from _outer_nodes(query.left)
        yield from _outer_nodes(query.right)
    else:
        yield from borrowed(query)


def borrowed(select: f.Select) -> Iterator[Node]:
    """Sources of the enclosing SELECT that a SELECT's own clauses mention."""
    for part in _clauses(select):
        yield from _own_nodes(part, own=False)


def replace_columns(
    select: f.Select, change: Callable[[f.Column | f.Star], f.Column | f.Star]
) -> f.Select:
    """A SELECT with its own columns and stars changed, those that its subqueries borrow included.
    `change` is never shown a column marked outer, and must not return one."""
    changed = {name: _changed(getattr(select, name), change, own=True) for name in _CLAUSES}
    return replace(select, **changed)


def _changed(
    part: _Part, change: Callable[[f.Column | f.Star], f.Column | f.Star], *, own: bool
) -> _Part:
    node: Any = part
    if isinstance(node, f.Column):
        if node.outer == own:
            return part
        changed: Any = change(replace(node, outer=False))
        return replace(changed, outer=node.outer)  # type: ignore[no-any-return]
    if isinstance(node, f.Star):
        return change(node) if own else part  # type: ignore[return-value]
    if isinstance(node, tuple):
        return tuple(_changed(item, change, own=own) for item in node)  # type: ignore[return-value]
    if isinstance(node, f.SetOperation):
        if not own:
            return part
        sides = {side: _changed(getattr(node, side), change, own=own) for side in ("left", "right")}
        return replace(node, **sides)  # type: ignore[return-value]
    if isinstance(node, f.Select):
        if not own:
            return part
        clauses = {name: _changed(getattr(node, name), change, own=False) for name in _CLAUSES}
        return replace(node, **clauses)  # type: ignore[return-value]
    if is_dataclass(node) and not isinstance(node, f.Literal | f.DerivedColumn):
        values = {x.name: _changed(getattr(node, x.name), change, own=own) for x in fields(node)}
        return replace(node, **values)  # type: ignore[return-value, type-var]
    return part
