"""One worker process from outside: started, asked, interrupted, killed."""

from __future__ import annotations

import contextlib
import errno
import importlib.util
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

from sqlwright.database.workers.engine import Place
from sqlwright.database.workers.wire import LENGTH, OPENING_STATUS, pack_request, unpack_reply
from sqlwright.types import Cell

POLL_SECONDS = 0.02
"""Seconds between checks whether a query is to be stopped."""
_START_SECONDS = 30.0
"""Seconds a worker may take to start on a busy machine."""
_KEPT = ("TZ", "TZDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT")
"""Variables of the environment that a worker gets: where the time zone and the interpreter's
libraries are. There are keys and passwords in the rest, and whoever may look at a process sees its
environment."""

Stop = Callable[[], str | None]
"""Asked every few milliseconds: the reason to stop now, or None."""
Reply = tuple[dict[str, Any], tuple[tuple[Cell, ...], ...]]
"""Result of `wire.unpack_reply`: the head and the rows."""


CRASHES = frozenset({signal.SIGABRT, signal.SIGSEGV})
"""Ways in which a library's thread that gets no memory ends its process."""


class WorkerDied(Exception):
    """The process ended without answering: killed by a limit, or from outside.

    `idle`: it had not even got the request, so asking another one is safe. `signal`: what ended it.
    """

    def __init__(self, code: int | None, *, idle: bool = False) -> None:
        super().__init__(f"exit status {code}")
        self.idle = idle
        self.signal = -code if code is not None and code < 0 else 0


class WorkerStopped(Exception):
    """The query was stopped; the message is the reason `Stop` gave, or "timeout".

    `during`: what was waited for, if not for the query alone: a worker that is free ("busy"), a
    connection ("opening"), an end of the query ("stopping"), which the engine was told in vain.
    """

    def __init__(
        self, reason: str, during: Literal["", "busy", "opening", "stopping"] = ""
    ) -> None:
        super().__init__(reason)
        self.during = during


class Worker:
    """One process and its pipes. Used by one thread at a time."""

    def __init__(self, place: Place) -> None:
        """Start one that may read the files of a place alone."""
        self.place = place
        self.holds: tuple[str, ...] = ()
        control_read, self._control = os.pipe()
        try:
            self._process = subprocess.Popen(
                command(
                    "workers.worker.main(int(sys.argv[1]), sys.argv[2], sys.argv[3])",
                    *(str(control_read), place.engine, place.folder),
                    libraries=place.libraries,
                ),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                pass_fds=(control_read,),
                bufsize=0,
                env=environment(),
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

    def await_ready(self, stop: Stop) -> None:
        """Wait until the process has started, which on a busy machine takes seconds. Raises as
        `ask` does."""
        self._received = False
        if self._ready:
            return
        ready = self._receive(stop, time.monotonic() + _START_SECONDS)
        self.holds = tuple(unpack_reply(ready)[0]["holds"])
        self._ready = True

    def ask(self, fields: dict[str, Any], stop: Stop) -> Reply:
        """Send a request and wait for its reply, at most `fields["seconds"]` once it is ready.

        Raises WorkerDied and WorkerStopped, after which it may be `alive` or not."""
        self.await_ready(stop)
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
        """True if the process ended by itself or by another's hand; asks the system."""
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
            if not self._poll.poll(int(POLL_SECONDS * 1000)):
                now = time.monotonic()
                if reason is None:
                    reason = stop() or ("timeout" if now > deadline else None)
                    if reason is not None:
                        give_up = now + self.place.grace
                        os.write(self._control, LENGTH.pack(self._number))
                elif now > give_up:
                    self.kill()
                    raise WorkerStopped(reason, "stopping")
                continue
            part = os.read(self._replies, min(1 << 20, needed - len(data)))
            if not part:
                status = self._process.wait()
                self.kill()
                if reason is not None and status == OPENING_STATUS:
                    raise WorkerStopped(reason, "opening")
                raise WorkerDied(status, idle=not self._received)
            data += part
            if len(data) == LENGTH.size and needed == LENGTH.size:
                needed += LENGTH.unpack(data)[0]
        if reason is not None:
            if needed == LENGTH.size or not self._ready:
                self.kill()  # it has only said that it is there: its reply would come later
            raise WorkerStopped(reason)
        return bytes(data[LENGTH.size :])


def start_failure(error: OSError) -> str:
    """A message for a worker that can't be started, with advice."""
    what = "the query's process can't be started: "
    if error.errno in {errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE}:
        advice = "end other programs, or raise the limits on processes, memory and open files"
        return f"{what}{error.strerror}; {advice} (ulimit -u, -v, -n)"
    interpreter = sys.executable or "which Python doesn't know here"
    why = error.strerror or error
    return f"{what}{why}; it is run by the interpreter, sys.executable: {interpreter}"


def command(call: str, *arguments: str, libraries: Sequence[str]) -> list[str]:
    """The command line that runs `FOLDER.MODULE.CALL`, below `sqlwright.database`, in a process of
    its own, as an isolated Python without site: it starts in a fraction of the time, and finds
    exactly the modules this process uses, however they were installed. Its `sys.argv[1:]` are the
    arguments."""
    if not sys.executable:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    folder, module, _ = call.split(".", 2)
    places = dict.fromkeys([str(Path(__file__).parents[3]), *map(_library_folder, libraries)])
    code = (
        f"import sys; sys.path[:0] = sys.argv[{len(arguments) + 1}:]; "
        f"from sqlwright.database import {folder}; "
        f"import sqlwright.database.{folder}.{module}; {call}"
    )
    return [sys.executable, "-I", "-S", "-c", code, *arguments, *places]


def _library_folder(name: str) -> str:
    """The folder that a package or module is imported from, without importing it; a folder
    itself."""
    if os.path.isabs(name):  # noqa: PTH117 - a folder, or a package's name
        return name
    found = importlib.util.find_spec(name)
    if found is None or found.origin is None:
        raise FileNotFoundError(errno.ENOENT, f"the package {name} isn't installed")
    module = Path(found.origin)
    return str(module.parents[1] if found.submodule_search_locations else module.parent)


def environment() -> dict[str, str]:
    """The part of the caller's environment that a process reading a database gets."""
    return {name: os.environ[name] for name in _KEPT if name in os.environ}


def _enlarge(pipe: int) -> None:
    """Give results of up to a megabyte a pipe that holds them, on Linux."""
    with contextlib.suppress(ImportError, AttributeError, OSError):
        import fcntl

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, 1 << 20)


def _write(target: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(target, view) :]
