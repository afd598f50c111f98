"""PostgreSQL inside a worker process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sqlwright.database.postgres.connection import GuardedConnection, TrustedConnection
from sqlwright.database.postgres.failures import FAILURES, explain_failure
from sqlwright.database.postgres.session import Clock, Session
from sqlwright.database.workers.confinement import confine_client

if TYPE_CHECKING:
    from sqlwright.database.failures import Failure


class _Postgres:
    """`workers.engine.Engine` for PostgreSQL servers."""

    failures = FAILURES
    threads = 0
    addresses = 512 * 1024 * 1024
    idle_bytes = 128 * 1024 * 1024

    def __init__(self) -> None:
        self._clock = Clock()
        self._session: Session | None = None

    def start(self, folder: str) -> list[str]:
        """Give up everything but the network and reading of files."""
        del folder
        return confine_client()

    def guarded(self, opening: Mapping[str, Any]) -> GuardedConnection:
        return GuardedConnection(self._open(opening))

    def trusted(self, opening: Mapping[str, Any]) -> TrustedConnection:
        return TrustedConnection(self._open(opening))

    def explain(self, error: BaseException) -> Failure:
        return explain_failure(error)

    def needs_copy(self, error: BaseException) -> bool:
        """A server's rows can't be copied."""
        del error
        return False

    def set_memory(self, size: int) -> None:
        """Nothing: the system holds this process to its limit, and the rows come in chunks."""

    def set_seconds(self, seconds: float) -> None:
        """Tell the time that the next statement may take, so that the server stops it, too."""
        self._clock.set_seconds(seconds)

    def _open(self, opening: Mapping[str, Any]) -> Session:
        """The one session of this process: a server has few to give, and opening takes long."""
        if self._session is not None:
            if self._session.opening == opening:
                return self._session
            self._session.close()
        self._session = Session(opening, self._clock)
        return self._session


ENGINE = _Postgres()
