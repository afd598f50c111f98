"""Queries as SQLite's SQL: clauses, joins restored, names given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form import nodes as f
from sqlwright.local.form.joins import JoinStep, Node, plan_joins
from sqlwright.local.form.kept import spelled_out
from sqlwright.local.form.scopes import borrowed, mentions, needed
from sqlwright.local.form.sequence.delinear import combine
from sqlwright.local.form.write.expressions import ExpressionWriter
from sqlwright.schema import Schema
from sqlwright.sql.tokens import quote_name

SET_WORDS = {
    "union": "UNION",
    "union_all": "UNION ALL",
    "intersect": "INTERSECT",
    "except": "EXCEPT",
}
"""Set operations as SQL."""


class WrittenScope:
    """The names one SELECT gives to what stands in its FROM clause."""

    def __init__(self, names: dict[Node, str], *, qualified: bool) -> None:
        self.names = names
        self.qualified = qualified


@dataclass(frozen=True, slots=True)
class WrittenFrame:
    """One SELECT as it is written, and the names around it."""

    select: f.Select
    steps: Sequence[JoinStep]
    scope: WrittenScope
    outer: WrittenScope | None


class QueryWriter:
    """Writes the queries of one form."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._tables = {table.name.casefold() for table in schema.tables}

    @cached_property
    def _item(self) -> str:
        """The beginning of the names of items, which no column's name has."""
        columns = {ref.column.casefold() for ref in self._schema.columns}
        name = "item"
        while any(f"{name}_{number}" in columns for number in range(1, 25)):
            name = f"{name}_"
        return name

    def query(self, query: f.Query, outer: WrittenScope | None, *, named: bool = False) -> str:
        """A query; `named` gives its items the names that derived tables are read by."""
        if isinstance(query, f.Select):
            return self._select(query, outer, named=named)
        left = self._arm(query.left, outer, named=named)
        right = self._arm(query.right, outer, named=False)
        return f"{left} {SET_WORDS[query.operator]} {right}"

    def _arm(self, query: f.Query, outer: WrittenScope | None, *, named: bool) -> str:
        text = self.query(query, outer, named=named)
        if isinstance(query, f.Select) and (query.order_by or query.limit is not None):
            return f"SELECT * FROM ({text})"
        return text

    def _select(self, select: f.Select, outer: WrittenScope | None, *, named: bool) -> str:
        select, steps = self._planned(select)
        scope = self._scope(steps, outer if any(borrowed(select)) else None)
        condition, shown = self._expressions(WrittenFrame(select, steps, scope, outer))
        items = [self._item_text(item, scope, shown) for item in select.items]
        if named:
            items = [f"{item} AS {self._item}_{place}" for place, item in enumerate(items, 1)]
        parts = ["SELECT DISTINCT" if select.distinct else "SELECT", ", ".join(items)]
        if steps:
            parts += ["FROM", self._from(steps, select.derived, scope, condition)]
        where = _filter(select, steps)
        if where is not None:
            parts += ["WHERE", condition.condition(where)]
        if select.group_by:
            parts += ["GROUP BY", ", ".join(map(condition.expression, select.group_by))]
        if select.having is not None:
            parts += ["HAVING", shown.condition(select.having)]
        if select.order_by:
            parts += ["ORDER BY", ", ".join(map(shown.term, select.order_by))]
        if select.limit is not None:
            parts += ["LIMIT", str(select.limit)]
        if select.offset is not None:
            parts += ["OFFSET", str(select.offset)]
        return " ".join(parts)

    def _planned(self, select: f.Select) -> tuple[f.Select, Sequence[JoinStep]]:
        """A SELECT as it is written, and its FROM clause."""
        select = spelled_out(select)
        return select, plan_joins(
            mentions(select), self._schema, joins=select.joins, crossed=select.crossed
        )

    def _expressions(self, frame: WrittenFrame) -> tuple[ExpressionWriter, ExpressionWriter]:
        """The writers of a SELECT's expressions: of those of single rows, and of those it shows."""
        write = ExpressionWriter(
            lambda column: self.column(column, frame.scope, frame.outer),
            lambda query: self.query(query, frame.scope),
        )
        return write, write

    def _name(self, name: str) -> str:
        """A name, quoted where it has to be."""
        return quote_name(name)

    def _own_name(self, table: str) -> str:
        """The name that the columns of a table are qualified with."""
        return table

    def _scope(self, steps: Sequence[JoinStep], outer: WrittenScope | None) -> WrittenScope:
        taken = set(outer.names.values()) if outer else set()
        taken = {name.casefold() for name in taken}
        names: dict[Node, str] = {}
        for step in steps:
            node = step.node
            if isinstance(node, int):
                name = self._unused(f"subquery_{node}", taken | self._tables)
            else:
                name = self._own_name(node.table)
                if node.instance > 1 or name.casefold() in taken:
                    name = self._unused(f"{name}_{node.instance}", taken | self._tables)
            names[node] = name
            taken.add(name.casefold())
        return WrittenScope(names, qualified=len(steps) > 1)

    @staticmethod
    def _unused(name: str, taken: set[str]) -> str:
        while name.casefold() in taken:
            name += "_"
        return name

    def _from(
        self,
        steps: Sequence[JoinStep],
        derived: Sequence[f.Query],
        scope: WrittenScope,
        write: ExpressionWriter,
    ) -> str:
        parts: list[str] = []
        for place, step in enumerate(steps):
            if parts:
                word = "LEFT JOIN" if step.outer else "JOIN" if step.on else "CROSS JOIN"
                parts.append(word)
            parts.append(self._source(step.node, derived, scope))
            if step.on:
                on = [write.condition(f.Comparison("=", one.left, one.right)) for one in step.on]
                on += [write.member(condition) for condition in timely(steps, place)]
                parts += ["ON", " AND ".join(on)]
        return " ".join(parts)

    def _source(self, node: Node, derived: Sequence[f.Query], scope: WrittenScope) -> str:
        name = scope.names[node]
        if isinstance(node, int):
            text = self.query(derived[node - 1], None, named=True)
            return f"({text}) AS {self._name(name)}"
        table = self._table(node.table)
        return table if name == self._own_name(node.table) else f"{table} AS {self._name(name)}"

    def _table(self, name: str) -> str:
        """A table as FROM names it."""
        return self._name(name)

    def _item_text(
        self, item: f.Expression | f.Star, scope: WrittenScope, write: ExpressionWriter
    ) -> str:
        if not isinstance(item, f.Star):
            return write.expression(item)
        if item.table is None or not scope.qualified:
            return "*"
        return f"{self._name(scope.names[f.Source(item.table)])}.*"

    def column(
        self, column: f.Column | f.DerivedColumn, scope: WrittenScope, outer: WrittenScope | None
    ) -> str:
        """A column's name, qualified where it needs to be."""
        if isinstance(column, f.DerivedColumn):
            return f"{self._name(scope.names[column.table])}.{self._item}_{column.item}"
        home = outer if column.outer else scope
        if home is None:
            raise UnsupportedQuery(f"{column.ref} has no enclosing query")
        name = self._name(column.ref.column)
        if not home.qualified and not column.outer:
            return name
        qualifier = home.names[f.Source(column.ref.table, column.instance)]
        return f"{self._name(qualifier)}.{name}"


def _filter(select: f.Select, steps: Sequence[JoinStep]) -> f.Condition | None:
    """WHERE, with what a LEFT JOIN can't ask yet since it is about a table behind it."""
    asked = [one for place in range(len(steps)) for one in timely(steps, place)]
    conditions = [] if select.where is None else [select.where]
    conditions += [
        join.condition
        for join in select.joins
        if join.condition is not None and join.condition not in asked
    ]
    return combine(f.And, conditions) if conditions else None


def timely(steps: Sequence[JoinStep], place: int) -> list[f.Condition]:
    """The conditions of one entry of a FROM clause that are about it and those before it."""
    placed = {step.node for step in steps[: place + 1]}
    conditions = (join.condition for join in steps[place].on)
    return [one for one in conditions if one is not None and needed(one) <= placed]
