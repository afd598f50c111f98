"""The part that the fixtures of all servers share: a process that ends with its owner, a folder of
its own, databases for one test."""

from __future__ import annotations

import getpass
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, TypeVar

START_SECONDS = 30.0
"""Seconds that a server may take to start on a busy machine."""
Server = TypeVar("Server")
Programs = TypeVar("Programs")
Stop = Callable[[], None]


class MakesDatabases(Protocol):
    """A running server."""

    def create(self, script: str = "") -> str: ...
    def drop(self, name: str) -> None: ...


def serving_user() -> int:
    """The user to run a server as: PostgreSQL refuses to run as root, and none should be able to
    write where tests are told that it did."""
    return pwd.getpwnam("nobody").pw_uid if os.getuid() == 0 else os.getuid()


def free_port() -> int:
    """A port of loopback that nobody listens at."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def start_kept(
    command: Sequence[str], user: int, folder: Path, accepts: Callable[[], bool]
) -> Stop:
    """Start a server as a user, with its log in the folder, and wait until it accepts connections.
    It ends with this process, or by the function that is given back."""
    log = (folder / "log").open("wb")
    keeper = subprocess.Popen(
        [sys.executable, "-I", "-S", str(Path(__file__).with_name("kept.py")), str(user), *command],
        stdin=subprocess.PIPE, stdout=log, stderr=log, env={"PATH": os.defpath, "LC_ALL": "C"},
        start_new_session=True,
    )  # fmt: skip

    def stop() -> None:
        assert keeper.stdin is not None
        keeper.stdin.close()
        keeper.wait(30)
        log.close()

    until = time.monotonic() + START_SECONDS
    while not accepts():
        if keeper.poll() is not None or time.monotonic() > until:
            stop()
            raise RuntimeError(f"{Path(command[0]).name}: {(folder / 'log').read_text()}")
        time.sleep(0.05)
    return stop


@contextmanager
def running(
    start: Callable[[Programs, Path], tuple[Server, Stop]], programs: Programs, prefix: str
) -> Iterator[Server]:
    """A server in a temporary folder, which goes with it."""
    # A socket's path may have a hundred characters, so it isn't in the tests' own long one.
    folder = Path(tempfile.mkdtemp(prefix=f"{prefix}-{getpass.getuser()[:8]}-"))
    try:
        server, stop = start(programs, folder)
        try:
            yield server
        finally:
            stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def databases(server: MakesDatabases) -> Iterator[Callable[[str], str]]:
    """Makes databases from scripts, gives their names, and drops them at the end."""
    made: list[str] = []

    def make(script: str) -> str:
        made.append(server.create(script))
        return made[-1]

    yield make
    for name in made:
        server.drop(name)
