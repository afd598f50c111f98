"""The intermediate form: what a query means, without its joins.

A `Select` names the columns, tables and values it needs. Its FROM clause is derived: the tables of
every column it mentions, joined along the schema's keys. Only what can't be derived is written
down: tables nothing else mentions, and joins that the keys would not give. Everything is frozen
and refers to a schema by exact stored names.

The idea of leaving the FROM clause out follows SemQL (Guo et al., "Towards Complex Text-to-SQL in
Cross-Domain Database with Intermediate Representation", ACL 2019, section 2.2) and NatSQL (Gan et
al., EMNLP Findings 2021, section 3); unlike either, it keeps what is needed to get the gold
query's rows back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from sqlwright.schema import ColumnRef

AggregateName = OneOf[
    "count",
    "sum",
    "avg",
    "min",
    "max",
    "group_concat",
    "total",
    "median",
    "stddev",
    "stddev_pop",
    "percentile",
]
WindowName = OneOf[
    "row_number",
    "rank",
    "dense_rank",
    "ntile",
    "lag",
    "lead",
    "first_value",
    "count",
    "sum",
    "avg",
    "min",
    "max",
]
ArithmeticOperator = OneOf["+", "-", "*", "/", "%", "||", "ratio", "percent"]
ComparisonOperator = OneOf["=", "!=", "<", ">", "<=", ">="]
LikeKind = OneOf["contains", "starts", "ends", "matches"]
SetOperator = OneOf["union", "union_all", "intersect", "except"]


class Kept:
    """A query that keeps its readers' findings: it never changes, so each is made once. They are no
    field: neither compared, nor copied, nor stored."""

    __slots__ = ("_kept",)
    _kept: dict[object, object]

    @property
    def kept(self) -> dict[object, object]:
        """The findings, each by a key of its reader's."""
        try:
            return self._kept
        except AttributeError:
            object.__setattr__(self, "_kept", {})
            return self._kept


@dataclass(frozen=True, slots=True)
class Column:
    """A stored column. `instance` counts the appearances of its table in one FROM clause, from 1;
    `outer` says that it belongs to the enclosing query."""

    ref: ColumnRef
    instance: int = 1
    outer: bool = False


@dataclass(frozen=True, slots=True)
class DerivedColumn:
    """Item `item` of derived table `table`, both counted from 1."""

    table: int
    item: int


@dataclass(frozen=True, slots=True)
class Star:
    """All columns of a table; inside COUNT, its rows. Without a table: the rows of a FROM clause
    that holds nothing but derived tables."""

    table: str | None


@dataclass(frozen=True, slots=True, eq=False)
class Literal:
    """A constant. 1 and 1.0 and '1' are different constants."""

    value: str | int | float

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Literal):
            return NotImplemented
        return type(self.value) is type(other.value) and self.value == other.value

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))

    def __str__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate function over a group's rows. `stddev` is that of a sample, `stddev_pop` that of
    a whole population."""

    function: AggregateName
    operand: Expression | Star
    distinct: bool = False
    at: int | None = None
    """Of a percentile: which one, from 0 to 100."""


@dataclass(frozen=True, slots=True)
class Window:
    """A function over the rows around one, which stay rows of their own.

    Ranks, the row before (`lag`) or after (`lead`), and aggregates: over all rows of the partition
    without an order, over those up to this one with an order.
    """

    function: WindowName
    operand: Expression | Star | None = None
    """The value taken or added up; the number of parts of `ntile`; None for ranks."""
    partition: tuple[Expression, ...] = ()
    order: tuple[OrderTerm, ...] = ()
    moving: int | None = None
    """Aggregates the last so many rows only, this one among them."""


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """A binary operation. `ratio` divides as real numbers, `percent` too and times 100."""

    operator: ArithmeticOperator
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Function:
    """A call of one of `symbols.FUNCTIONS`."""

    name: str
    arguments: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class Conditional:
    """`then` where the condition holds, else `otherwise`; NULL when there is no `otherwise`."""

    condition: Condition
    then: Expression
    otherwise: Expression | None = None


@dataclass(frozen=True, slots=True)
class Subquery:
    """A query of one item, used as a value."""

    query: Query


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two values compared."""

    operator: ComparisonOperator
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Between:
    """A value within two bounds, both included."""

    operand: Expression
    low: Expression
    high: Expression
    negated: bool = False


@dataclass(frozen=True, slots=True)
class InList:
    """A value among constants."""

    operand: Expression
    values: tuple[Literal, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class InQuery:
    """A value among the rows of a query of one item."""

    operand: Expression
    query: Query
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Like:
    """A text that contains, starts with, ends with a plain phrase, or matches a LIKE pattern."""

    kind: LikeKind
    operand: Expression
    phrase: Literal
    negated: bool = False


@dataclass(frozen=True, slots=True)
class IsNull:
    """A value that is missing."""

    operand: Expression
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Exists:
    """A test for a query to have any row."""

    query: Query
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Not:
    """Negation of any other condition."""

    operand: Condition


@dataclass(frozen=True, slots=True)
class And:
    """All operands hold; at least two, none of them an `And`."""

    operands: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Some operand holds; at least two, none of them an `Or`."""

    operands: tuple[Condition, ...]


Expression = (
    Column
    | DerivedColumn
    | Literal
    | Aggregate
    | Window
    | Arithmetic
    | Function
    | Conditional
    | Subquery
)
Condition = Comparison | Between | InList | InQuery | Like | IsNull | Exists | Not | And | Or


@dataclass(frozen=True, slots=True)
class Source:
    """A table in a FROM clause; `instance` tells several appearances apart."""

    table: str
    instance: int = 1


@dataclass(frozen=True, slots=True)
class Join:
    """An explicit equality between columns of two sources."""

    left: Column | DerivedColumn
    right: Column | DerivedColumn
    outer: bool = False
    """A LEFT JOIN: rows of the left side without a partner stay."""
    condition: Condition | None = None
    """Of a LEFT JOIN: what else a partner must fulfil."""


@dataclass(frozen=True, slots=True)
class OrderTerm:
    """One ORDER BY term."""

    expression: Expression
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Select(Kept):
    """One SELECT without its joins."""

    items: tuple[Expression | Star, ...]
    distinct: bool = False
    derived: tuple[Query, ...] = ()
    """Subqueries in FROM."""
    extra: tuple[Source, ...] = ()
    """Tables that no column mentions."""
    joins: tuple[Join, ...] = ()
    """Joins that the keys would not give; the keys connect what these leave apart."""
    crossed: tuple[Source, ...] = ()
    """Tables joined to the others without a condition."""
    where: Condition | None = None
    group_by: tuple[Expression, ...] = ()
    having: Condition | None = None
    keep: Comparison | None = None
    """A window and the constant that it is compared with: the rows that stay, such as the first
    three of each group. Everything before it is worked out first."""
    order_by: tuple[OrderTerm, ...] = ()
    limit: int | None = None
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class SetOperation(Kept):
    """Two queries combined; left-associative, so the right side is a plain SELECT."""

    operator: SetOperator
    left: Query
    right: Select


Query = Select | SetOperation
