"""Literals of a query and the columns they are compared with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from sqlwright.local.form import Column, Comparison, InList, Like, Literal, Query
from sqlwright.schema import ColumnRef
from sqlwright.types import ValueMatch

Choose = Callable[[ColumnRef, str], ValueMatch | None]


@dataclass(frozen=True, slots=True)
class Replacement:
    """A literal and the stored value that took its place."""

    text: str
    match: ValueMatch


def replace_literals(form: Query, choose: Choose) -> tuple[Query, tuple[Replacement, ...]]:
    """The form with every text that a column is asked to equal or contain replaced as chosen.

    `choose` is given the column and the text; None leaves the text. Negated conditions stay: they
    can't be why nothing was found.
    """
    found: dict[tuple[ColumnRef, str], ValueMatch] = {}

    def chosen(column: Column, literal: Literal) -> Literal:
        text = literal.value
        match = choose(column.ref, text) if isinstance(text, str) and text else None
        if match is None or not isinstance(text, str):
            return literal
        found[column.ref, text] = replace(match, phrase=text)
        return Literal(match.value)

    changed: Query = _changed(form, chosen)
    return changed, tuple(Replacement(text, match) for (_, text), match in found.items())


def _changed(node: Any, chosen: Callable[[Column, Literal], Literal]) -> Any:
    if isinstance(node, tuple) and not isinstance(node, ColumnRef):
        return tuple(_changed(item, chosen) for item in node)
    if not is_dataclass(node) or isinstance(node, type):
        return node
    if isinstance(node, Comparison) and node.operator == "=":
        if isinstance(node.left, Column) and isinstance(node.right, Literal):
            return replace(node, right=chosen(node.left, node.right))
        if isinstance(node.left, Literal) and isinstance(node.right, Column):
            return replace(node, left=chosen(node.right, node.left))
    if isinstance(node, InList) and isinstance(node.operand, Column) and not node.negated:
        column = node.operand
        return replace(node, values=tuple(chosen(column, value) for value in node.values))
    if isinstance(node, Like) and isinstance(node.operand, Column) and not node.negated:
        return node if node.kind == "matches" else replace(
            node, phrase=chosen(node.operand, node.phrase)
        )  # fmt: skip
    changes = {
        f.name: _changed(getattr(node, f.name), chosen)
        for f in fields(node)
        if isinstance(getattr(node, f.name), tuple) or is_dataclass(getattr(node, f.name))
    }
    return replace(node, **changes) if changes else node
