"""The way in which the values of an expression are written, by the columns that it passes on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import get_args

from sqlwright.local.form import nodes as f
from sqlwright.local.parser.dressing.moments import converted
from sqlwright.schema import Column, ColumnRef, Schema, Table
from sqlwright.sql.declared_types import type_class
from sqlwright.types.stored import Formats, Stored

EXTREMES = frozenset({"min", "max"})
_KEPT = frozenset({"lag", "lead", "first_value"})
"""Windows that give a value as it is."""
_VALUES = get_args(f.Expression)


def as_meant(schema: Schema, formats: Formats, dates: Mapping[ColumnRef, bool]) -> Schema:
    """The schema with the types that columns would be declared as if they held dates and numbers
    that SQLite reads. `dates` says which hold dates, whatever they are declared as."""

    def meant(table: Table, column: Column) -> Column:
        ref = ColumnRef(table.name, column.name)
        way = formats.get(ref)
        if way is not None:
            return replace(column, type="DATE" if way.is_date else "REAL")
        is_plain = type_class(column.type) != "date" and dates.get(ref, False)
        return replace(column, type="DATE") if is_plain else column

    tables = tuple(
        replace(table, columns=tuple(meant(table, column) for column in table.columns))
        for table in schema.tables
    )
    return replace(schema, tables=tables)


class Ways:
    """The dressed expressions of one SELECT; `derived` are the queries of its FROM clause,
    dressed."""

    def __init__(self, formats: Formats, derived: Sequence[f.Query]) -> None:
        self._formats = formats
        self._derived = derived

    def way(self, node: object) -> Stored | None:
        """The way in which a dressed expression is written; None: as they seem."""
        match node:
            case f.Column(ref):
                return self._formats.get(ref)
            case f.DerivedColumn(table, item):
                return self._item(self._derived[table - 1], item)
            case f.Subquery(query):
                return self._item(query, 1)
            case f.Aggregate(function, operand) if function in EXTREMES:
                return self.way(operand)
            case f.Window(function, operand) if function in _KEPT | EXTREMES:
                return self.way(operand)
            case f.Conditional(_, then, otherwise):
                way = self.way(then)
                return way if otherwise is None or self.way(otherwise) == way else None
        return None

    def _item(self, query: f.Query, item: int) -> Stored | None:
        while isinstance(query, f.SetOperation):
            query = query.left
        if item > len(query.items):
            return None
        return Ways(self._formats, query.derived).way(query.items[item - 1])

    def meant(self, node: f.Expression, *, timed: bool = True) -> f.Expression:
        """A dressed expression as what it means."""
        way = self.way(node)
        if way is None:
            return node
        match node:
            case f.Aggregate(_, operand) | f.Window(_, operand) if isinstance(operand, _VALUES):
                return replace(node, operand=self.meant(operand, timed=timed))
            case f.Conditional(_, then, otherwise):
                rest = None if otherwise is None else self.meant(otherwise, timed=timed)
                return replace(node, then=self.meant(then, timed=timed), otherwise=rest)
            case f.Subquery(f.Select() as query):
                inner = Ways(self._formats, query.derived)
                item = query.items[0]
                assert not isinstance(item, f.Star)
                return f.Subquery(replace(query, items=(inner.meant(item, timed=timed),)))
        return converted(node, way, timed=timed)
