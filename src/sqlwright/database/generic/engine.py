"""Any SQLAlchemy dialect inside a worker process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sqlwright.database.generic.connection import SqlalchemyConnection
from sqlwright.database.generic.failures import FAILURES, explain_failure

if TYPE_CHECKING:
    from sqlwright.database.failures import Failure


class _Sqlalchemy:
    """`workers.engine.Engine` for what SQLAlchemy reaches. An unknown driver may need threads,
    files and the network, so no right is given up but what limits and the kill take."""

    failures = FAILURES
    threads = 16
    idle_bytes = 2 * 1024 * 1024 * 1024
    addresses = 64 * 1024 * 1024 * 1024

    def start(self, folder: str) -> list[str]:
        """Nothing can be given up."""
        del folder
        return []

    def guarded(self, opening: Mapping[str, Any]) -> SqlalchemyConnection:
        return SqlalchemyConnection(opening)

    def trusted(self, opening: Mapping[str, Any]) -> SqlalchemyConnection:
        return SqlalchemyConnection(opening)

    def explain(self, error: BaseException) -> Failure:
        return explain_failure(error)

    def needs_copy(self, error: BaseException) -> bool:
        del error
        return False

    def set_memory(self, size: int) -> None:
        """Nothing: the process's own limits hold."""
        del size


ENGINE = _Sqlalchemy()
