"""Nodes of a form by their kind, and forms with one node replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, TypeVar, cast

from sqlwright.local.form.nodes import Column, DerivedColumn, Literal, Query, Select, Source, Star
from sqlwright.schema import ColumnRef

_Node = TypeVar("_Node")


def inside(node: object, kind: type[_Node], *, stop: tuple[type[Any], ...] = ()) -> Iterator[_Node]:
    """The node itself and all below it that are of a kind, in reading order. What is of a kind in
    `stop` is not entered."""
    if isinstance(node, kind):
        yield node
    for part in _parts(node):
        if type(part) is tuple or not isinstance(part, stop):
            yield from inside(part, kind, stop=stop)


def own(node: object, kind: type[_Node]) -> Iterator[_Node]:
    """Nodes of a kind that belong to this SELECT, not to one nested in it."""
    return inside(node, kind, stop=(Select,))


def selects(form: Query) -> Iterator[Select]:
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


@cache
def _names(kind: Any) -> tuple[str, ...]:
    """The fields of a kind of node that may hold other nodes."""
    if kind in {Column, DerivedColumn, Literal, Star, Source} or not is_dataclass(kind):
        return ()
    return tuple(field.name for field in fields(kind))


def _parts(node: object) -> Iterator[object]:
    kind: Any = type(node)
    if kind is tuple:
        yield from cast("tuple[object, ...]", node)
        return
    for name in _names(kind):
        value: Any = getattr(node, name)
        if type(value) is tuple or _is_node(value.__class__):
            yield value


@cache
def _is_node(kind: Any) -> bool:
    return is_dataclass(kind)
