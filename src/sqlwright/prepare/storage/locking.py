"""One `prepare` per database at a time, across processes.

The lock is the kernel's (`flock`): it goes with the process that holds it, however that ends, so
no lock is ever stale. The file only says who holds it. On systems without `fcntl`, and on file
systems without locks, there is none; two prepares at once then do the work twice and the later one
wins, since everything is written aside and renamed.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlwright.boundary.home import make_private
from sqlwright.prepare.storage.paths import LOCK, disk_errors
from sqlwright.protocols import Run

_UNSUPPORTED = {errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}
_PAUSE = 0.1
"""Seconds between attempts to get the lock."""


@contextmanager
def locked(folder: Path, run: Run, waiting: Callable[[str], None]) -> Iterator[None]:
    """Hold the folder's lock, waiting for it if need be.

    `waiting` is called once with who holds it. Raises `Cancelled` when the run ends first.
    """
    with disk_errors(folder):
        descriptor = _acquired(folder / LOCK, run, waiting)
    try:
        yield
    finally:
        os.close(descriptor)


def _acquired(path: Path, run: Run, waiting: Callable[[str], None]) -> int:
    waiting_told = False
    while True:
        make_private(path.parent)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if not _taken(descriptor):
                if not waiting_told:
                    waiting_told = True
                    waiting(os.pread(descriptor, 32, 0).decode("ascii", "replace").strip())
            elif _same_file(descriptor, path):
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, str(os.getpid()).encode(), 0)
                return descriptor
            else:  # purged between opening and locking: this is a lock on nothing
                os.close(descriptor)
                continue
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
        run.cancelled.wait(_PAUSE)
        run.check()


def _taken(descriptor: int) -> bool:
    """Try to take the lock; True when it is ours, or there are no locks here."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _UNSUPPORTED:
            return True
        if error.errno in {errno.EAGAIN, errno.EACCES, errno.EWOULDBLOCK}:
            return False
        raise
    return True


def _same_file(descriptor: int, path: Path) -> bool:
    try:
        named = path.stat()
    except FileNotFoundError:
        return False
    held = os.fstat(descriptor)
    return (held.st_dev, held.st_ino) == (named.st_dev, named.st_ino)
