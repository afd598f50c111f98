"""An engine's plan for a query, as the engine tells it."""

from __future__ import annotations

from dataclasses import dataclass

from sqlwright.presentation.costs import byte_count, row_count
from sqlwright.types.results import ExecutionError


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction of SQLite's virtual machine, as EXPLAIN lists it."""

    address: int
    opcode: str
    p1: int
    p2: int
    p3: int
    p4: str
    p5: int


@dataclass(frozen=True, slots=True)
class StoredOrder:
    """A table's rows or an index of it, by the page where it begins."""

    root: int
    table: str
    index: str
    """Empty for the table itself."""
    columns: tuple[str, ...]
    """In the order in which a row holds them; empty names for expressions of an index."""
    rowid: str = "rowid"
    """Name of the column that is the row's number; empty for a table without such numbers."""


@dataclass(frozen=True, slots=True)
class PlanNode:
    """One line of EXPLAIN QUERY PLAN."""

    number: int
    parent: int
    detail: str


@dataclass(frozen=True, slots=True)
class EnginePlan:
    """A query compiled, and nothing of it run."""

    instructions: tuple[Instruction, ...] = ()
    outline: tuple[PlanNode, ...] = ()
    stored: tuple[StoredOrder, ...] = ()
    """Everything in the database that the query may read."""
    error: ExecutionError | None = None
    """The query doesn't compile, or may not run; the rest is empty then."""


@dataclass(frozen=True, slots=True)
class QueryCost:
    """An engine's estimate of what a query takes. Nothing of the query runs."""

    rows: float | None = None
    """Rows of the answer."""
    scanned_rows: float | None = None
    """Rows that are read for it."""
    scanned_bytes: float | None = None
    """Bytes that are read for it, where the engine says, or about."""
    units: float | None = None
    """The engine's own cost."""
    outline: tuple[str, ...] = ()
    """The engine's plan, a line a step, indented."""
    error: ExecutionError | None = None
    """The query doesn't compile, or may not run; the rest is empty then."""

    @property
    def told(self) -> bool:
        """True if the engine says how much is read."""
        return self.scanned_rows is not None or self.scanned_bytes is not None


@dataclass(frozen=True, slots=True)
class ScanLimit:
    """The most that one query may read, by the engine's estimate."""

    rows: float | None = None
    bytes: float | None = None

    def excess(self, cost: QueryCost) -> str:
        """The reason why a query of this cost may not run; empty if it may. What the engine doesn't
        tell is no less than the limit."""
        limits = (
            (self.rows, cost.scanned_rows, row_count),
            (self.bytes, cost.scanned_bytes, byte_count),
        )
        for most, read, words in limits:
            if most is not None and read is None:
                return (
                    f"the database doesn't tell how much a query reads, which may be {words(most)} "
                    "at most"
                )
            if most is not None and read is not None and read > most:
                return f"it would read about {words(read)}, and {words(most)} at most are allowed"
        return ""
