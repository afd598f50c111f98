"""A form as SQL of the database's dialect, with its joins restored and everything quoted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form import nodes as f
from sqlwright.local.form.joins import JoinStep, node_of, plan_joins
from sqlwright.local.form.kept import spelled_out
from sqlwright.local.form.scopes import mentions
from sqlwright.local.form.walking import own
from sqlwright.local.form.write.comparing import ConditionWriter, Cut
from sqlwright.local.form.write.expressions import ExpressionWriter
from sqlwright.local.form.write.kinds import NUMBERS, Kinds
from sqlwright.local.form.write.queries import SET_WORDS, QueryWriter, WrittenFrame, WrittenScope
from sqlwright.local.form.write.settled import (
    by_places,
    in_an_order,
    is_grouped,
    of_one_kind,
    settled,
    takes_places,
)
from sqlwright.local.form.write.typed import Around
from sqlwright.local.form.write.words import Words
from sqlwright.schema import ColumnRef, Schema
from sqlwright.sql.dialects import POSTGRES, SQLITE, Dialect, dialect_of, written_name
from sqlwright.sql.tree import node_text, query_tree

if TYPE_CHECKING:
    from sqlglot import exp


class StrictWriter(QueryWriter):
    """Writes the queries of one form for a strict engine."""

    def __init__(
        self, schema: Schema, dialect: Dialect, words: Words, *, all_quoted: bool = False
    ) -> None:
        super().__init__(schema)
        self._dialect = dialect
        self._words = words
        self._all_quoted = all_quoted

    def query(self, query: f.Query, outer: WrittenScope | None, *, named: bool = False) -> str:
        if isinstance(query, f.Select):
            return super().query(query, outer, named=named)
        united = of_one_kind(query, self._schema)
        assert isinstance(united, f.SetOperation)
        left = self._arm(united.left, outer, named=named)
        if united.operator == "intersect" and isinstance(united.left, f.SetOperation):
            # It binds more tightly than the others here.
            left = f"({left})"
        right = self._arm(united.right, outer, named=False)
        return f"{left} {SET_WORDS[united.operator]} {right}"

    def _arm(self, query: f.Query, outer: WrittenScope | None, *, named: bool) -> str:
        text = self.query(query, outer, named=named)
        if isinstance(query, f.Select) and (query.order_by or query.limit is not None):
            return f"({text})"
        return text

    def _planned(self, select: f.Select) -> tuple[f.Select, Sequence[JoinStep]]:
        select = spelled_out(select)
        if takes_places(select) and "median" not in self._words.aggregates:
            select = by_places(select, self._schema)
        steps = self._steps(select)
        changed = in_an_order(select, steps, self._schema)
        if changed.derived != select.derived:
            steps = self._steps(changed)
        return settled(changed, steps, self._schema), steps

    def _steps(self, select: f.Select) -> tuple[JoinStep, ...]:
        return plan_joins(
            mentions(select), self._schema, joins=select.joins, crossed=select.crossed
        )

    def _expressions(self, frame: WrittenFrame) -> tuple[ExpressionWriter, ExpressionWriter]:
        select = frame.select
        around = Around(
            self._words,
            Kinds(self._schema, select.derived),
            lambda column: self.column(column, frame.scope, frame.outer),
            lambda query: self.query(query, frame.scope),
            Nullable(self._schema, select, frame.steps),
            self._dialect.nulls,
        )
        plain = ConditionWriter(around)
        return plain, GroupedWriter(around, select, self._schema) if is_grouped(select) else plain

    def _name(self, name: str) -> str:
        if self._all_quoted:
            return self._dialect.quoted(name)
        return written_name(self._dialect, name)

    def _own_name(self, table: str) -> str:
        found = self._schema.table(table)
        return table if found is None else found.own_name

    def _table(self, name: str) -> str:
        found = self._schema.table(name)
        own_name = self._name(self._own_name(name))
        if found is None or not found.namespace:
            return own_name
        return f"{self._name(found.namespace)}.{own_name}"


class GroupedWriter(ConditionWriter):
    """Writes what a SELECT shows of groups: a column that isn't grouped by is that of one row, as
    in SQLite of the row with the one least or greatest value, if there is one, else the first."""

    def __init__(self, around: Around, select: f.Select, schema: Schema) -> None:
        super().__init__(around)
        self._of_rows = ConditionWriter(around)
        self._schema = schema
        self._keys = frozenset(select.group_by)
        self._leading = _one_extreme(select)

    def expression(self, node: f.Expression) -> str:
        if node in self._keys:
            return self._of_rows.expression(node)
        if isinstance(node, f.Aggregate):
            return self._of_rows.expression(node)
        if isinstance(node, f.DerivedColumn) or (isinstance(node, f.Column) and not node.outer):
            return self._picked(node)
        return super().expression(node)

    def part_number(self, node: f.Expression) -> str | None:
        return None if node in self._keys else super().part_number(node)

    def cut(self, node: f.Expression) -> Cut | None:
        is_key = isinstance(node, f.Function) and node in self._keys
        return None if is_key else super().cut(node)

    def _picked(self, node: f.Column | f.DerivedColumn) -> str:
        places = []
        if self._leading is not None:
            places.append(self._place(self._leading))
        if isinstance(node, f.Column):
            table = self._schema.table(node.ref.table)
            for name in table.primary_key if table else ():
                key = f.Column(ColumnRef(node.ref.table, name), node.instance)
                places.append(self._of_rows.expression(key))
        text = self._of_rows.expression(node)
        number = self.kinds.of(node) in NUMBERS
        template = self.words.picked_number if number else self.words.picked
        return template.format(text, ", ".join(places or [text]))

    def _place(self, extreme: f.Aggregate) -> str:
        assert not isinstance(extreme.operand, f.Star)
        text = self._of_rows.expression(extreme.operand)
        if extreme.function == "max":
            return f"{text} DESC NULLS LAST" if self.words.nulls else f"{text} DESC"
        return f"{text} ASC NULLS LAST" if self.words.nulls else f"{text} IS NULL, {text}"


def _one_extreme(select: f.Select) -> f.Aggregate | None:
    """The one MIN or MAX of a SELECT, whose row SQLite takes other columns from."""
    parts = (select.items, select.having, select.order_by)
    found = {one for one in own(parts, f.Aggregate) if one.function in {"min", "max"}}
    one = found.pop() if len(found) == 1 else None
    return None if one is None or isinstance(one.operand, f.Star) else one


class Nullable:
    """Says which expressions of a SELECT can be NULL: all that aren't known not to be."""

    def __init__(self, schema: Schema, select: f.Select, steps: Sequence[JoinStep]) -> None:
        self._schema = schema
        self._grouped = bool(select.group_by)
        self._outer = {step.node for step in steps if step.outer}

    def __call__(self, node: f.Expression) -> bool:
        match node:
            case f.Literal():
                return False
            case f.Column(ref):
                column = self._schema.column(ref)
                table = self._schema.table(ref.table)
                key = table is not None and table.primary_key == (ref.column,)
                known = key or (column is not None and not column.nullable)
                return not known or node_of(node) in self._outer
            case f.Aggregate("count") | f.Window("row_number" | "rank" | "dense_rank" | "count"):
                return False
            case f.Aggregate("sum" | "avg" | "min" | "max", operand):
                # A group has at least one row.
                return not self._grouped or isinstance(operand, f.Star) or self(operand)
            case f.Arithmetic("+" | "-" | "*" | "||", left, right):
                return self(left) or self(right)
        return True


