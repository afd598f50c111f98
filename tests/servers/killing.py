"""Servers of a test's own that are killed with all their processes and started again, at the same
port and in the same folder."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from tests.servers.starting import Stop, running

GONE_SECONDS = 10.0


class HasProcess(Protocol):
    """A running server."""

    @property
    def port(self) -> int: ...
    @property
    def pid(self) -> int: ...


Server = TypeVar("Server", bound=HasProcess)
Programs = TypeVar("Programs")


class KilledServer(Generic[Server, Programs]):
    """A server that can be killed. `server` is the one that runs, or ran last."""

    def __init__(
        self,
        start: Callable[[Programs, Path, int], tuple[Server, Stop]],
        programs: Programs,
        folder: Path,
    ) -> None:
        self._again: Callable[[int], tuple[Server, Stop]] = lambda port: start(
            programs, folder, port
        )
        self._stop: Stop | None
        self.server, self._stop = self._again(0)

    def kill(self) -> None:
        """Kill the server and the processes it started, as a machine that fails does."""
        stop, self._stop = self._stop, None
        if stop is None:
            return
        pids = [self.server.pid, *_children(self.server.pid)]
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        stop()  # reaps it; the next one looks whether the old one lives
        until = time.monotonic() + GONE_SECONDS
        while any(_status(pid)[0] not in {"", "Z"} for pid in pids) and time.monotonic() < until:
            time.sleep(0.01)

    def start(self) -> None:
        """Start it again where it was killed, and wait until it serves."""
        if self._stop is None:
            self.server, self._stop = self._again(self.server.port)

    def close(self) -> None:
        """End it."""
        if self._stop is not None:
            self._stop()


@contextmanager
def killed_server(
    start: Callable[[Programs, Path, int], tuple[Server, Stop]], programs: Programs, prefix: str
) -> Iterator[KilledServer[Server, Programs]]:
    """One in a temporary folder, which goes with it."""

    def begin(found: Programs, folder: Path) -> tuple[KilledServer[Server, Programs], Stop]:
        made = KilledServer(start, found, folder)
        return made, made.close

    with running(begin, programs, prefix) as made:
        yield made


def _children(parent: int) -> list[int]:
    """Process ids of the processes that a process has started."""
    pids = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
    return [pid for pid in pids if _status(pid)[1] == str(parent)]


def _status(pid: int) -> tuple[str, str]:
    """State of a process and the id of the one that started it; empty for one that is gone."""
    with suppress(OSError):
        state, parent, *_ = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return state, parent
    return "", ""
