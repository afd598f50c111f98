"""MySQL and MariaDB inside a worker process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sqlwright.database.mysql.connection import GuardedConnection, TrustedConnection
from sqlwright.database.mysql.failures import FAILURES, explain_failure
from sqlwright.database.workers.confinement import confine_client

if TYPE_CHECKING:
    from sqlwright.database.failures import Failure


class _Mysql:
    """`workers.engine.Engine` for MySQL and MariaDB servers."""

    failures = FAILURES
    threads = False
    idle_bytes = 96 * 1024 * 1024
    addresses = 256 * 1024 * 1024

    def __init__(self) -> None:
        self._seconds = 0.0

    def start(self, folder: str) -> list[str]:
        """Give up everything but the network and reading of files."""
        del folder
        return confine_client()

    def guarded(self, opening: Mapping[str, Any]) -> GuardedConnection:
        return GuardedConnection(opening, lambda: self._seconds)

    def trusted(self, opening: Mapping[str, Any]) -> TrustedConnection:
        return TrustedConnection(opening, lambda: self._seconds)

    def explain(self, error: BaseException) -> Failure:
        return explain_failure(error)

    def needs_copy(self, error: BaseException) -> bool:
        del error
        return False

    def set_memory(self, size: int) -> None:
        """Nothing: the process's own limits hold what comes over; the server has limits of the
        session's."""
        del size

    def set_seconds(self, seconds: float) -> None:
        """Tell the time that the next statement may take."""
        self._seconds = seconds


ENGINE = _Mysql()