_WIDER = {"clickhouse": {"DATE": "DATE32", "TIMESTAMP": "DATETIME64", "TIMESTAMPTZ": "DATETIME64"}}
"""Types of dates that hold every year, by dialect and by the usual type's name: ClickHouse's usual
ones begin with 1970."""
_CUT = "TRUNC({} / {})"
"""A whole quotient where integers are divided to fractions."""


def write_sql(form: f.Query, schema: Schema) -> str:
    """The form as one line of SQL in the schema's dialect.

    Raises UnsupportedQuery when no keys join the tables it mentions, when it holds a text that no
    database can take, or what the dialect can't say. For a dialect that no words are written for
    it is PostgreSQL's SQL, as the parser translates it.
    """
    if schema.dialect == SQLITE.name:
        return QueryWriter(schema).query(form, None)
    return _strictly(form, schema, dialect_of(schema))


def _strictly(form: f.Query, schema: Schema, dialect: Dialect) -> str:
    # A question of a SQLite file shouldn't wait for these.
    from sqlwright.local.form.write.engines import words_of

    words = words_of(dialect.name)
    if words is not None:
        return StrictWriter(schema, dialect, words).query(form, None)
    words = words_of(POSTGRES.name)
    assert words is not None
    if not dialect.integer_division:
        words = replace(words, quotient=_CUT, whole_quotient=_CUT)
    # Every name is quoted, so that it stays what it is whatever either engine folds.
    text = StrictWriter(schema, POSTGRES, words, all_quoted=True).query(form, None)
    tree = query_tree(text, POSTGRES.name)
    sql = "" if tree is None else node_text(_widened(tree, dialect), dialect.name)
    if not sql:
        raise UnsupportedQuery(f"the query can't be said in the dialect {dialect.name!r}")
    return sql


def _widened(tree: exp.Expr, dialect: Dialect) -> exp.Expr:
    """A tree whose constants of dates are of types that hold every year."""
    from sqlglot import exp

    wider = _WIDER.get(dialect.parser)
    if wider is None:
        return tree
    tree = tree.copy()
    for cast in tree.find_all(exp.Cast):
        name = str(getattr(cast.to.this, "name", ""))
        if name in wider and isinstance(cast.this, exp.Literal):
            cast.set("to", exp.DataType(this=exp.DataType.Type[wider[name]]))
    return tree
