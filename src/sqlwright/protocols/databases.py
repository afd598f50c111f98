"""Databases that can't be written through, and reading them by SQL of sqlwright's own."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from sqlwright.schema import Schema
from sqlwright.types import Cell, ExecutionResult
from sqlwright.types.functions import OwnFunction
from sqlwright.types.plans import QueryCost

if TYPE_CHECKING:
    from sqlwright.protocols import Limits, Run


class RowReader(Protocol):
    """Reads a database by SQL that sqlwright itself wrote. One thread uses it, any may
    `interrupt` it."""

    def rows(self, sql: str, parameters: Sequence[Cell] = ()) -> Iterator[tuple[Cell, ...]]:
        """Rows one by one, as stored. Raises ReadFailed."""
        ...

    def interrupt(self) -> None:
        """Make the statement that is running fail. Callable from any thread."""
        ...


@runtime_checkable
class Database(Protocol):
    """A database that can't be written through. Implementations: `database.*`."""

    @property
    def dialect(self) -> str:
        """A name of `sql.dialects`."""
        ...

    @property
    def url(self) -> str:
        """Without secrets."""
        ...

    @property
    def identity(self) -> str:
        """Tells databases apart, whoever asks and however it was named; no secrets."""
        ...

    @property
    def path(self) -> Path | None:
        """The file or folder that holds it; None on a server."""
        ...

    @property
    def tables(self) -> tuple[str, ...] | None:
        """The only tables and views that may be read, by their stored names; None for all."""
        ...

    @property
    def functions(self) -> tuple[OwnFunction, ...]:
        """The functions of its own that queries may call."""
        ...

    def schema(self, *, seconds: float = ...) -> Schema:
        """Tables, views, columns and declared keys, read afresh. Raises DatabaseUnavailable, also
        when that takes longer than so many seconds."""
        ...

    def reader(self, *, seconds: float | None = None) -> AbstractContextManager[RowReader]:
        """Reads by SQL that sqlwright itself wrote, `seconds` for all of it. Raises
        DatabaseUnavailable."""
        ...

    def execute(self, sql: str, run: Run, *, limits: Limits | None = None) -> ExecutionResult:
        """Check, then run one query under limits. Every failure is in the result."""
        ...

    def check(self, sql: str) -> None:
        """Raise UnsafeQuery unless the text is one query that only reads, and only what may be
        read. `execute` does this first."""
        ...

    @property
    def estimates(self) -> bool:
        """True if `cost` tells how much a query reads."""
        ...

    def cost(self, sql: str, run: Run) -> QueryCost:
        """The engine's estimate of a query, nothing of which runs. Every failure is in it."""
        ...

    def fingerprint(self) -> str:
        """Changes when the stored data may have changed; cheap. Empty where that can't be told."""
        ...

    def noticed(self, tables: Collection[str]) -> tuple[str, ...]:
        """Notes for people on tables, by their names in any case: rows of a file that were left
        out, and the like. Empty where nothing is guessed."""
        ...

    def doubted(
        self, tables: Collection[str], columns: Collection[tuple[str, str]]
    ) -> tuple[str, ...]:
        """Reasons why whatever is read of tables, or of columns of theirs, may be wrong: rows of a
        file that are left out, cells that can't be understood. Names in any case."""
        ...

    def size(self) -> int | None:
        """About how many bytes are stored; None when it can't be told at once."""
        ...

    def close(self) -> None: ...
