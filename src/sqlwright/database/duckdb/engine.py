"""DuckDB inside a worker process."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sqlwright.database.duckdb.connection import (
    Fill,
    GuardedConnection,
    Machine,
    TrustedConnection,
)
from sqlwright.database.duckdb.failures import FAILURES, explain_failure
from sqlwright.database.workers.confinement import confine

if TYPE_CHECKING:
    from sqlwright.database.failures import Failure

MOST_THREADS = 4
"""Threads of one worker at most; a database may have four workers."""
_CGROUP = ("/proc/self/cgroup", "/sys/fs/cgroup")
"""DuckDB asks them how many processors it may use, and ends the process where they are there and
can't be opened."""


class DuckdbEngine:
    """`workers.engine.Engine` for DuckDB files, and for other files that DuckDB reads."""

    failures = FAILURES
    addresses = 1024 * 1024 * 1024
    idle_bytes = 256 * 1024 * 1024

    def __init__(self, fill: Fill | None = None) -> None:
        """`fill` makes tables in a connection's memory before it is locked."""
        self._fill = fill
        self._machine: Machine | None = None
        self.threads = min(_processors(), MOST_THREADS)

    def start(self, folder: str) -> list[str]:
        """Load the library and give up everything but reading below the folder."""
        self._machine = Machine(self.threads, self._fill)
        return confine(folder, also=_CGROUP)

    def guarded(self, opening: Mapping[str, Any]) -> GuardedConnection:
        assert self._machine is not None
        return GuardedConnection(opening, self._machine)

    def trusted(self, opening: Mapping[str, Any]) -> TrustedConnection:
        assert self._machine is not None
        return TrustedConnection(opening, self._machine)

    def explain(self, error: BaseException) -> Failure:
        return explain_failure(error)

    def needs_copy(self, error: BaseException) -> bool:
        del error  # a file is read where it is
        return False

    def set_memory(self, size: int) -> None:
        """Cap the buffers of the next connection, in bytes."""
        assert self._machine is not None
        self._machine.set_memory(size)


def _processors() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


ENGINE = DuckdbEngine()
