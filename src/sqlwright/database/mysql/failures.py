"""Sorts the errors that PyMySQL raises by the server's numbers; nothing else reads its messages."""

from __future__ import annotations

import errno
import re
import socket
import ssl
from typing import TYPE_CHECKING

import pymysql

from sqlwright.database.failures import READ_FAILURES, Failure, Refused, read_failure

if TYPE_CHECKING:
    from sqlwright.types import ErrorCause

FAILURES = (pymysql.MySQLError, UnicodeDecodeError, *READ_FAILURES)
"""Exceptions of running a query, besides Refused."""
LOST = frozenset({0, 2006, 2013, 2055, 1053, 1927, 1152, 1158, 1159, 1160, 1161, 4031})
"""The connection is gone; 0 is PyMySQL's for one that it has closed."""
INTERRUPTED = 1317
"""The server's number of the error of a statement that was stopped."""
_CAUSES: dict[int, ErrorCause] = {
    1146: "unknown_table", 1109: "unknown_table", 1051: "unknown_table", 1142: "unknown_table",
    1049: "unknown_table", 1044: "unknown_table",
    1054: "unknown_column", 1143: "unknown_column",
    1305: "unknown_function", 1128: "unknown_function", 1630: "unknown_function",
    1370: "unknown_function",
    1064: "syntax", 1149: "syntax",
}  # fmt: skip
"""A table, column or function that the login may not use is as good as none."""
_TIMES_OUT = {3024, 1969, 1907}
_LOCKED = {1205, 1213, 1637, 3572}
_UNAVAILABLE: dict[int, ErrorCause] = {
    **dict.fromkeys((1045, 1129, 1130, 1698, 1820, 1862, 2059, 3118, 4151), "not_admitted"),
    **dict.fromkeys((1040, 1203, 1226), "crowded"),
    **dict.fromkeys((1042, 1043, 2002, 2003), "not_connected"),
    **dict.fromkeys((2026, 3159), "not_encrypted"),
}
"""Errors of connecting, by number; `_CONNECTING` tells more of the client's own."""
_CONNECTING: dict[type[BaseException], ErrorCause] = {
    ssl.SSLError: "not_encrypted", socket.gaierror: "unknown_host", TimeoutError: "slow",
    ConnectionRefusedError: "refused", FileNotFoundError: "refused", ConnectionError: "lost",
}  # fmt: skip
_UNREACHABLE = {errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EHOSTDOWN}
_MEMORY = {5, 1037, 1038, 1041, 1114, 1135, 1436, 3015}
_UNSAFE = {1148, 1223, 1227, 1290, 1792, 1836, 4166}
_NAME = re.compile(r"[`']([^`']*)[`']")
_ROUTINE = re.compile(r"FUNCTION (?:\S+\.)?(\S+) ", re.IGNORECASE)


def explain_failure(error: BaseException) -> Failure:
    """The failure that an exception of a connection stands for."""
    if isinstance(error, Refused):
        return Failure("unsafe", str(error))
    if isinstance(error, UnicodeDecodeError):
        return Failure("unavailable", "the server sent text that isn't UTF-8", "damaged")
    if isinstance(error, pymysql.MySQLError):
        number = error_number(error)
        if number in _UNAVAILABLE:
            return Failure(
                "unavailable", _message(error), _connecting(error) or _UNAVAILABLE[number]
            )
        return _sorted(number, _message(error))
    return read_failure(error)


def error_number(error: BaseException) -> int:
    """The server's or the client's number of an error; 0 where there is none."""
    number = error.args[0] if error.args else 0
    return number if isinstance(number, int) else 0


def _message(error: BaseException) -> str:
    return str(error.args[-1]) if error.args else ""


def _connecting(error: BaseException) -> ErrorCause:
    """The cause of an error of the system's that kept the client from connecting."""
    met = getattr(error, "original_exception", None)
    if isinstance(met, OSError) and met.errno in _UNREACHABLE:
        return "refused"
    return next((cause for kind, cause in _CONNECTING.items() if isinstance(met, kind)), "")


def _sorted(number: int, message: str) -> Failure:
    if number == INTERRUPTED:
        return Failure("unavailable", "the query was stopped on the server")
    if number in _TIMES_OUT:
        return Failure("timeout", "stopped by the server, at the time that a query may take")
    if number in _LOCKED:
        return Failure("unavailable", "what it reads is locked by another program", "locked")
    if number in LOST:
        return Failure("unavailable", "the connection to the server was lost", "lost")
    if number in _MEMORY or (number == 1290 and "mem-used" in message):
        return Failure("memory", f"the query needs more memory than it is allowed ({message})")
    if number in _UNSAFE:
        return Failure("unsafe", message)
    cause = _CAUSES.get(number, "")
    return Failure("sql", message, cause, _named(number, message) if cause else "")


def _named(number: int, message: str) -> str:
    """The table, column or function that a message is about, as far as it tells."""
    if number == 1305 and (found := _ROUTINE.search(message)):
        return found[1].strip("`'")
    names = _NAME.findall(message)
    if not names:
        return ""
    if number == 1142:
        return str(names[-1])
    if number == 1370:  # ... command denied to user 'a'@'b' for routine 'c.d'
        return str(names[-1]).rpartition(".")[2]
    if number == 1143:  # ... command denied to user 'a'@'b' for column 'c' in table 'd'
        return str(names[-2])
    if number in {1146, 1109, 1051}:
        return str(names[0]).rpartition(".")[2]
    return str(names[0]) if _CAUSES[number] != "syntax" else ""
