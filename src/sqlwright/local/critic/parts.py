"""A query's columns by what they are there for, as the critic's features ask for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sqlwright.schema import ColumnRef
from sqlwright.sql.facts import AggregateCall, Comparison, OrderKey, QueryFacts, Term, unique

_LITERAL_OPERATORS = frozenset({"=", "!=", ">", ">=", "<", "<=", "like"})


@dataclass(frozen=True)
class Compared:
    """A column that is compared with a literal."""

    column: ColumnRef
    literal: str
    """Lower case, without a pattern's percent signs."""
    is_text: bool


@dataclass(frozen=True, eq=False)
class Parts:
    """One query's columns by what they are there for; the first SELECT is the one that shows."""

    facts: QueryFacts
    tables: frozenset[str]
    """Folded names."""
    shown: tuple[ColumnRef, ...]
    """As they are stored."""
    worked_out: tuple[ColumnRef, ...]
    """In aggregates and expressions that are shown, counts aside."""
    counted: tuple[ColumnRef, ...]
    conditions: tuple[ColumnRef, ...]
    grouped: tuple[ColumnRef, ...]
    ordered: tuple[ColumnRef, ...]
    """With those whose highest or lowest value a query within the query looks for."""
    compared: tuple[Compared, ...]
    shown_constant: bool
    """True if a column is shown that a condition has set to one value."""
    operands: tuple[tuple[ColumnRef, ColumnRef], ...]
    """Columns that a set operation or IN holds against each other."""

    @property
    def calls(self) -> tuple[AggregateCall, ...]:
        """Aggregates that the first SELECT shows."""
        return self.facts.first.aggregates

    @property
    def grouping(self) -> tuple[Term, ...]:
        """The terms by which the first SELECT that groups does so."""
        return next((one.grouping for one in self.facts.selects if one.grouping), ())

    @property
    def last_order(self) -> tuple[OrderKey, ...]:
        """The ORDER BY of the whole query, else the last one within it."""
        return self.facts.order or next(reversed(self.facts.orders), ())

    @property
    def joins(self) -> int:
        """Joins in all of its FROM clauses."""
        return sum(len(one.joins) for one in self.facts.selects)


def parts_of(facts: QueryFacts) -> Parts:
    """A query's parts."""
    selects, first = facts.selects, facts.first
    shown = unique(term.column for term in first.shown if term.column is not None)
    others = [term for term in first.shown if term.column is None and not term.star]
    counts = [term for term in others if _is_count(term)]
    orders = [key.term for keys in facts.orders for key in keys]
    return Parts(
        facts=facts,
        tables=frozenset(name.casefold() for name in facts.tables),
        shown=shown,
        worked_out=_columns(term for term in others if not _is_count(term)),
        counted=_columns(counts),
        conditions=unique(ref for one in selects for ref in (*one.where, *one.having)),
        grouped=_columns(term for one in selects for term in one.grouping),
        ordered=_columns([*orders, *_inner_extremes(facts)]),
        compared=tuple(_compared(facts.comparisons)),
        shown_constant=not facts.combines
        and any(
            one.operator == "=" and one.constant and one.select == 0 and one.left.column in shown
            for one in facts.comparisons
        ),
        operands=tuple(_operands(facts)),
    )


def _is_count(term: Term) -> bool:
    return term.aggregate is not None and term.aggregate.function == "count"


def _columns(terms: Iterable[Term]) -> tuple[ColumnRef, ...]:
    return unique(ref for term in terms for ref in term.columns)


def _inner_extremes(facts: QueryFacts) -> Iterator[Term]:
    """The terms whose highest or lowest value an inner query looks for."""
    for select in facts.selects[1:]:
        for term in select.shown:
            if term.aggregate is not None and term.aggregate.function in {"max", "min"}:
                yield term


def _compared(comparisons: Sequence[Comparison]) -> Iterator[Compared]:
    for one in comparisons:
        ref, constant = one.left.column, one.constant
        if ref is not None and constant is not None and one.operator in _LITERAL_OPERATORS:
            yield Compared(ref, constant.text.casefold().strip("% "), constant.is_text)


def _operands(facts: QueryFacts) -> Iterator[tuple[ColumnRef, ColumnRef]]:
    selects = facts.selects
    for operation in facts.operations:
        sides = (selects[operation.left].shown, selects[operation.right].shown)
        for left, right in zip(*sides, strict=False):
            if left.column is not None and right.column is not None:
                yield left.column, right.column
    for one in facts.comparisons:
        inner = one.right[0].queries if one.operator == "in" and one.right else ()
        given = selects[inner[0]].shown[:1] if inner else ()
        if one.left.column is not None and given and given[0].column is not None:
            yield one.left.column, given[0].column
