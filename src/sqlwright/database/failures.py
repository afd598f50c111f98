"""Sorts the errors that a connection raises; nothing else reads the engine's messages.

Everybody else goes by the kind and the cause. A message is for people and models to read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import apsw

if TYPE_CHECKING:
    from sqlwright.types import ErrorCause

NO_TABLE = "no such table: "
_NO_COLUMN = "no such column: "
_BROKEN = ("incomplete input", "unrecognized token")


class Refused(Exception):
    """The guarded connection refused a statement."""


@dataclass(frozen=True, slots=True)
class Failure:
    """The reason why a statement gave nothing, as far as the engine tells. Crosses to other
    processes."""

    kind: str
    """An ExecutionError's kind, or "interrupted": the caller knows whether it was time or a
    person."""
    message: str
    cause: ErrorCause = ""
    name: str = ""
    """The table or column that isn't there, as the query names it."""


class ReadFailed(Exception):
    """A statement failed in another process, which sorted it."""

    def __init__(self, failure: Failure, *, copy: bool = False) -> None:
        super().__init__(failure.message)
        self.failure = failure
        self.copy = copy


FAILURES = (apsw.Error, MemoryError, UnicodeEncodeError, OverflowError, ReadFailed)
"""Exceptions of running a query, besides Refused."""


def explain_failure(error: BaseException) -> Failure:
    """The failure that an exception of a connection stands for."""
    if isinstance(error, ReadFailed):
        return error.failure
    if isinstance(error, Refused):
        return Failure("unsafe", str(error))
    if isinstance(error, apsw.InterruptError):
        return Failure("interrupted", "interrupted")
    if isinstance(error, (MemoryError, apsw.NoMemError)):
        return Failure("memory", "the query needs more memory than it is allowed")
    if isinstance(error, apsw.TooBigError):
        return Failure("memory", "the query makes a text or blob larger than is allowed")
    if isinstance(error, (apsw.BusyError, apsw.LockedError)):
        return Failure("unavailable", "the database is locked by another program", "locked")
    if isinstance(error, (apsw.CorruptError, apsw.NotADBError, apsw.FormatError)):
        message = f"the database file is damaged or encrypted ({error})"
        return Failure("unavailable", message, "damaged")
    if isinstance(error, (apsw.CantOpenError, apsw.IOError, apsw.ReadOnlyError)):
        return Failure("unavailable", f"the database can't be read ({error})")
    if isinstance(error, UnicodeEncodeError):
        return Failure("sql", "the SQL text is not valid Unicode", "syntax")
    return Failure("sql", str(error), *_of_query(str(error)))


def needs_copy(error: BaseException) -> bool:
    """True when SQLite would have to write to read the file (a journal was left by a crash), or
    can't make sense of a log's index."""
    if isinstance(error, ReadFailed):
        return error.copy
    return isinstance(error, (apsw.ReadOnlyError, apsw.CantOpenError, apsw.ProtocolError))


def _of_query(message: str) -> tuple[ErrorCause, str]:
    """The kind of a query's error, and the name it is about: SQLite has one code for all of it."""
    if message.startswith(NO_TABLE):
        return "unknown_table", message.removeprefix(NO_TABLE)
    if message.startswith(_NO_COLUMN):
        return "unknown_column", message.removeprefix(_NO_COLUMN)
    if message.endswith("syntax error") or message.startswith(_BROKEN):
        return "syntax", ""
    return "", ""
