"""MySQL and MariaDB inside a worker process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sqlwright.database.mysql.connection import GuardedConnection, TrustedConnection
from sqlwright.database.mysql.failures import FAILURES, explain_failure
from sqlwright.database.workers.confinement import lower

if TYPE_CHECKING:
    from sqlwright.database.failures import Failure


class _Mysql:
    """`workers.engine.Engine` for MySQL and MariaDB servers."""

    failures = FAILURES
    threads = False
    addresses = 256 * 1024 * 1024

    def start(self, folder: str) -> list[str]:
        """Give up writing files; the network is needed."""
        del folder
        limits = ("RLIMIT_FSIZE", "RLIMIT_CORE")
        held = [lower(name, 0, for_good=True) for name in limits]
        return ["limits"] if all(held) else []

    def guarded(self, opening: Mapping[str, Any]) -> GuardedConnection:
        return GuardedConnection(opening)

    def trusted(self, opening: Mapping[str, Any]) -> TrustedConnection:
        return TrustedConnection(opening)

    def explain(self, error: BaseException) -> Failure:
        return explain_failure(error)

    def needs_copy(self, error: BaseException) -> bool:
        del error
        return False

    def set_memory(self, size: int) -> None:
        """Nothing: the process's own limits hold what comes over; the server has limits of the
        session's."""
        del size


ENGINE = _Mysql()
