"""Expressions and conditions of a query, read from its parse tree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from sqlglot import exp

from sqlwright.schema import ColumnRef
from sqlwright.sql.facts import (
    AggregateCall,
    Clause,
    Comparison,
    Constant,
    DatePart,
    Term,
    TermParts,
    constant_last,
)
from sqlwright.sql.names import Names, is_star
from sqlwright.sql.tree_facts.nodes import (
    CONDITIONS,
    DATES,
    aggregate_of,
    date_part_of,
    parts_of_window,
    sides_of,
    signed_number,
    value_of,
)


@dataclass
class OpenSelect:
    """A SELECT while it is read."""

    place: int
    names: Names
    clauses: dict[Clause, TermParts] = field(default_factory=dict)
    connectives: int = 0
    alternatives: int = 0

    def parts(self, clause: Clause) -> TermParts:
        return self.clauses.setdefault(clause, TermParts())


@dataclass
class TermReader:
    """Reads expressions and conditions; what they compare and name is kept."""

    query: Callable[[exp.Expr, Names], int]
    """Reads a query within one; its place among the SELECTs."""
    comparisons: list[Comparison] = field(default_factory=list)
    constants: list[Constant] = field(default_factory=list)
    columns: dict[ColumnRef, None] = field(default_factory=dict)

    def term(
        self,
        node: exp.Expr,
        own: OpenSelect,
        clause: Clause,
        *,
        names: Names | None = None,
        quiet: bool = False,
    ) -> Term:
        """An expression. `quiet`: it stands elsewhere in the query and is another name there, so
        its constants, comparisons and queries aren't told again."""
        if quiet:
            term = TermReader(_elsewhere).term(
                node, OpenSelect(own.place, own.names), clause, names=names
            )
            term = replace(term, queries=())
            own.parts(clause).take(term)
            return term
        while isinstance(node, exp.Paren):
            node = node.this
        if isinstance(node, exp.Star):
            return Term(star=True)
        parts = TermParts()
        names = own.names if names is None else names
        column = constant = aggregate = None
        if isinstance(node, exp.Column):
            named = names.find(node)
            if named.behind is not None:
                return self.term(named.behind, own, clause, names=names.stored(), quiet=True)
            column = named.column
        waiting = [node]
        while waiting:
            one = waiting.pop()
            found = self._part(one, own, clause, names, parts)
            if found is None:
                window = parts_of_window(one)
                within = list(one.iter_expressions()) if window is None else window
                waiting += reversed(within)
            elif one is node:
                constant = found if isinstance(found, Constant) else None
                aggregate = found if isinstance(found, AggregateCall) else None
        term = parts.term(column=column, constant=constant, aggregate=aggregate)
        own.parts(clause).take(term)
        return term

    def _part(
        self, node: exp.Expr, own: OpenSelect, clause: Clause, names: Names, parts: TermParts
    ) -> object | None:
        """Add what a node is to the parts; None where what is in it counts by itself."""
        if isinstance(node, exp.Column):
            return self._named(node, own, clause, names, parts)
        number = signed_number(node)
        if isinstance(node, exp.Literal) or number is not None:
            start = node.meta.get("start") if number is None and node.is_string else None
            return self._constant(value_of(node) if number is None else number, parts, start=start)
        if isinstance(node, exp.Query):
            parts.queries.append(self.query(node, names))
            return node
        if isinstance(node, CONDITIONS):
            self.condition(node, own, clause, into=parts, names=names)
            return node
        called = aggregate_of(node)
        if called is not None:
            return self._aggregate(*called, (own, clause, names, parts))
        part = date_part_of(node)
        if part is None:
            return None
        name, moment = part
        if not DATES & {name}:
            self._constant(name, parts, is_format=True)
        inner = self.term(moment, own, clause, names=names)
        parts.take(inner)
        parts.dates.append(DatePart(name, inner.columns))
        return node

    def _named(
        self, node: exp.Column, own: OpenSelect, clause: Clause, names: Names, parts: TermParts
    ) -> object:
        if is_star(node):
            return node
        named = names.find(node)
        if named.behind is not None:
            parts.take(self.term(named.behind, own, clause, names=names.stored(), quiet=True))
        if named.literal is not None:
            return self._constant(named.literal, parts)
        if named.column is not None:
            parts.columns[named.column] = None
            self.columns[named.column] = None
        return node

    def _constant(
        self,
        value: str | float,
        parts: TermParts,
        *,
        is_format: bool = False,
        start: int | None = None,
    ) -> Constant:
        constant = Constant(value, is_format, start)
        parts.constants.append(constant)
        self.constants.append(constant)
        return constant

    def _aggregate(
        self,
        function: str,
        operand: exp.Expr | None,
        where: tuple[OpenSelect, Clause, Names, TermParts],
    ) -> AggregateCall:
        own, clause, names, parts = where
        distinct = isinstance(operand, exp.Distinct)
        if isinstance(operand, exp.Distinct) and len(operand.expressions) == 1:
            operand = operand.expressions[0]
        rows = isinstance(operand, (exp.Star, exp.Literal)) and function == "count"
        if operand is None or (rows and not distinct):
            argument = Term(star=True)
        else:
            argument = self.term(operand, own, clause, names=names)
        parts.take(argument)
        call = AggregateCall(function, argument, distinct)
        parts.aggregates.append(call)
        return call

    # ---- conditions

    def condition(
        self,
        node: exp.Expr,
        own: OpenSelect,
        clause: Clause,
        *,
        negated: bool = False,
        into: TermParts | None = None,
        names: Names | None = None,
    ) -> None:
        """Read a condition; what is in it is added to `into`, else to the clause."""
        while isinstance(node, (exp.Paren, exp.Not, exp.Escape)):
            negated ^= isinstance(node, exp.Not)
            node = node.this
        if isinstance(node, (exp.And, exp.Or)):
            operands = list(node.flatten())
            own.connectives += len(operands) - 1
            own.alternatives += (len(operands) - 1) * isinstance(node, exp.Or)
            for one in operands:
                self.condition(one, own, clause, negated=negated, into=into, names=names)
            return
        own.connectives += isinstance(node, exp.Between)
        operator, sides = sides_of(node)
        terms = [self.term(one, own, clause, names=names) for one in sides]
        for term in terms if into is not None else ():
            into.take(term)  # type: ignore[union-attr]
        if operator == "exists":
            terms.insert(0, Term())
        if len(terms) == 2:
            operator, *terms = constant_last(operator, *terms)
        negated ^= bool(node.args.get("negate"))
        self.comparisons.append(
            Comparison(own.place, clause, operator, terms[0], tuple(terms[1:]), negated)
        )


def _elsewhere(*_: object) -> int:
    """For a query that is read where it stands, not where its other name does."""
    return -1
