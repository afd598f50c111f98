"""The process that runs generated SQL, and may be killed at any moment.

Started by `pool.py` as `python -I -S -c ...` with three pipes: requests on standard input, replies
on standard output, and a control pipe. A query's number on the control pipe interrupts it; its
end means the caller is gone, and the process ends at once, whatever SQLite is doing (the binding
lets other threads run while SQLite works). Imports are few, because a killed worker's replacement
should be ready before the next query.
"""

from __future__ import annotations

import contextlib
import os
import select
import sys
import threading
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sqlwright.database.connection import (
    GuardedConnection,
    TrustedConnection,
    set_memory,
    warm_up,
)
from sqlwright.database.failures import FAILURES, Refused, explain_failure, needs_copy
from sqlwright.database.workers.confinement import confine, lower, no_more_threads
from sqlwright.database.workers.wire import LENGTH, RECEIVED, pack_reply, unpack_request

if TYPE_CHECKING:
    from sqlwright.database.workers.wire import Row

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]

_PATIENCE_SECONDS = 0.5
"""A connection to a file with a write-ahead log keeps a shared lock while it is open; other
programs may need it gone to remove the log or change the journal's mode."""
_CODE_BYTES = 16 * 1024 * 1024
"""Memory that holds programs and libraries, not data."""
_UNTOUCHED_BYTES = 256 * 1024 * 1024
"""Addresses that are set aside and never used."""
_LEAST_MEMORY = 64 * 1024 * 1024
"""Bytes without which the process can't work."""
_LARGE = 96 * 1024 * 1024
"""A process that holds more than this after a query is ended; it would keep most of it."""
_LARGEST_MEMORY = 2**62
"""Bytes; the system's calls take no larger number."""


def main(control: int, folder: str) -> None:
    """Serve requests about a file in a folder until standard input ends."""
    warm_up()
    memory = _Memory()
    holds = confine(folder)
    worker = _Worker()
    threading.Thread(target=worker.obey, args=(control,), daemon=True).start()
    no_more_threads()
    _write(pack_reply({"holds": holds}, ()))
    while True:
        worker.rest()
        body = _read_frame()
        if body is None:
            os._exit(0)
        _write(RECEIVED)
        head, rows = worker.answer(unpack_request(body))
        _write(_packed(head | {"large": memory.taken() > _LARGE}, rows))
        del body, rows


class _Worker:
    def __init__(self) -> None:
        self._connection: GuardedConnection | TrustedConnection | None = None
        self._opened: Any = None
        self._reading: Iterator[Row] | None = None
        self._holds_locks = False
        self._lock = threading.Lock()
        self._running = -1

    def obey(self, control: int) -> None:
        """Interrupt the query that the control pipe names; a late word doesn't hit the next one."""
        try:
            while data := os.read(control, LENGTH.size):
                with self._lock:
                    if self._connection is not None and LENGTH.unpack(data)[0] == self._running:
                        self._connection.interrupt()
        finally:
            os._exit(0)

    def rest(self) -> None:
        """Wait for a request; let go of a live log's locks when none comes soon."""
        if not self._holds_locks or self._reading is not None:
            return
        if not select.select([0], [], [], _PATIENCE_SECONDS)[0]:
            self._close()

    def answer(self, request: dict[str, Any]) -> tuple[dict[str, Any], list[Row]]:
        """A reply's head and rows; whatever goes wrong is in it."""
        try:
            _set_limits(request)
            with self._counted(request["id"]):
                return self._answer(request)
        except (Refused, *FAILURES) as error:
            self._reading = None
            phase = (
                self._connection.phase if isinstance(self._connection, GuardedConnection) else "run"
            )
            return _failed(error, phase), []

    def _answer(self, request: dict[str, Any]) -> tuple[dict[str, Any], list[Row]]:
        if "more" in request:
            return self._read_on(request)
        self._reading = None
        connection = self._open(request)
        self._holds_locks = request["holds_locks"]
        if isinstance(connection, TrustedConnection):
            if "shown" in request:
                return {"shown": connection.shown(request["shown"])}, []
            self._reading = connection.rows(request["read"], request["parameters"])
            return self._read_on(request)
        if "sql" not in request:
            return {}, []
        names, rows = connection.execute(request["sql"], request["explain"])
        kept, cuts = _take(rows, request)
        return {"names": names, **cuts}, kept

    def _read_on(self, request: dict[str, Any]) -> tuple[dict[str, Any], list[Row]]:
        """The next chunk of what is being read."""
        assert self._reading is not None
        kept, room = [], request["result_bytes"]
        for row in self._reading:
            size = sum(map(_size, row))
            if size > request["row_bytes"]:
                raise MemoryError
            kept.append(row)
            room -= size
            if room <= 0 or len(kept) >= request["rows"]:
                return {"more": True}, kept
        self._reading = None
        return {"more": False}, kept

    @contextlib.contextmanager
    def _counted(self, number: int) -> Iterator[None]:
        with self._lock:
            self._running = number
        try:
            yield
        finally:
            with self._lock:
                self._running = -1

    def _open(self, request: dict[str, Any]) -> GuardedConnection | TrustedConnection:
        # An immutable file is never looked at again by SQLite, so its connection lasts only as
        # long as the file stays the same.
        guarded = "read" not in request and "shown" not in request
        wanted = (request["uri"], request["token"], request["tables"], guarded)
        if self._connection is None or wanted != self._opened:
            self._close()
            uri, _, tables, _ = wanted
            opened = GuardedConnection(uri, tables) if guarded else TrustedConnection(uri)
            with self._lock:
                self._connection = opened
            self._opened = wanted
        return self._connection

    def _close(self) -> None:
        self._reading = None
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None
        self._holds_locks = False


