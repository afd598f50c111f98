"""One step of a plan: what the engine does, as facts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sqlwright.sql.plans.values import Value

StepKind = Literal[
    "open", "scan", "search", "look_up", "keep", "match", "while", "once", "unmatched", "fill",
    "count",
    "together", "aggregate", "sort", "limit", "offset", "distinct", "merge", "deliver", "jump",
    "result", "other",
]  # fmt: skip


@dataclass(frozen=True)
class PlanStep:
    """A step of a plan. Each kind uses some of the fields; `words` says it."""

    kind: StepKind
    address: int
    """Of the instruction that it is read from."""
    part: str = ""
    """The subquery it belongs to; empty for the query itself."""
    table: str = ""
    """As the steps call it: a table opened again has a number."""
    stored: str = ""
    """The table's own name, where one is opened."""
    by: tuple[str, ...] = ()
    """Columns of the index that is used; empty for the table itself."""
    backwards: bool = False
    values: tuple[Value, ...] = ()
    """Values that are compared, computed, sorted by or given."""
    descending: tuple[bool, ...] = ()
    """For each value that rows are sorted by."""
    text: str = ""
    """Rest of what is said, such as the name of a set operation."""
    only: Value | None = None
    """The condition under which a row counts for an aggregate."""
