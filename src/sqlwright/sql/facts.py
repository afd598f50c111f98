"""The facts of a query: the one reading that everything which judges queries shares.

A query's facts are made from its parse tree (`sql/tree_facts/`) or, where its author has one,
from its form (`local/form/facts.py`); both readings of one query are equal. Columns are told by
their stored names, constants by their values, and every expression by what is in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from sqlwright.schema import ColumnRef

Clause = Literal["select", "on", "where", "group", "having", "order"]
Operator = Literal[
    "=", "!=", "<", ">", "<=", ">=", "like", "between", "in", "null", "exists", "matches", "true"
]
"""`null` and `true` (an expression as a condition) have no right side, `exists` no left one;
`matches` is GLOB, REGEXP or MATCH. IS is told as `=`."""
SetOperator = Literal["union", "union_all", "intersect", "except"]
JoinKind = Literal["inner", "left", "cross", "other"]


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal of the query. LIMIT and OFFSET are none."""

    value: str | int | float
    is_format: bool = False
    """True if it is the format that says which part of a date STRFTIME takes."""
    start: int | None = field(default=None, compare=False)
    """Index at which a text begins in what the tree was read from (`tree.parsed_text`); None
    elsewhere."""

    @property
    def is_text(self) -> bool:
        return isinstance(self.value, str)

    @property
    def text(self) -> str:
        """As it is written, without quotes."""
        return str(self.value)


@dataclass(frozen=True, slots=True)
class DatePart:
    """A part of a date that is taken."""

    part: str
    """STRFTIME's format, or the name of the function: date, time, datetime, julianday."""
    columns: tuple[ColumnRef, ...]


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """An aggregate function over a group's rows."""

    function: str
    """count, sum, avg, min, max, group_concat or total."""
    argument: Term
    """Of COUNT(*) a star."""
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class Term:
    """An expression: what it is and what is in it, in reading order, queries within it apart."""

    column: ColumnRef | None = None
    """The column, if it is nothing but a stored column; else None."""
    constant: Constant | None = None
    """The constant, if it is nothing but a constant; else None."""
    aggregate: AggregateCall | None = None
    """The aggregate, if it is nothing but an aggregate; else None."""
    star: bool = False
    """True if it is `*`."""
    columns: tuple[ColumnRef, ...] = ()
    """Each once; of `*` all that it shows."""
    aggregates: tuple[AggregateCall, ...] = ()
    constants: tuple[Constant, ...] = ()
    dates: tuple[DatePart, ...] = ()
    queries: tuple[int, ...] = ()
    """Places of the queries within it among the SELECTs."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A condition without AND, OR and NOT in it; constants are on the right."""

    select: int
    """Place among the SELECTs."""
    clause: Clause
    operator: Operator
    left: Term
    right: tuple[Term, ...] = ()
    negated: bool = False
    """True if an odd number of NOT stands before it."""

    @property
    def constant(self) -> Constant | None:
        """The constant that is compared with, if it is one alone."""
        return self.right[0].constant if len(self.right) == 1 else None


@dataclass(frozen=True, slots=True)
class JoinFact:
    """The join of a source of a FROM clause with those before it."""

    kind: JoinKind
    pairs: tuple[tuple[ColumnRef, ColumnRef], ...] = ()
    """Columns that its ON clause sets equal; empty where columns of queries are."""


@dataclass(frozen=True, slots=True)
class OrderKey:
    """A term of ORDER BY."""

    term: Term
    descending: bool = False


@dataclass(frozen=True, slots=True)
class SelectFacts:
    """One SELECT. A SELECT of all that one query in its FROM gives is that query."""

    shown: tuple[Term, ...] = ()
    distinct: bool = False
    tables: tuple[str, ...] = ()
    """Of its FROM clause, by their stored names, in order; one that stands twice is twice there."""
    derived: tuple[int, ...] = ()
    """Places of the queries in its FROM clause."""
    joins: tuple[JoinFact, ...] = ()
    on: tuple[ColumnRef, ...] = ()
    """Columns of its ON clauses; likewise the next two."""
    where: tuple[ColumnRef, ...] = ()
    having: tuple[ColumnRef, ...] = ()
    has_having: bool = False
    connectives: int = 0
    """AND and OR in its clauses, those of BETWEEN too."""
    alternatives: int = 0
    """OR in its clauses."""
    grouping: tuple[Term, ...] = ()
    order: tuple[OrderKey, ...] = ()
    limit: int | None = None
    """-1 where it isn't a constant."""
    offset: int | None = None

    @property
    def aggregates(self) -> tuple[AggregateCall, ...]:
        """Those that it shows."""
        return tuple(call for term in self.shown for call in term.aggregates)


