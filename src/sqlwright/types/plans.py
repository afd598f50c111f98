"""An engine's plan for a query, as the engine tells it."""

from __future__ import annotations

from dataclasses import dataclass

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
