"""The worker processes from outside: started ahead, borrowed per query, killed when stuck."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlwright.database.connection import binding_folder
from sqlwright.database.wire import LENGTH, pack_request, unpack_reply
from sqlwright.errors import SqlwrightError
from sqlwright.types import Cell

_POLL_SECONDS = 0.02
_GRACE_SECONDS = 0.06
"""How long an interrupted query may take to stop before its process is killed."""
_START_SECONDS = 30.0
_LONG_SECONDS = 0.1
_MOST_WORKERS = 4

Stop = Callable[[], str | None]
"""Asked every few milliseconds: the reason to stop now, or None."""
Reply = tuple[dict[str, Any], tuple[tuple[Cell, ...], ...]]
"""What `wire.unpack_reply` gives: the head and the rows."""


class WorkerDied(Exception):
    """The process ended without answering: killed by a limit, or from outside.

    `idle`: it had not even got the request, so asking another one is safe. `signal`: what ended it.
    """

    def __init__(self, code: int | None, *, idle: bool = False) -> None:
        super().__init__(f"exit status {code}")
        self.idle = idle
        self.signal = -code if code is not None and code < 0 else 0


class WorkerStopped(Exception):
    """The query was stopped; the message is the reason `Stop` gave, or "timeout"."""


class Worker:
    """One process and its pipes. Used by one thread at a time."""

    def __init__(self) -> None:
        control_read, self._control = os.pipe()
        try:
            self._process = subprocess.Popen(
                _command(control_read),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                pass_fds=(control_read,),
                bufsize=0,
                start_new_session=True,  # Ctrl-C in the terminal is for the caller alone
            )
        except BaseException:
            os.close(self._control)
            raise
        finally:
            os.close(control_read)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests = self._process.stdin.fileno()
        self._replies = self._process.stdout.fileno()
        _enlarge(self._replies)
        self._poll = select.poll()
        self._poll.register(self._replies, select.POLLIN)
        self._ready = False
        self._received = False
        self._number = 0

    @property
    def pid(self) -> int:
        return self._process.pid

    def ask(self, fields: dict[str, Any], stop: Stop) -> Reply:
        """Send a request and wait for its reply, at most `fields["seconds"]` once it is ready.

        Raises WorkerDied and WorkerStopped, after which it may be `alive` or not."""
        self._received = False
        if not self._ready:
            self._receive(stop, time.monotonic() + _START_SECONDS)
            self._ready = True
        self._number += 1
        try:
            _write(self._requests, pack_request(fields | {"id": self._number}))
        except OSError:
            self.kill()
            raise WorkerDied(self._process.returncode, idle=True) from None
        until = time.monotonic() + fields["seconds"]
        # The worker first says that it has the request: one that is dying may still take bytes in.
        while not (body := self._receive(stop, until)):
            self._received = True
        return unpack_reply(body)

    @property
    def alive(self) -> bool:
        return self._process.returncode is None

    def has_ended(self) -> bool:
        """Whether the process ended by itself or by another's hand; asks the system."""
        return self._process.poll() is not None

    def kill(self) -> None:
        """End the process now. Safe to call twice."""
        if self._process.returncode is None:
            self._process.kill()
            self._process.wait()
        self._close()

    def terminate(self) -> None:
        """End the process; the thread that waits for it notices and cleans up."""
        if self._process.returncode is None:
            self._process.send_signal(signal.SIGKILL)

    def abandon(self) -> None:
        """Let go of a worker that belongs to the process this one was forked from."""
        self._process.returncode = 0
        self._close()

    def _close(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        if self._control >= 0:
            os.close(self._control)
            self._control = -1

    def _receive(self, stop: Stop, deadline: float) -> bytes:
        reason: str | None = None
        give_up = 0.0
        data = bytearray()
        needed = LENGTH.size
        while len(data) < needed:
            if not self._poll.poll(int(_POLL_SECONDS * 1000)):
                now = time.monotonic()
                if reason is None:
                    reason = stop() or ("timeout" if now > deadline else None)
                    if reason is not None:
                        give_up = now + _GRACE_SECONDS
                        os.write(self._control, LENGTH.pack(self._number))
                elif now > give_up:
                    self.kill()
                    raise WorkerStopped(reason)
                continue
            part = os.read(self._replies, min(1 << 20, needed - len(data)))
            if not part:
                self._process.wait()
                self.kill()
                raise WorkerDied(self._process.returncode, idle=not self._received)
            data += part
            if len(data) == LENGTH.size and needed == LENGTH.size:
                needed += LENGTH.unpack(data)[0]
        if reason is not None:
            raise WorkerStopped(reason)
        return bytes(data[LENGTH.size :])


class Pool:
    """Up to four workers, the first of them started ahead. Thread-safe.

    `warm` is the request a fresh worker is handed before its first query.
    """

    def __init__(self, warm: Callable[[], dict[str, Any]]) -> None:
        self._workers = _Workers()
        self._warm = warm
        self._finalizer = weakref.finalize(self, _Workers.close, self._workers)
        self.start_ahead()

    def start_ahead(self) -> None:
        """Start a worker in the background when none is waiting."""
        if self._workers.reserve_spare():
            starting = threading.Thread(
                target=_start_spare,
                args=(self._workers, self._warm),
                name="sqlwright-worker",
                daemon=True,
            )
            try:
                starting.start()
            except RuntimeError:  # no further thread: the next query starts its worker itself
                self._workers.started()

    def ask(self, fields: dict[str, Any], stop: Stop) -> Reply:
        """Have a worker answer; wait while all are busy. Raises WorkerDied, WorkerStopped.

        Workers that were killed while they had nothing to do are replaced, and lose no query."""
        for _ in range(_MOST_WORKERS):
            try:
                return self._ask(self._workers.borrow(stop), fields, stop)
            except WorkerDied as error:
                if not error.idle:
                    raise
        return self._ask(self._workers.borrow(stop), fields, stop)

    def _ask(self, worker: Worker, fields: dict[str, Any], stop: Stop) -> Reply:
        late = time.monotonic() + _LONG_SECONDS

        def watch() -> str | None:
            # A query that takes this long may have to be killed: have another worker ready then.
            if time.monotonic() > late:
                self.start_ahead()
            return stop()

        try:
            return worker.ask(fields, watch)
        except WorkerStopped:
            raise
        except BaseException:
            # Left in the middle (Ctrl-C included): what it would send next belongs to no one.
            worker.kill()
            raise
        finally:
            self._workers.give_back(worker)
            if not worker.alive:
                self.start_ahead()

    def close(self) -> None:
        """Kill every worker. Queries that still run end with WorkerDied."""
        self._finalizer()

    @property
    def pids(self) -> tuple[int, ...]:
        """Of the processes that live now."""
        return self._workers.pids


class _Workers:
    """The workers and who has them; kept apart from Pool, so that its finalizer can hold it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._free: list[Worker] = []
        self._all: list[Worker] = []
        self._starting = 0
        self._closed = False
        self._owner = os.getpid()

    @property
    def pids(self) -> tuple[int, ...]:
        with self._changed:
            return tuple(worker.pid for worker in self._all if worker.alive)

    def reserve_spare(self) -> bool:
        """True when one should be started now; the caller then calls `start`, then `started`."""
        with self._changed:
            self._let_go_after_fork()
            if self._closed or self._free or self._starting or len(self._all) >= _MOST_WORKERS:
                return False
            self._starting += 1
            return True

    def borrow(self, stop: Stop) -> Worker:
        """A free worker, or a new one while there may be more, or wait for one."""
        while True:
            with self._changed:
                self._let_go_after_fork()
                if self._closed:
                    raise WorkerDied(None)
                while self._free:
                    worker = self._free.pop()
                    if not worker.has_ended():
                        return worker
                    worker.kill()  # closes its pipes
                    self._all.remove(worker)
                start = not self._starting and len(self._all) < _MOST_WORKERS
                if start:
                    self._starting += 1
                else:
                    self._changed.wait(_POLL_SECONDS)
            if start:
                try:
                    return self.start()
                finally:
                    self.started()
            reason = stop()
            if reason is not None:
                raise WorkerStopped(reason)

    def start(self) -> Worker:
        """A new worker, already borrowed."""
        worker = Worker()
        with self._changed:
            self._all.append(worker)
            closed = self._closed
        if closed:
            worker.kill()
        return worker

    def started(self) -> None:
        """What was reserved is there, or has failed: the next one may start."""
        with self._changed:
            self._starting -= 1
            self._changed.notify_all()

    def give_back(self, worker: Worker) -> None:
        with self._changed:
            if self._closed and worker.alive:
                worker.kill()
            if worker.alive:
                self._free.append(worker)
            elif worker in self._all:
                self._all.remove(worker)
            self._changed.notify_all()

    def close(self) -> None:
        with self._changed:
            self._let_go_after_fork()
            self._closed = True
            # Whoever is waiting for a worker's reply sees its pipe end; it also closes the pipes.
            for worker in self._all:
                if worker in self._free:
                    worker.kill()
                else:
                    worker.terminate()
            self._free.clear()
            self._changed.notify_all()

    def _let_go_after_fork(self) -> None:
        if self._owner != os.getpid():
            for worker in self._all:
                worker.abandon()
            self._free, self._all, self._starting = [], [], 0
            self._owner = os.getpid()


def _start_spare(workers: _Workers, warm: Callable[[], dict[str, Any]]) -> None:
    try:
        # Without a process, or with one that fails, the next query tries again and reports it.
        with contextlib.suppress(OSError):
            worker = workers.start()
            with contextlib.suppress(WorkerDied, WorkerStopped, SqlwrightError):
                worker.ask(warm(), lambda: None)
            workers.give_back(worker)
    finally:
        workers.started()


def start_failure(error: OSError) -> str:
    """Why no worker can be started, and what to do."""
    what = "the query's process can't be started: "
    if error.errno in {errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE}:
        advice = "end other programs, or raise the limits on processes, memory and open files"
        return f"{what}{error.strerror}; {advice} (ulimit -u, -v, -n)"
    interpreter = sys.executable or "which Python doesn't know here"
    why = error.strerror or error
    return f"{what}{why}; it is run by the interpreter, sys.executable: {interpreter}"


def _command(control: int) -> list[str]:
    if not sys.executable:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    # Isolated and without site: starts in a fraction of the time, and finds exactly the modules
    # this process uses, however they were installed.
    places = [str(Path(__file__).parents[2]), binding_folder()]
    code = (
        "import sys; sys.path[:0] = sys.argv[2:]; "
        "from sqlwright.database.worker import main; main(int(sys.argv[1]))"
    )
    return [sys.executable, "-I", "-S", "-c", code, str(control), *places]


def _enlarge(pipe: int) -> None:
    """Give results of up to a megabyte a pipe that holds them, on Linux."""
    with contextlib.suppress(ImportError, AttributeError, OSError):
        import fcntl

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, 1 << 20)


def _write(target: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(target, view) :]
