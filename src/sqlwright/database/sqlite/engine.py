"""SQLite inside a worker process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sqlwright.database.sqlite.connection import (
    GuardedConnection,
    TrustedConnection,
    set_memory,
    warm_up,
)
from sqlwright.database.sqlite.failures import FAILURES, explain_failure, needs_copy
from sqlwright.database.workers.confinement import confine

if TYPE_CHECKING:
    from sqlwright.database.failures import Failure


class _Sqlite:
    """`workers.engine.Engine` for SQLite files."""

    failures = FAILURES
    threads = 0
    addresses = 256 * 1024 * 1024
    idle_bytes = 96 * 1024 * 1024

    def start(self, folder: str) -> list[str]:
        """Load the binding and give up everything but reading below the folder."""
        warm_up()
        return confine(folder)

    def guarded(self, opening: Mapping[str, Any]) -> GuardedConnection:
        """An immutable file is never looked at again by SQLite, so `opening` holds the file's
        token, too: the connection lasts as long as the file stays the same."""
        return GuardedConnection(opening["uri"], opening["tables"])

    def trusted(self, opening: Mapping[str, Any]) -> TrustedConnection:
        return TrustedConnection(opening["uri"])

    def explain(self, error: BaseException) -> Failure:
        return explain_failure(error)

    def needs_copy(self, error: BaseException) -> bool:
        return needs_copy(error)

    def set_memory(self, size: int) -> None:
        """Cap the engine's heap, in bytes."""
        set_memory(size)


ENGINE = _Sqlite()
