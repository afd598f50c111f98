"""An engine's estimate of what a query reads, and the limit on it."""

from __future__ import annotations

from dataclasses import dataclass

from sqlwright.boundary.text import byte_count, row_count
from sqlwright.types.results import ExecutionError


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