@dataclass(frozen=True, slots=True)
class SetFacts:
    """Two queries combined, by the places of their first SELECTs."""

    operator: SetOperator
    left: int
    right: int


@dataclass(frozen=True)
class QueryFacts:
    """A whole query, queries within it included."""

    selects: tuple[SelectFacts, ...]
    """In reading order; the first one shows."""
    operations: tuple[SetFacts, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    """In reading order, those within expressions included."""
    constants: tuple[Constant, ...] = ()
    """In reading order."""
    columns: tuple[ColumnRef, ...] = ()
    """Every stored column that is named or stands behind a star, in order of appearance."""
    order: tuple[OrderKey, ...] = ()
    """Of the whole query, of a set operation too."""
    limit: int | None = None
    """Likewise."""

    @property
    def first(self) -> SelectFacts:
        """The SELECT that shows; of a set operation its first one."""
        return self.selects[0]

    @property
    def combines(self) -> bool:
        """True if the whole query is a set operation."""
        return any(one.left == 0 for one in self.operations)

    @cached_property
    def tables(self) -> tuple[str, ...]:
        """The stored tables that it reads, each once."""
        return tuple(dict.fromkeys(name for one in self.selects for name in one.tables))

    @cached_property
    def aggregates(self) -> tuple[AggregateCall, ...]:
        """Every aggregate, wherever it is called."""
        return tuple(call for term in self.terms() for call in term.aggregates)

    def calls(self, *functions: str) -> bool:
        """True if any of these aggregates is called."""
        return any(call.function in functions for call in self.aggregates)

    @cached_property
    def texts(self) -> frozenset[str]:
        """The texts among the constants, formats of dates aside."""
        return frozenset(
            one.value for one in self.constants if isinstance(one.value, str) and not one.is_format
        )

    @property
    def extremes(self) -> tuple[tuple[OrderKey, ...], ...]:
        """Every ORDER BY of which a LIMIT takes the first rows."""
        own = [one.order for one in self.selects if one.order and one.limit is not None]
        whole = self.combines and self.order and self.limit is not None
        return tuple([*own, self.order] if whole else own)

    @property
    def orders(self) -> tuple[tuple[OrderKey, ...], ...]:
        """Every ORDER BY: those of the SELECTs, then that of a set operation."""
        own = [one.order for one in self.selects if one.order]
        return tuple([*own, self.order] if self.combines and self.order else own)

    @property
    def limits(self) -> tuple[int, ...]:
        """Every LIMIT, the whole query's last."""
        inner = [one.limit for one in self.selects[1:] if one.limit is not None]
        return tuple(inner if self.limit is None else [*inner, self.limit])

    def terms(self) -> Iterator[Term]:
        """Every expression that stands by itself in a clause, sides of comparisons included."""
        for one in self.selects:
            yield from one.shown
            yield from one.grouping
        for keys in self.orders:
            yield from (key.term for key in keys)
        for comparison in self.comparisons:
            # What compares within an expression that is shown is in that expression.
            if comparison.clause in {"on", "where", "having"}:
                yield comparison.left
                yield from comparison.right


@dataclass
class TermParts:
    """The facts found in an expression while it is read."""

    columns: dict[ColumnRef, None] = field(default_factory=dict)
    aggregates: list[AggregateCall] = field(default_factory=list)
    constants: list[Constant] = field(default_factory=list)
    dates: list[DatePart] = field(default_factory=list)
    queries: list[int] = field(default_factory=list)

    def take(self, term: Term) -> None:
        """Add what is in a term."""
        self.columns.update(dict.fromkeys(term.columns))
        self.aggregates += term.aggregates
        self.constants += term.constants
        self.dates += term.dates
        self.queries += term.queries

    def term(
        self,
        *,
        column: ColumnRef | None = None,
        constant: Constant | None = None,
        aggregate: AggregateCall | None = None,
        star: bool = False,
    ) -> Term:
        """The term that these are the parts of."""
        return Term(
            column, constant, aggregate, star, tuple(self.columns), tuple(self.aggregates),
            tuple(self.constants), tuple(self.dates), tuple(self.queries),
        )  # fmt: skip


def unique(refs: Iterable[ColumnRef]) -> tuple[ColumnRef, ...]:
    """The columns, each once, in their order."""
    return tuple(dict.fromkeys(refs))


_EXCHANGED: dict[Operator, Operator] = {
    "=": "=", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<=",
}  # fmt: skip


def constant_last(operator: Operator, left: Term, right: Term) -> tuple[Operator, Term, Term]:
    """A comparison that says the same with its constant on the right."""
    if operator in _EXCHANGED and left.constant is not None and right.constant is None:
        return _EXCHANGED[operator], right, left
    return operator, left, right
