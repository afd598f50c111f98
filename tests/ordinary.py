"""Processes that must obey access rights, also where the tests run as root.

Root reads and writes whatever the mode says, so that a test of modes proves nothing in its own
process. Here the check runs in a child that has given up root's power to pass over modes and keeps
its ownership: an ordinary user with files of its own. Another user is one who is nobody.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

NOBODY = 65534
DROP_FROM_BOUNDING_SET = 24
POWERS = (1, 2, 3)
"""CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH and CAP_FOWNER of Linux."""


def run_obeying(
    program: str, *arguments: object, home: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a Python program in a process that has no more rights than an ordinary user."""
    if sys.platform != "linux" and os.geteuid() == 0:
        pytest.skip("root can give its powers up on Linux only")
    places = {} if home is None else {"SQLWRIGHT_HOME": str(home)}
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        env={**os.environ, "COLUMNS": "500", **places},
        preexec_fn=_give_up_powers if os.geteuid() == 0 else None,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def _give_up_powers() -> None:
    library = ctypes.CDLL(None, use_errno=True)
    for power in POWERS:
        if library.prctl(DROP_FROM_BOUNDING_SET, power, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "a power of root can't be given up")


def open_to_others(paths: Iterable[Path]) -> list[Path]:
    """Which files another user can read, and folders enter or list: tried as nobody, where the
    tests run as root; else by their modes."""
    listed = list(paths)
    if os.geteuid() != 0:
        return [path for path in listed if path.stat().st_mode & 0o077]
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        for place, path in enumerate(listed):
            if any(os.access(path, right) for right in (os.R_OK, os.W_OK, os.X_OK)):
                os.write(writing, b"%d\n" % place)
        os._exit(0)
    os.close(writing)
    with open(reading, encoding="ascii") as found:  # noqa: PTH123 - from a descriptor
        places = [int(line) for line in found]
    assert os.waitpid(child, 0)[1] == 0
    return [listed[place] for place in places]
