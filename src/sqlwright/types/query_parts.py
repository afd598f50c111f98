"""The parts of a query in words, and the conditions in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sqlwright.schema import ColumnRef
from sqlwright.types.values import ValueMatch


@dataclass(frozen=True, slots=True)
class QueryCondition:
    """A condition of a query on a column or an expression, negations resolved."""

    subject: str
    """A column by its stored names, or an expression as SQL; empty for EXISTS."""
    operator: str
    """`=`, `!=`, `<`, `between`, `in`, `contains`, `is null`, `there is no row in` and the like;
    empty where the subject is the condition."""
    operands: tuple[str, ...] = ()
    """The other sides of the comparison, as SQL: quoted literals, columns, expressions."""
    columns: tuple[ColumnRef, ...] = ()
    """The stored columns in it, those of queries within it excepted."""
    matches: tuple[ValueMatch, ...] = ()
    """The phrases of the question that its literals stand for."""

    @property
    def object(self) -> str:
        """The operands as one text; empty when there are none."""
        if self.operator.endswith("between"):
            return " and ".join(self.operands)
        joined = ", ".join(self.operands)
        return f"({joined})" if self.operator in {"in", "not in"} else joined


@dataclass(frozen=True, slots=True)
class QueryPart:
    """One thing that a query says, in words."""

    kind: Literal["query", "join", "where", "having", "case", "shown", "order", "other"]
    """`join`, `where`, `having` and `case` (within an expression) are conditions by their clause;
    `query` introduces a subquery; `shown` has computed items and their grouping; `other` is SQL
    without words."""
    text: str
    """All of it in one line."""
    depth: int = 0
    """Number of subqueries and alternatives around it: it belongs to the last part before it of a
    lower depth."""
    condition: QueryCondition | None = None
    lead: str = ""
    """`either` or `or` before an alternative, as in the text."""
