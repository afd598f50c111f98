"""A query's facts, read from its form: the same as `sql/tree_facts/` reads from what is written.

Its FROM clauses are those that `plan_joins` restores; a column of a derived table is the stored one
that the item passes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form import nodes as f
from sqlwright.local.form.joins import JoinStep, plan_joins
from sqlwright.local.form.scopes import mentions
from sqlwright.local.form.sequence.symbols import LATER_AGGREGATES, LATER_FUNCTIONS
from sqlwright.local.form.walking import inside
from sqlwright.local.form.write.expressions import like_pattern
from sqlwright.local.form.write.sql import write_sql
from sqlwright.schema import ColumnRef, Schema
from sqlwright.sql.facts import (
    AggregateCall,
    Clause,
    Comparison,
    Constant,
    DatePart,
    JoinFact,
    JoinKind,
    Operator,
    OrderKey,
    QueryFacts,
    SelectFacts,
    SetFacts,
    Term,
    TermParts,
    constant_last,
    unique,
)
from sqlwright.sql.tree_facts.query import query_facts

_DATE_PARTS = {"year": "%Y", "month": "%m", "day": "%d"}
_DATES = frozenset({"date", "time", "datetime", "julianday"})


def form_facts(form: f.Query, schema: Schema) -> QueryFacts:
    """The facts of a form. Raises UnsupportedQuery when no keys join the tables it mentions.

    What stands for several operations of SQL is read from what is written. Kept with the form.
    """
    known = cast("tuple[Schema, QueryFacts] | None", form.kept.get(("facts", id(schema))))
    if known is None:
        known = schema, _form_facts(form, schema)
        form.kept["facts", id(schema)] = known
    return known[1]


def _form_facts(form: f.Query, schema: Schema) -> QueryFacts:
    if _is_short_for_more(form):
        facts = query_facts(write_sql(form, schema.in_sqlite), schema.in_sqlite)
        if facts is None:
            raise UnsupportedQuery("nested too deeply to be read")
        return facts
    reader = _FactsReader(schema)
    reader.query(form)
    return reader.facts(form)


def _is_short_for_more(form: f.Query) -> bool:
    return (
        bool(inside(form, f.Window))
        or any(call.name in LATER_FUNCTIONS for call in inside(form, f.Function))
        or any(one.function in LATER_AGGREGATES for one in inside(form, f.Aggregate))
        or any(join.condition is not None for join in inside(form, f.Join))
    )


@dataclass
class _Select:
    """A SELECT while it is read."""

    place: int
    derived: Sequence[f.Query]
    tables: tuple[str, ...]
    clauses: dict[Clause, TermParts] = field(default_factory=dict)
    connectives: int = 0
    alternatives: int = 0

    def parts(self, clause: Clause) -> TermParts:
        return self.clauses.setdefault(clause, TermParts())


class _FactsReader:
    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._selects: list[SelectFacts] = []
        self._operations: list[SetFacts] = []
        self._comparisons: list[Comparison] = []
        self._constants: list[Constant] = []
        self._columns: dict[ColumnRef, None] = {}

    def facts(self, form: f.Query) -> QueryFacts:
        whole = self._selects[0] if isinstance(form, f.Select) else SelectFacts()
        return QueryFacts(
            tuple(self._selects),
            tuple(self._operations),
            tuple(self._comparisons),
            tuple(self._constants),
            tuple(self._columns),
            whole.order,
            whole.limit,
        )

    def query(self, form: f.Query) -> int:
        """Read a query; the place of its first SELECT."""
        if isinstance(form, f.Select):
            return self._select(form)
        left = self.query(form.left)
        right = self.query(form.right)
        self._operations.append(SetFacts(form.operator, left, right))
        return left

    # ---- one SELECT

    def _select(self, select: f.Select) -> int:
        place = len(self._selects)
        self._selects.append(SelectFacts())
        steps = plan_joins(
            mentions(select), self._schema, joins=select.joins, crossed=select.crossed
        )
        tables = tuple(step.node.table for step in steps if isinstance(step.node, f.Source))
        own = _Select(place, select.derived, tables)
        shown = tuple(self._item(item, own) for item in select.items)
        derived, joins = self._sources(steps, own)
        if select.where is not None:
            self._condition(select.where, own, "where")
        grouping = tuple(self._term(key, own, "group") for key in select.group_by)
        if select.having is not None:
            self._condition(select.having, own, "having")
        order = tuple(
            OrderKey(self._term(key.expression, own, "order"), key.descending)
            for key in select.order_by
        )
        self._selects[place] = SelectFacts(
            shown,
            select.distinct,
            tables,
            derived,
            joins,
            tuple(own.parts("on").columns),
            tuple(own.parts("where").columns),
            tuple(own.parts("having").columns),
            select.having is not None,
            own.connectives,
            own.alternatives,
            grouping,
            order,
            select.limit,
            select.offset,
        )
        return place

    def _item(self, item: f.Expression | f.Star, own: _Select) -> Term:
        if not isinstance(item, f.Star):
            return self._term(item, own, "select")
        named = dict.fromkeys(own.tables)
        alone = item.table is None or len(own.tables) + len(own.derived) == 1
        found = (self._schema.table(name) for name in named if alone or name == item.table)
        columns = unique(
            ColumnRef(table.name, column.name)
            for table in found
            if table is not None
            for column in table.columns
        )
        self._columns.update(dict.fromkeys(columns))
        return Term(star=True, columns=columns)

    def _sources(
        self, steps: Sequence[JoinStep], own: _Select
    ) -> tuple[tuple[int, ...], tuple[JoinFact, ...]]:
        derived, joins = [], []
        for number, step in enumerate(steps):
            if isinstance(step.node, int):
                derived.append(self.query(own.derived[step.node - 1]))
            if not number:
                continue
            pairs = []
            own.connectives += max(len(step.on) - 1, 0)
            for join in step.on:
                left, right = (self._term(end, own, "on").column for end in (join.left, join.right))
                if left is not None and right is not None:
                    pairs.append((left, right))
            kind: JoinKind = "left" if step.outer else "inner" if step.on else "cross"
            joins.append(JoinFact(kind, tuple(pairs)))
        return tuple(derived), tuple(joins)

    # ---- expressions

    def _term(self, node: f.Expression, own: _Select, clause: Clause) -> Term:
        parts = TermParts()
        found = self._part(node, own, clause, parts)
        constant = found if isinstance(found, Constant) else None
        aggregate = found if isinstance(found, AggregateCall) else None
        column = found if isinstance(found, ColumnRef) else None
        term = parts.term(column=column, constant=constant, aggregate=aggregate)
        own.parts(clause).take(term)
        return term

    def _part(
        self, node: f.Expression, own: _Select, clause: Clause, parts: TermParts
    ) -> Constant | AggregateCall | ColumnRef | None:
        """Add an expression to the parts; what it is, where a term tells that."""
        match node:
            case f.Column() | f.DerivedColumn():
                ref = _stored(node, own.derived)
                if ref is not None:
                    parts.columns[ref] = None
                    self._columns[ref] = None
                return ref
            case f.Literal(value):
                return self._constant(value, parts)
            case f.Aggregate():
                return self._aggregate(node, own, clause, parts)
            case f.Arithmetic(operator, left, right):
                self._part(left, own, clause, parts)
                if operator == "percent":
                    self._constant(100, parts)
                self._part(right, own, clause, parts)
            case f.Function():
                return self._function(node, own, clause, parts)
            case f.Conditional(condition, then, otherwise):
                self._condition(condition, own, clause, into=parts)
                self._part(then, own, clause, parts)
                if otherwise is not None:
                    self._part(otherwise, own, clause, parts)
            case f.Subquery(query):
                parts.queries.append(self.query(query))
        return None

    def _constant(
        self, value: str | float, parts: TermParts, *, is_format: bool = False
    ) -> Constant:
        constant = Constant(value, is_format)
        parts.constants.append(constant)
        self._constants.append(constant)
        return constant

    def _aggregate(
        self, node: f.Aggregate, own: _Select, clause: Clause, parts: TermParts
    ) -> AggregateCall:
        rows = node.function == "count" and not node.distinct and _is_constant(node.operand)
        if rows or isinstance(node.operand, f.Star):
            argument = Term(star=True)
        else:
            argument = self._term(node.operand, own, clause)
        parts.take(argument)
        call = AggregateCall(node.function, argument, node.distinct)
        parts.aggregates.append(call)
        return call

    def _function(
        self, node: f.Function, own: _Select, clause: Clause, parts: TermParts
    ) -> Constant | None:
        if node.name == "now":
            return self._constant("now", parts)
        part = _DATE_PARTS.get(node.name, node.name if node.name in _DATES else None)
        arguments = node.arguments
        if node.name == "strftime":
            part, arguments = str(cast("f.Literal", arguments[0]).value), arguments[1:]
        if part is None:
            for argument in arguments:
                self._part(argument, own, clause, parts)
            return None
        if part not in _DATES:
            self._constant(part, parts, is_format=True)
        inner = self._term(arguments[0], own, clause)
        parts.take(inner)
        parts.dates.append(DatePart(part, inner.columns))
        return None

    # ---- conditions

    def _condition(
        self,
        node: f.Condition,
        own: _Select,
        clause: Clause,
        *,
        negated: bool = False,
        into: TermParts | None = None,
    ) -> None:
        """Read a condition; what is in it is added to `into` too."""
        match node:
            case f.And(operands) | f.Or(operands):
                own.connectives += len(operands) - 1
                own.alternatives += (len(operands) - 1) * isinstance(node, f.Or)
                for operand in operands:
                    self._condition(operand, own, clause, negated=negated, into=into)
                return
            case f.Not(operand):
                self._condition(operand, own, clause, negated=not negated, into=into)
                return
            case f.Between():
                own.connectives += 1
        operator, sides = _sides(node)
        terms = [self._term(side, own, clause) for side in sides]
        for term in terms if into is not None else ():
            into.take(term)  # type: ignore[union-attr]
        if operator == "exists":
            terms.insert(0, Term())
        if len(terms) == 2:
            operator, *terms = constant_last(operator, *terms)
        negated ^= getattr(node, "negated", False)
        self._comparisons.append(
            Comparison(own.place, clause, operator, terms[0], tuple(terms[1:]), negated)
        )


def _sides(node: f.Condition) -> tuple[Operator, list[f.Expression]]:
    """The operator of a condition without others in it, and what it compares."""
    match node:
        case f.Comparison(operator, left, right):
            return operator, [left, right]
        case f.Between(operand, low, high):
            return "between", [operand, low, high]
        case f.InList(operand, values):
            return "in", [operand, *values]
        case f.InQuery(operand, query):
            return "in", [operand, f.Subquery(query)]
        case f.Like(kind, operand, phrase):
            return "like", [operand, f.Literal(like_pattern(kind, str(phrase.value)))]
        case f.IsNull(operand):
            return "null", [operand]
        case f.Exists(query):
            return "exists", [f.Subquery(query)]
        case f.And() | f.Or() | f.Not():
            raise TypeError(f"{type(node).__name__} holds others")


def _is_constant(node: f.Expression | f.Star) -> bool:
    return isinstance(node, f.Literal) or node == f.Function("now")


def _stored(column: f.Column | f.DerivedColumn, derived: Sequence[f.Query]) -> ColumnRef | None:
    """The stored column that one stands for; None where an item of a query is worked out."""
    if isinstance(column, f.Column):
        return column.ref
    query = derived[column.table - 1]
    if not isinstance(query, f.Select):
        return None
    item = query.items[column.item - 1]
    return _stored(item, query.derived) if isinstance(item, f.Column | f.DerivedColumn) else None