class _Memory:
    """Measures how much of the machine's memory this process holds."""

    def __init__(self) -> None:
        self._file = -1
        with contextlib.suppress(OSError):
            self._file = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)

    def taken(self) -> int:
        """Bytes: now, where the system tells, else the most so far."""
        if self._file >= 0:
            return int(os.pread(self._file, 100, 0).split()[1]) * os.sysconf("SC_PAGE_SIZE")
        if resource is None:
            return 0
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024


def _failed(error: BaseException, phase: str = "run") -> dict[str, Any]:
    failure = asdict(explain_failure(error))
    return {"failure": failure, "phase": phase, "copy": needs_copy(error)}


def _packed(head: dict[str, Any], rows: list[Row]) -> bytes:
    try:
        return pack_reply(head, rows)
    except MemoryError as error:
        rows.clear()
        return pack_reply({**_failed(error), "large": True}, ())


def _take(rows: Iterator[Row], limits: dict[str, Any]) -> tuple[list[Row], dict[str, Any]]:
    """Rows up to the limits, whether others were left out, and where values were cut."""
    most, room, cell_most = limits["rows"], limits["result_bytes"], limits["cell_bytes"]
    kept: list[Row] = []
    shortened: list[tuple[int, int]] = []
    full = {"truncated": True, "shortened": shortened}
    for found in rows:
        row = found
        if len(kept) >= most:
            return kept, full
        cut: list[int] = []
        sizes = [_size(cell) for cell in row]
        if sizes and max(sizes) > cell_most:
            row = tuple(_shorten(cell, cell_most) for cell in row)
            cut = [column for column, cell in enumerate(found) if cell != row[column]]
            sizes = [_size(cell) for cell in row]
        room -= sum(sizes)
        if room < 0:
            return kept, full
        shortened += [(len(kept), column) for column in cut]
        kept.append(row)
    return kept, {**full, "truncated": False}


def _size(cell: Any) -> int:
    """A value's bytes; those of a text as it is stored and sent, in UTF-8."""
    if isinstance(cell, str):
        return len(cell) if cell.isascii() else len(cell.encode())
    return len(cell) if isinstance(cell, bytes) else 8


def _shorten(cell: Any, most: int) -> Any:
    if isinstance(cell, bytes):
        return cell[:most]
    if isinstance(cell, str):
        data = cell[: most + 1].encode()
        return cell if len(data) <= most else data[:most].decode(errors="ignore")
    return cell


def _set_limits(request: dict[str, Any]) -> None:
    """The process takes no more memory than it is allowed: SQLite is told its share, the system
    holds it to the whole, where it can."""
    memory = max(min(request["memory_bytes"], _LARGEST_MEMORY), _LEAST_MEMORY)
    set_memory(memory * 3 // 4)
    if resource is None:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    lower("RLIMIT_CPU", int(used.ru_utime + used.ru_stime + min(request["seconds"], 1e6)) + 2)
    lower("RLIMIT_DATA", memory - _CODE_BYTES)
    lower("RLIMIT_AS", memory + _CODE_BYTES + _UNTOUCHED_BYTES)


def _read_frame() -> bytes | None:
    head = _read(LENGTH.size)
    return None if head is None else _read(LENGTH.unpack(head)[0])


def _read(size: int) -> bytes | None:
    parts = []
    while size:
        part = os.read(0, size)
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _write(data: bytes) -> None:
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(1, view) :]
    except BrokenPipeError:
        sys.exit(0)
