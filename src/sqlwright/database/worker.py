"""The process that runs generated SQL, and may be killed at any moment.

Started by `pool.py` as `python -I -S -c ...` with three pipes: requests on standard input, replies
on standard output, and a control pipe. A query's number on the control pipe interrupts it; its
end means the caller is gone, and the process ends at once, whatever SQLite is doing (the binding
lets other threads run while SQLite works). Imports are few, because a killed worker's replacement
should be ready before the next query.
"""

from __future__ import annotations

import os
import select
import sys
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from sqlwright.database.connection import (
    CELL_CEILING,
    FAILURES,
    GuardedConnection,
    Refused,
    explain_failure,
    needs_copy,
    set_heap_limit,
)
from sqlwright.database.wire import LENGTH, RECEIVED, pack_reply, unpack_request

if TYPE_CHECKING:
    from sqlwright.database.wire import Row

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]

_PATIENCE_SECONDS = 0.5
"""A connection to a file with a write-ahead log keeps a shared lock while it is open; other
programs may need it gone to remove the log or change the journal's mode."""
_SPARE_BYTES = 256 * 1024 * 1024
"""Address space beside SQLite's heap: the rows in Python and their packed form."""
_LARGEST_MEMORY = 2**62
"""Bytes; the system's calls take no larger number."""


def main(control: int) -> None:
    """Serve requests until standard input ends."""
    worker = _Worker()
    threading.Thread(target=worker.obey, args=(control,), daemon=True).start()
    _restrict()
    _write(pack_reply({"ready": True}, ()))
    while True:
        worker.rest()
        body = _read_frame()
        if body is None:
            os._exit(0)
        _write(RECEIVED)
        _write(worker.answer(unpack_request(body)))


class _Worker:
    def __init__(self) -> None:
        self._connection: GuardedConnection | None = None
        self._opened: Any = None
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
        if not self._holds_locks:
            return
        if not select.select([0], [], [], _PATIENCE_SECONDS)[0]:
            self._close()

    def answer(self, request: dict[str, Any]) -> bytes:
        """One reply frame; whatever goes wrong is in it."""
        try:
            _set_limits(request)
            self._open(request["uri"], request["token"], request["tables"])
            self._holds_locks = request["holds_locks"]
            if "sql" not in request:
                return pack_reply({}, ())
            names, kept, cuts = self._run(request)
            return pack_reply({"names": names, **cuts}, kept)
        except (Refused, *FAILURES) as error:
            kind, message = explain_failure(error)
            phase = "run" if self._connection is None else self._connection.phase
            head = {"error": kind, "message": message, "phase": phase, "copy": needs_copy(error)}
        return pack_reply(head, ())

    def _run(self, request: dict[str, Any]) -> tuple[tuple[str, ...], list[Row], dict[str, Any]]:
        assert self._connection is not None
        with self._lock:
            self._running = request["id"]
        try:
            names, rows = self._connection.execute(request["sql"])
            return (names, *_take(rows, request))
        finally:
            with self._lock:
                self._running = -1

    def _open(self, uri: str, token: list[int], tables: list[str] | None) -> None:
        # An immutable file is never looked at again by SQLite, so its connection lasts only as
        # long as the file stays the same.
        if self._connection is not None and (uri, token, tables) == self._opened:
            return
        self._close()
        self._connection = GuardedConnection(uri, tables)
        self._opened = (uri, token, tables)

    def _close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None
        self._holds_locks = False


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
        size = 0
        large = False
        cut: list[int] = []
        for cell in row:
            if isinstance(cell, (str, bytes)):
                length = len(cell)
                size += length
                large = large or length * 4 > cell_most
            else:
                size += 8
        if large:
            row = tuple(_shorten(cell, cell_most) for cell in row)
            cut = [column for column, cell in enumerate(found) if cell != row[column]]
            if cut:
                size = sum(len(c) if isinstance(c, (str, bytes)) else 8 for c in row)
        room -= size
        if room < 0:
            return kept, full
        shortened += [(len(kept), column) for column in cut]
        kept.append(row)
    return kept, {**full, "truncated": False}


def _shorten(cell: Any, most: int) -> Any:
    if isinstance(cell, bytes):
        return cell[:most]
    if isinstance(cell, str) and len(cell) * 4 > most:
        data = cell[: most + 1].encode()
        return cell if len(data) <= most else data[:most].decode(errors="ignore")
    return cell


def _set_limits(request: dict[str, Any]) -> None:
    memory = min(request["memory_bytes"], _LARGEST_MEMORY)
    set_heap_limit(memory)
    if resource is None:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime + min(request["seconds"], 1e6)) + 2
    _limit(resource.RLIMIT_CPU, seconds)
    _limit(resource.RLIMIT_AS, memory + 2 * CELL_CEILING + _SPARE_BYTES)


def _restrict() -> None:
    """What holds for the process's whole life: it can't make a file grow nor start another."""
    if resource is None:
        return
    _limit(resource.RLIMIT_FSIZE, 0)
    _limit(resource.RLIMIT_CORE, 0)


def _limit(which: int, value: int) -> None:
    hard = resource.getrlimit(which)[1]
    soft = value if hard == resource.RLIM_INFINITY else min(value, hard)
    try:
        resource.setrlimit(which, (soft, hard))
    except (OSError, ValueError):  # a platform that doesn't know this limit
        return


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
