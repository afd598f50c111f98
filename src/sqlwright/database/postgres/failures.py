"""Errors of PostgreSQL and of its driver, sorted by the server's codes and not by its messages,
which come in the server's language."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import psycopg

from sqlwright.database.failures import READ_FAILURES, Failure, Refused, read_failure

if TYPE_CHECKING:
    from sqlwright.types import ErrorCause

FAILURES = (psycopg.Error, UnicodeDecodeError, *READ_FAILURES)
"""Exceptions of running a query, besides Refused."""

_QUOTED = re.compile(r"[\"«„“](.+?)[\"»“”]")
_COLUMN = re.compile(r"\b([A-Za-z_]\w*\.)?([A-Za-z_]\w*) does not exist")
_FUNCTION = re.compile(r"^[^(]*?\b([A-Za-z_][\w.]*)\(")
_CAUSES: dict[str, ErrorCause] = {
    "42P01": "unknown_table",
    "3F000": "unknown_table",
    "42703": "unknown_column",
    "42883": "unknown_function",
    "42601": "syntax",
}
_KINDS = {"25006": "unsafe", "53200": "memory", "53100": "memory", "54000": "memory"}
_ASKED_BACK = re.compile(r" Is the server running [^?]*\?")
"""The question that the driver adds to a refused connection; the hint asks it, too."""
_LOST = "the connection to the server was lost"
_NOBODY = ("08", "57P")
"""Beginnings of codes: the connection, and the server going down or coming up."""
_CONFLICTS = {"40001", "40P01"}
"""A standby had to replay what the query kept from it, or two sessions waited for one another."""
_EACH = " All failures were: "
"""Words of the driver before what was met with each of several hosts."""
_AGAIN = {"57P01", "57P05", "25P03", *_CONFLICTS}


_CONNECTING: dict[ErrorCause, tuple[str, ...]] = {
    "crowded": (
        "too many clients", "too many connections", "remaining connection slots",
        "no more connections allowed",
    ),
    "not_encrypted": (
        "does not support SSL", "no encryption", "SSL off", "SSL connection is required",
        "certificate", "SSL error",
    ),
    "unknown_host": (
        "resolve host", "translate host name", "Name or service not known", "nodename nor servname",
    ),
    "refused": (
        "Connection refused", "No such file or directory", "No route to host", "unreachable",
    ),
    "starting": ("the database system is",),
    "no_database": ("FATAL:  database", "FATAL: database"),
    "not_admitted": (
        "authentication failed", "no password supplied", "pg_hba.conf", "role \"",
        "not permitted to log in",
    ),
    "slow": ("timeout expired", "timed out"),
    "bad_address": ("invalid integer value", "invalid port number", "bad value for",
                    "value: \""),
}  # fmt: skip
"""Parts of the messages of connecting, by the cause; the first one counts."""


class Sorted(psycopg.OperationalError):
    """An error that was sorted where it happened."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def is_lost(error: BaseException) -> bool:
    """True when the connection is gone, so that another one may do."""
    if not isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError)):
        return False
    if isinstance(error, Sorted):
        return False
    state = error.sqlstate
    return state is None or state.startswith(_NOBODY)


def may_run_again(error: BaseException) -> bool:
    """True when the server said that others are the reason: it ends the connection, or what they
    changed came in the way."""
    return isinstance(error, psycopg.Error) and error.sqlstate in _AGAIN


def explain_failure(error: BaseException) -> Failure:
    """The failure that an exception of a connection stands for."""
    if isinstance(error, Refused):
        return Failure("unsafe", str(error))
    if isinstance(error, Sorted):
        return error.failure
    if isinstance(error, UnicodeDecodeError):
        return Failure("sql", "a text of the result isn't valid UTF-8")
    if not isinstance(error, psycopg.Error):
        return read_failure(error)
    state = error.sqlstate
    if state is None:
        return _without_code(error)
    message = error.diag.message_primary or _one_line(error)
    if state == "42501":
        return Failure("sql", message, "forbidden")
    if state == "55P03":
        return Failure("unavailable", "a table is locked by another session", "locked")
    if state == "57014":
        return Failure("interrupted", "interrupted")
    if state in _CONFLICTS:
        return Failure("unavailable", f"stopped for others' changes: {message}", "conflict")
    if state.startswith(("XX", "58")):
        return Failure("unavailable", f"the server failed: {message}")
    if state.startswith(_NOBODY):
        return Failure("unavailable", f"{_LOST}: {message}", "lost")
    if state in _KINDS:
        return Failure(_KINDS[state], message)
    if state.startswith("53"):
        return Failure("unavailable", message, "crowded" if state == "53300" else "")
    cause = _CAUSES.get(state, "")
    return Failure("sql", message, cause, _missing(cause, message))


def connect_failure(error: BaseException) -> Failure:
    """The failure that an exception of connecting stands for. The driver tells all of them by the
    message alone; none of them holds the password."""
    if not isinstance(error, psycopg.Error):
        return read_failure(error)
    text = _ASKED_BACK.sub("", _one_line(error)).removeprefix("connection failed: ")
    text = text.partition(_EACH)[2] or text
    for cause, marks in _CONNECTING.items():
        if any(mark in text for mark in marks):
            if cause == "bad_address":  # what stands where a value belongs may be a password
                text = text.partition('"')[0].rstrip(" :")
            return Failure("unavailable", text, cause)
    return Failure("unavailable", text, "not_connected")


def _without_code(error: psycopg.Error) -> Failure:
    """An error that the driver found by itself: the server says nothing then."""
    text = _one_line(error)
    if "out of memory" in text or "allocate memory" in text:
        return Failure("memory", "the query needs more memory than it is allowed")
    if isinstance(error, psycopg.DataError | psycopg.ProgrammingError):
        return Failure("sql", text)
    return Failure("unavailable", f"{_LOST} ({text})" if text else _LOST, "lost")


def _missing(cause: ErrorCause, message: str) -> str:
    """The name that a message is about."""
    if cause == "unknown_function":
        found = _FUNCTION.search(message)
        return found[1] if found else ""
    if cause == "unknown_column":
        quoted = _QUOTED.search(message)
        plain = None if quoted else _COLUMN.search(message)
        return quoted[1] if quoted else "".join(filter(None, plain.groups())) if plain else ""
    return _name(message) if cause == "unknown_table" else ""


def _name(message: str) -> str:
    found = _QUOTED.search(message)
    return found[1] if found else ""


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())
