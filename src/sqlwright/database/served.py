"""The part that databases on servers share beside what all engines do."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from sqlwright.database.address import Address
from sqlwright.database.failures import ReadFailed
from sqlwright.database.guarded import GuardedDatabase
from sqlwright.database.reader import DatabaseReader
from sqlwright.database.workers.pool import Pool

T = TypeVar("T")

OPEN_SECONDS = 15.0
"""The time that connecting to a server may take."""


class ServedDatabase(GuardedDatabase):
    """A database on a server, known by its address."""

    def __init__(self, address: Address, pool: Pool | None = None) -> None:
        self._address = address
        super().__init__(pool)

    @property
    def url(self) -> str:
        return self._address.url

    @property
    def identity(self) -> str:
        return self._address.identity

    def _read(self, read: Callable[[DatabaseReader], T], seconds: float = OPEN_SECONDS) -> T:
        """The value of `read`, read once more where the connection was lost meanwhile. Raises
        DatabaseUnavailable."""
        with self._reading_errors():
            try:
                with self.reader(seconds=seconds) as reader:
                    return read(reader)
            except ReadFailed as error:
                if error.failure.cause != "lost":
                    raise
            with self.reader(seconds=seconds) as reader:
                return read(reader)
