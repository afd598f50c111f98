"""Any SQLAlchemy dialect inside a worker process."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sqlalchemy.exc import DisconnectionError, OperationalError, SQLAlchemyError

from sqlwright.database.failures import READ_FAILURES, Failure, Refused, read_failure
from sqlwright.database.generic.connection import SqlalchemyConnection

_THING = r"(?:table|view|relation|object|column|identifier|expression identifier|field)"
_MISSING = re.compile(
    rf"(?:unknown|invalid|no such|missing|unrecognized|undefined) (?:\w+ )?{_THING}"
    rf"|{_THING} (?:name )?[^ ;]* *(?:does ?n[o']t exist|cannot be (?:resolved|found)|not found)"
    r"|ORA-00942|ORA-00904",
    re.IGNORECASE,
)
_COLUMN = re.compile(r"column|identifier|field|ORA-00904", re.IGNORECASE)
_QUOTED = re.compile(r"[\"'`\[]([^\"'`\]]+)[\"'`\]]")
FAILURES = (Exception,)
"""Exceptions of running a query: a driver that nothing is known of may raise anything, and this is
the end of a process."""
LONGEST_MESSAGE = 500
"""Characters of a driver's message that are told."""


def explain_failure(error: BaseException) -> Failure:
    """The failure that an exception of a connection stands for."""
    if isinstance(error, Refused):
        return Failure("unsafe", str(error))
    if isinstance(error, SQLAlchemyError):
        lost = getattr(error, "connection_invalidated", False)
        message = _in_a_line(str(getattr(error, "orig", None) or error))[:LONGEST_MESSAGE]
        if lost or isinstance(error, DisconnectionError):
            return Failure("unavailable", f"the connection was lost ({message})")
        known = isinstance(error, OperationalError) and getattr(error, "statement", None) is None
        return Failure("unavailable", message) if known else _of_query(message)
    if isinstance(error, READ_FAILURES):
        return read_failure(error)
    message = _in_a_line(f"{type(error).__name__}: {error}")[:LONGEST_MESSAGE]
    return Failure("unavailable", f"the driver failed ({message})")


def _of_query(message: str) -> Failure:
    """A query's failure. Whether a name is missing is read from the words that most engines have
    for it; one that has others gets no advice."""
    found = _MISSING.search(message)
    if found is None:
        return Failure("sql", message)
    column = _COLUMN.search(found[0]) and "table" not in found[0].lower()
    quoted = _QUOTED.search(message, found.start()) or _QUOTED.search(message)
    name = quoted[1] if quoted else ""
    return Failure("sql", message, "unknown_column" if column else "unknown_table", name)


def _in_a_line(message: str) -> str:
    """A driver's message without the place in the query that some point at below it."""
    told = message.partition("\nLINE ")[0]
    return "; ".join(line.strip() for line in told.splitlines() if line.strip())


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
