"""The process that runs generated SQL, and may be killed at any moment.

Started by `pool.py` as `python -I -S -c ...` with three pipes: requests on standard input, replies
on standard output, and a control pipe. A query's number on the control pipe interrupts it; its
end means the caller is gone, and the process ends at once, whatever the engine is doing (bindings
let other threads run while the engine works). Imports are few, because a killed
worker's replacement should be ready before the next query.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import select
import sys
import threading
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sqlwright.database.failures import Refused
from sqlwright.database.workers.confinement import lower, no_more_threads, share_one_arena
from sqlwright.database.workers.engine import KeepsTime
from sqlwright.database.workers.wire import (
    LENGTH,
    OPENING_STATUS,
    RECEIVED,
    cell_size,
    cut_cell,
    pack_reply,
    unpack_request,
)

if TYPE_CHECKING:
    from sqlwright.database.workers.engine import Connection, Engine, Guarded, Trusted
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
_LEAST_MEMORY = 64 * 1024 * 1024
"""Bytes without which the process can't work."""
_LARGEST_MEMORY = 2**62
"""Bytes; the system's calls take no larger number."""


def main(control: int, name: str, folder: str) -> None:
    """Serve requests by an engine about a file in a folder, or a server's, until standard input
    ends."""
    engine: Engine = importlib.import_module(f"sqlwright.database.{name}.engine").ENGINE
    memory = _Memory()
    if engine.threads:
        share_one_arena()
    holds = engine.start(folder)
    worker = _Worker(engine)
    threading.Thread(target=worker.obey, args=(control,), daemon=True).start()
    if not engine.threads:
        no_more_threads()
    _write(pack_reply({"holds": holds}, ()))
    while True:
        worker.rest()
        body = _read_frame()
        if body is None:
            os._exit(0)
        _write(RECEIVED)
        head, rows = worker.answer(unpack_request(body))
        _write(_packed(head | {"large": memory.taken() > engine.idle_bytes}, rows, engine))
        del body, rows


