"""Tables and columns that a gold query uses, aliases resolved scope by scope."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlwright.schema import ColumnRef, Schema


@dataclass(frozen=True)
class Used:
    """Tables and columns of a query."""

    tables: frozenset[str]
    columns: frozenset[ColumnRef]
    """Outside of join conditions."""
    joining: frozenset[ColumnRef]
    """Only compared with a column of another table."""
    literals: frozenset[tuple[ColumnRef, str]]
    """Text literals with the column they are compared with."""


def used(sql: str, schema: Schema) -> Used | None:
    """None when the query can't be parsed or names no table of the schema."""
    try:
        tree = sqlglot.parse_one(sql, read="sqlite")
    except SqlglotError:
        return None
    walk = _Walk(schema)
    walk.visit(tree, {})
    if not walk.tables:
        return None
    return Used(
        frozenset(walk.tables),
        frozenset(walk.columns),
        frozenset(walk.joining - walk.columns),
        frozenset(walk.literals),
    )


class _Walk:
    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.tables: set[str] = set()
        self.columns: set[ColumnRef] = set()
        self.joining: set[ColumnRef] = set()
        self.literals: set[tuple[ColumnRef, str]] = set()

    def visit(self, node: exp.Expr, outer: Mapping[str, str]) -> None:
        """Walk one scope; nested SELECTs open their own inside it."""
        names = outer
        if isinstance(node, exp.Select):
            names = {**outer, **self._sources(node)}
        if isinstance(node, exp.Column):
            ref = self._resolve(node, names)
            if ref:
                self.columns.add(ref)
            return
        if isinstance(node, (exp.EQ, exp.Like, exp.NEQ)):
            sides = [self._resolve(s, names) for s in (node.this, node.expression)]
            if all(sides) and sides[0] and sides[1] and sides[0].table != sides[1].table:
                self.joining.update(side for side in sides if side)
                return
            value = node.expression
            text = isinstance(value, exp.Literal) and value.is_string
            # SQLite reads a double-quoted name that is no column as text.
            if sides[0] and (text or (isinstance(value, exp.Column) and not sides[1])):
                self.literals.add((sides[0], value.name))
        for child in node.iter_expressions():
            self.visit(child, names)

    def _sources(self, select: exp.Select) -> dict[str, str]:
        names = {}
        parts = [select.args.get("from_") or select.args.get("from")]
        parts += select.args.get("joins") or []
        for part in parts:
            table = part.this if part is not None else None
            if isinstance(table, exp.Table):
                found = self.schema.table(table.name)
                if found:
                    self.tables.add(found.name)
                    names[table.alias_or_name.casefold()] = found.name
        return names

    def _resolve(self, node: exp.Expr, names: Mapping[str, str]) -> ColumnRef | None:
        if not isinstance(node, exp.Column):
            return None
        wanted = node.table.casefold()
        owners = [names[wanted]] if wanted in names else [] if wanted else list(names.values())
        for owner in reversed(owners):
            table = self.schema.table(owner)
            column = table.column(node.name) if table else None
            if table and column:
                return ColumnRef(table.name, column.name)
        return None
