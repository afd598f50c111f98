"""DuckDB inside a worker process."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import duckdb

from sqlwright.boundary.processors import processors
from sqlwright.database.duckdb.connection import (
    Fill,
    GuardedConnection,
    Machine,
    TrustedConnection,
)
from sqlwright.database.failures import READ_FAILURES, Failure, Refused, read_failure
from sqlwright.database.workers.confinement import confine

if TYPE_CHECKING:
    from sqlwright.types import ErrorCause

FAILURES = (duckdb.Error, RuntimeError, *READ_FAILURES)
"""Exceptions of running a query, besides Refused. The binding turns some of the library's own
exceptions into RuntimeError."""
_NAMES: tuple[tuple[ErrorCause, re.Pattern[str]], ...] = (
    ("unknown_table", re.compile(r"^Table with name (.+?) does not exist")),
    ("unknown_table", re.compile(r'^Referenced table "(.+?)" not found')),
    ("unknown_function", re.compile(r"Function with name (.+?) does not exist")),
    ("unknown_column", re.compile(r'^Referenced column "(.+?)" (?:was )?not found')),
    ("unknown_column", re.compile(r'does not have a column named "(.+?)"')),
    ("unknown_column", re.compile(r'column "(.+?)" does not exist', re.IGNORECASE)),
)
_LOCKED = re.compile(r"could not set lock on file|conflicting lock", re.IGNORECASE)
_KIND = re.compile(r"^[A-Za-z ]+ Error: ")
_DAMAGED = (
    duckdb.SerializationException,
    duckdb.InternalException,
    duckdb.FatalException,
    duckdb.IOException,
)
_ENCRYPTED = re.compile(r"encrypt|decrypt", re.IGNORECASE)
_NEWER = re.compile(r"version number|newer version|storage version", re.IGNORECASE)
_UNREADABLE = re.compile(r"not a valid DuckDB database file|corrupt|checksum", re.IGNORECASE)


def explain_failure(error: BaseException) -> Failure:
    """The failure that an exception of a connection stands for."""
    if isinstance(error, Refused):
        return Failure("unsafe", str(error))
    if isinstance(error, duckdb.InterruptException):
        return Failure("interrupted", "interrupted")
    if isinstance(error, (duckdb.OutOfMemoryException, MemoryError)) or _is_allocation(error):
        return Failure("memory", "the query needs more memory than it is allowed")
    if isinstance(error, duckdb.PermissionException):
        return Failure("unsafe", _shown(error))
    if isinstance(error, _DAMAGED) or type(error) is duckdb.Error:
        return _of_file(error)
    if isinstance(error, duckdb.Error):
        return _of_query(error)
    if isinstance(error, RuntimeError):
        return Failure("sql", _shown(error))
    return read_failure(error)


def _is_allocation(error: BaseException) -> bool:
    return isinstance(error, (duckdb.Error, RuntimeError)) and "bad_alloc" in str(error)


def _of_file(error: BaseException) -> Failure:
    text = str(error)
    if _LOCKED.search(text):
        return Failure("unavailable", "the database is open for writing elsewhere", "locked")
    if _NEWER.search(text):
        return Failure("unavailable", "a newer DuckDB wrote it than is installed here", "damaged")
    if _ENCRYPTED.search(text):
        return Failure("unavailable", "the database file is encrypted", "damaged")
    if isinstance(error, duckdb.IOException) and not _UNREADABLE.search(text):
        return Failure("unavailable", f"it can't be read ({_shown(error)})")
    return Failure("unavailable", f"the file is damaged ({_shown(error)})", "damaged")


def _of_query(error: duckdb.Error) -> Failure:
    message = _shown(error)
    if isinstance(error, (duckdb.ParserException, duckdb.SyntaxException)):
        return Failure("sql", message, "syntax")
    for cause, pattern in _NAMES:
        if found := pattern.search(message):
            return Failure("sql", message, cause, found[1])
    return Failure("sql", message)


def _shown(error: BaseException) -> str:
    """The message without its kind, the query and guesses: guesses may name what is hidden."""
    lines = str(error).split("\n\n")[0].splitlines() or [""]
    kept = [lines[0], *(line for line in lines[1:] if line.startswith("Candidate bindings"))]
    return _KIND.sub("", " ".join(kept)).strip()


MOST_THREADS = 4
"""Threads of one worker at most; a database may have four workers."""
_CGROUP = ("/proc/self/cgroup", "/sys/fs/cgroup")
"""DuckDB asks them how many processors it may use, and ends the process where they are there and
can't be opened."""


class DuckdbEngine:
    """`workers.engine.Engine` for DuckDB files, and for other files that DuckDB reads."""

    failures = FAILURES
    addresses = 1024 * 1024 * 1024
    idle_bytes = 256 * 1024 * 1024

    def __init__(self, fill: Fill | None = None) -> None:
        """`fill` makes tables in a connection's memory before it is locked."""
        self._fill = fill
        self._machine: Machine | None = None
        self.threads = min(processors(), MOST_THREADS)

    def start(self, folder: str) -> list[str]:
        """Load the library and give up everything but reading below the folder."""
        self._machine = Machine(self.threads, self._fill)
        return confine(folder, also=_CGROUP)

    def guarded(self, opening: Mapping[str, Any]) -> GuardedConnection:
        assert self._machine is not None
        return GuardedConnection(opening, self._machine)

    def trusted(self, opening: Mapping[str, Any]) -> TrustedConnection:
        assert self._machine is not None
        return TrustedConnection(opening, self._machine)

    def explain(self, error: BaseException) -> Failure:
        return explain_failure(error)

    def needs_copy(self, error: BaseException) -> bool:
        del error  # a file is read where it is
        return False

    def set_memory(self, size: int) -> None:
        """Cap the buffers of the next connection, in bytes."""
        assert self._machine is not None
        self._machine.set_memory(size)


ENGINE = DuckdbEngine()