class _Worker:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._failures: tuple[type[BaseException], ...] = (Refused, *engine.failures)
        self._guarded: Guarded | None = None
        self._trusted: Trusted | None = None
        self._opening: Any = None
        self._reading: Iterator[Row] | None = None
        self._holds_locks = False
        self._lock = threading.Lock()
        self._running = -1

    @property
    def _connection(self) -> Connection | None:
        return self._guarded or self._trusted

    def obey(self, control: int) -> None:
        """Interrupt the query that the control pipe names; a late word doesn't hit the next one.
        Opening a connection can't be interrupted: the process ends, and its status says so."""
        try:
            while data := os.read(control, LENGTH.size):
                with self._lock:
                    if LENGTH.unpack(data)[0] != self._running:
                        continue
                    if self._connection is None:
                        os._exit(OPENING_STATUS)
                    with contextlib.suppress(*self._failures):  # who waits ends the process
                        self._connection.interrupt()
        finally:
            self._leave()

    def _leave(self) -> None:
        """End the process at once. What it runs on a server is cancelled there first."""
        try:
            held = self._lock.acquire(timeout=_PATIENCE_SECONDS)
            if held and self._running >= 0 and self._connection is not None:
                self._connection.interrupt()
        finally:
            os._exit(0)

    def rest(self) -> None:
        """Wait for a request; let go of a live log's locks when none comes soon."""
        if not self._holds_locks or self._reading is not None:
            return
        if not select.select([0], [], [], _PATIENCE_SECONDS)[0]:
            self._close()
            self._holds_locks = False

    def answer(self, request: dict[str, Any]) -> tuple[dict[str, Any], list[Row]]:
        """A reply's head and rows; whatever goes wrong is in it."""
        try:
            _set_limits(request, self._engine)
            with self._counted(request["id"]):
                return self._answer(request)
        except self._failures as error:
            self._reading = None
            phase = "run" if self._guarded is None else self._guarded.phase
            failed = _failed(error, self._engine, phase)
            self._finish()
            return failed, []

    def _answer(self, request: dict[str, Any]) -> tuple[dict[str, Any], list[Row]]:
        if "more" in request:
            return self._read_on(request)
        self._reading = None
        self._holds_locks = request["holds_locks"]
        if "shown" in request:
            return {"shown": self._trust(request["opening"]).shown(request["shown"])}, []
        if "read" in request:
            trusted = self._trust(request["opening"])
            self._reading = trusted.rows(request["read"], request["parameters"])
            return self._read_on(request)
        guarded = self._guard(request["opening"])
        if "sql" not in request:
            return {}, []
        names, rows = guarded.execute(request["sql"], request["explain"])
        kept, cuts = _take(rows, request)
        self._finish()
        return {"names": names, **cuts}, kept

    def _read_on(self, request: dict[str, Any]) -> tuple[dict[str, Any], list[Row]]:
        """The next chunk of what is being read."""
        assert self._reading is not None
        kept, room = [], request["result_bytes"]
        for row in self._reading:
            size = sum(map(cell_size, row))
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

    def _guard(self, opening: dict[str, Any]) -> Guarded:
        if self._guarded is None or opening != self._opening:
            self._close()
            opened = self._engine.guarded(opening)
            with self._lock:
                self._guarded, self._opening = opened, opening
            return opened
        return self._guarded

    def _trust(self, opening: dict[str, Any]) -> Trusted:
        if self._trusted is None or opening != self._opening:
            self._close()
            opened = self._engine.trusted(opening)
            with self._lock:
                self._trusted, self._opening = opened, opening
            return opened
        return self._trusted

    def _finish(self) -> None:
        """End what a query began. A connection that can't is closed: the next query opens one."""
        if self._guarded is not None:
            try:
                self._guarded.finish()
            except self._failures:
                self._close()

    def _close(self) -> None:
        self._reading = None
        with self._lock:
            if self._connection is not None:
                with contextlib.suppress(*self._failures):
                    self._connection.close()
            self._guarded = self._trusted = None


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


def _failed(error: BaseException, engine: Engine, phase: str = "run") -> dict[str, Any]:
    failure = asdict(engine.explain(error))
    return {"failure": failure, "phase": phase, "copy": engine.needs_copy(error)}


def _packed(head: dict[str, Any], rows: list[Row], engine: Engine) -> bytes:
    try:
        return pack_reply(head, rows)
    except MemoryError as error:
        rows.clear()
        return pack_reply({**_failed(error, engine), "large": True}, ())


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
        sizes = [cell_size(cell) for cell in row]
        if sizes and max(sizes) > cell_most:
            row = tuple(cut_cell(cell, cell_most) for cell in row)
            cut = [column for column, cell in enumerate(found) if cell is not row[column]]
            sizes = [cell_size(cell) for cell in row]
        room -= sum(sizes)
        if room < 0:
            return kept, full
        shortened += [(len(kept), column) for column in cut]
        kept.append(row)
    return kept, {**full, "truncated": False}


def _set_limits(request: dict[str, Any], engine: Engine) -> None:
    """The process takes no more memory than it is allowed: the engine is told its share, the system
    holds it to the whole, where it can."""
    memory = max(min(request["memory_bytes"], _LARGEST_MEMORY), _LEAST_MEMORY)
    engine.set_memory(memory * 3 // 4)
    if isinstance(engine, KeepsTime):
        engine.set_seconds(request["seconds"])
    if resource is None:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    allowed = min(request["seconds"], 1e6) * max(engine.threads, 1)
    lower("RLIMIT_CPU", int(used.ru_utime + used.ru_stime + allowed) + 2)
    lower("RLIMIT_DATA", memory - _CODE_BYTES)
    lower("RLIMIT_AS", memory + _CODE_BYTES + engine.addresses)


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
