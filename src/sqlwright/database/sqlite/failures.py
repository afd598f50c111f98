"""Sorts the errors that SQLite's binding raises; nothing else reads its messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw

from sqlwright.database.failures import READ_FAILURES, Failure, ReadFailed, Refused, read_failure

if TYPE_CHECKING:
    from sqlwright.types import ErrorCause

NO_TABLE = "no such table: "
_NO_COLUMN = "no such column: "
_BROKEN = ("incomplete input", "unrecognized token")


FAILURES = (apsw.Error, *READ_FAILURES)
"""Exceptions of running a query, besides Refused."""


def explain_failure(error: BaseException) -> Failure:
    """The failure that an exception of a connection stands for."""
    if isinstance(error, Refused):
        return Failure("unsafe", str(error))
    if isinstance(error, apsw.InterruptError):
        return Failure("interrupted", "interrupted")
    if isinstance(error, apsw.NoMemError):
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
    if isinstance(error, apsw.Error):
        return Failure("sql", str(error), *_of_query(str(error)))
    return read_failure(error)


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
