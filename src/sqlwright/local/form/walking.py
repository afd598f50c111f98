"""Nodes of a form by their kind, and forms with one node replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, TypeVar, cast

from sqlwright.local.form.nodes import (
    Column,
    DerivedColumn,
    Kept,
    Literal,
    Query,
    Select,
    Source,
    Star,
)
from sqlwright.schema import ColumnRef

_Node = TypeVar("_Node")


def inside(
    node: object, kind: type[_Node], *, stop: tuple[type[Any], ...] = ()
) -> tuple[_Node, ...]:
    """The node itself and all below it that are of a kind, in reading order. What is of a kind in
    `stop` is not entered."""
    found = _walked(node, stop)
    return tuple([each for each in found if each.__class__ is kind])


def own(node: object, kind: type[_Node]) -> tuple[_Node, ...]:
    """Nodes of a kind that belong to this SELECT, not to one nested in it."""
    return inside(node, kind, stop=(Select,))


def selects(form: Query) -> tuple[Select, ...]:
    """Every SELECT of a form, nested ones included."""
    return inside(form, Select)


def own_tables(select: Select) -> frozenset[str]:
    """The tables that a SELECT's own columns and extra sources name."""
    named = {column.ref.table for column in own(select, Column) if not column.outer}
    return frozenset(named | {source.table for source in select.extra})


def changed(node: _Node, change: Callable[[Any], Any]) -> _Node:
    """The form with every node replaced by what `change` makes of it; the inner ones come first."""
    if isinstance(node, tuple) and not isinstance(node, ColumnRef):
        return tuple(changed(item, change) for item in node)  # type: ignore[return-value]
    if not is_dataclass(node) or isinstance(node, type):
        return node
    values = {
        field.name: changed(getattr(node, field.name), change)
        for field in fields(node)
        if isinstance(getattr(node, field.name), tuple) or is_dataclass(getattr(node, field.name))
    }
    rebuilt: Any = replace(node, **values) if values else node
    return change(rebuilt)  # type: ignore[no-any-return]


def exchanged(form: _Node, old: object, new: object) -> _Node:
    """The form with a node, wherever it stands, replaced by another."""
    return changed(form, lambda node: new if node == old else node)


def _walked(node: object, stop: tuple[type[Any], ...]) -> tuple[object, ...]:
    """The node and all below it, in reading order; those of a query are kept with it."""
    if not isinstance(node, Kept):
        return _all(node, stop)
    found = node.kept.get(stop)
    if found is None:
        found = node.kept[stop] = _all(node, stop)
    return cast("tuple[object, ...]", found)


def _all(node: object, stop: tuple[type[Any], ...]) -> tuple[object, ...]:
    found: list[object] = []
    waiting = [node]
    while waiting:
        node = waiting.pop()
        kind: Any = node.__class__
        if kind is tuple:
            parts: Iterable[Any] = cast("tuple[Any, ...]", node)
        else:
            found.append(node)
            parts = [getattr(node, name) for name in parts_of(kind)]
        waiting += [
            part for part in parts if _is_node(part.__class__) and part.__class__ not in stop
        ][::-1]
    return tuple(found)


@cache
def parts_of(kind: Any) -> tuple[str, ...]:
    """The fields of a kind of node that may hold other nodes."""
    if kind in {Column, DerivedColumn, Literal, Star, Source} or not is_dataclass(kind):
        return ()
    return tuple(field.name for field in fields(kind))


@cache
def _is_node(kind: Any) -> bool:
    return kind is tuple or is_dataclass(kind)
