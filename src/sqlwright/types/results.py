"""The outcome of running one query: rows, or an error as data."""

from __future__ import annotations

import datetime
import decimal
import uuid
from dataclasses import dataclass, field
from typing import Literal

from sqlwright.schema import ColumnRef

WITHIN = 0.955
"""Similarity given to a value of which a phrase is the end or an inner part; chosen."""


@dataclass(frozen=True, slots=True)
class ValueMatch:
    """A stored value that resembles a phrase of the question."""

    phrase: str
    column: ColumnRef
    value: str
    """The exact stored spelling, usable as a literal."""
    score: float
    """Similarity in [0, 1]; 1 is equality after folding case and accents."""
    row_count: int | None = None
    """Rows that hold the value; None when not counted."""
    span: tuple[int, int] | None = None
    """Character range of the phrase in the question; None when it wasn't taken from there."""


Plain = None | int | float | str | bytes
"""One value as SQLite stores it."""
Cell = (
    Plain
    | bool
    | decimal.Decimal
    | datetime.date
    | datetime.datetime
    | datetime.time
    | datetime.timedelta
    | uuid.UUID
    | tuple[object, ...]
)
"""One value of a result, as the database gives it: an array is a tuple of such values (pydantic
can't check a type that names itself), a JSON document, a value of an enumeration and an interval of
months are texts."""

ErrorKind = Literal["sql", "unsafe", "timeout", "memory", "cancelled", "unavailable", "costly"]
ErrorCause = Literal[
    "", "unknown_table", "unknown_column", "unknown_function", "syntax",
    "locked", "damaged", "not_started", "slow", "forbidden", "refused", "unknown_host",
    "no_database", "not_admitted", "not_encrypted", "not_connected",
    "bad_address", "lost", "starting", "conflict", "crowded",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class ExecutionError:
    """The reason a query gave no rows to look at. Data, not an exception."""

    kind: ErrorKind
    message: str
    phase: Literal["prepare", "run"] = "run"
    """The time of the error: one from before the query ran can't quote a row, but may quote what
    the database defines, such as the text of a view."""
    cause: ErrorCause = ""
    """The fault of the query or the file, where it is known."""
    name: str = ""
    """The table, column or function that isn't there, as the query names it."""
    by_check: bool = field(default=False, repr=False, compare=False)
    """True if the check of the query's text says it, before the engine was given the query."""


@dataclass(frozen=True, slots=True)
class ExecutionResult:
    """Rows of one query, or its error."""

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    error: ExecutionError | None = None
    elapsed: float = 0.0
    """Seconds."""
    truncated: bool = False
    """True when a row or byte limit left out rows."""
    shortened: tuple[tuple[int, int], ...] = ()
    """Row and column, from 0, of each value that the limit of one cell cut."""

    @property
    def ok(self) -> bool:
        return self.error is None

    @property
    def cut(self) -> bool:
        """True when a limit left out rows or parts of values."""
        return self.truncated or bool(self.shortened)

    @property
    def whole(self) -> bool:
        """True when it is no error and nothing is cut: then it can be compared."""
        return self.ok and not self.cut

    @property
    def empty(self) -> bool:
        """True when there are no rows, or nothing but NULL in them."""
        return all(cell is None for row in self.rows for cell in row)
