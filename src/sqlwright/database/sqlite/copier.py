"""The process that keeps a private copy of a database with unfinished changes, settled there.

A journal or log comes with the file, from anybody, and finishing what it holds writes. So that is
done in a process of its own, which can read in the folder of the database, write in that of the
copy, and nothing else. It keeps the copy as long as its standard input is open: when the caller
ends, however it ends, the copy goes. Copies that were left when both were killed are removed by the
next copier.

Started by `files.py` as `python -I -S -c ...`; answers one line of JSON.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import sys
import tempfile

from sqlwright.database.sqlite.connection import set_memory, settle, warm_up
from sqlwright.database.sqlite.failures import FAILURES
from sqlwright.database.workers.confinement import confine_copier, lower

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

PREFIX = "sqlwright-copy-"
COPY = "copy.db"
BESIDE = ("", "-wal", "-journal")
"""The endings of the files that make up a database."""
_OWNER = "owner"
_MEMORY = 256 * 1024 * 1024
"""Bytes that the copying process may have."""
_CPU_SECONDS = 120
"""Processor time that the copying process may take."""
_SPARE_BYTES = 64 * 1024 * 1024
"""Free bytes that must remain on the disk beside the copy."""
_CHUNK = 1024 * 1024
"""Bytes copied at a time: about what can be read before a stop is noticed."""
_JOURNAL_END = bytes.fromhex("d9d505f920a163d7")
"""Ending of a rollback journal that names another file, a super-journal."""


class CanNotCopy(Exception):
    """A copy can't be made; the message is the reason."""


def main(real: str, temporary: str) -> None:
    """Copy a database, settle the copy, say where it is, and keep it until nobody wants it."""
    folder = ""
    try:
        remove_left(temporary)
        folder = tempfile.mkdtemp(prefix=PREFIX, dir=temporary)  # gives it mode 0700
        owner = _owned(folder)
        sizes = _sizes(real)
        if sum(sizes) + _SPARE_BYTES > shutil.disk_usage(temporary).free:
            raise CanNotCopy("there is no room for a copy in the temporary folder")
        confine_copier(os.path.dirname(real), folder, temporary)  # noqa: PTH120
        lower("RLIMIT_FSIZE", 2 * sum(sizes) + _SPARE_BYTES)
        lower("RLIMIT_CPU", _CPU_SECONDS)
        warm_up()
        set_memory(_MEMORY)
        copy = os.path.join(folder, COPY)  # noqa: PTH118
        for ending in BESIDE:
            _copy(real + ending, copy + ending)
        _refuse_super_journal(copy + "-journal")
        settle(copy)
        _say({"path": copy})
        os.read(0, 1)
        os.close(owner)
    except (CanNotCopy, OSError, *FAILURES) as error:
        _say({"error": getattr(error, "strerror", None) or str(error)})
    finally:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)


def remove_left(temporary: str) -> None:
    """Remove the copies of processes that are gone. What can't be looked at is left alone."""
    if fcntl is None:
        return
    with contextlib.suppress(OSError):
        for entry in os.scandir(temporary):
            if not entry.name.startswith(PREFIX) or not entry.is_dir(follow_symlinks=False):
                continue
            with contextlib.suppress(OSError):
                if entry.stat(follow_symlinks=False).st_uid != os.getuid():
                    continue
                owner = os.open(os.path.join(entry.path, _OWNER), os.O_RDWR | os.O_NOFOLLOW)  # noqa: PTH118
                try:
                    fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(entry.path, ignore_errors=True)
                finally:
                    os.close(owner)


def _owned(folder: str) -> int:
    """A file in the folder that is locked as long as this process lives."""
    owner = os.open(os.path.join(folder, _OWNER), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)  # noqa: PTH118
    if fcntl is not None:
        fcntl.flock(owner, fcntl.LOCK_EX)
    return owner


def _sizes(real: str) -> list[int]:
    sizes = []
    for ending in BESIDE:
        with contextlib.suppress(FileNotFoundError):
            sizes.append(os.lstat(real + ending).st_size)
    return sizes


def _copy(source: str, target: str) -> None:
    """Copy a regular file, as far as it reached at the beginning; nothing, where there is none."""
    try:
        # Neither a link nor a pipe that took the file's place is followed or waited for.
        reading = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        found = os.fstat(reading)
        if not stat.S_ISREG(found.st_mode):
            raise CanNotCopy(f"{source} is not a regular file")
        writing = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            left = found.st_size
            while left > 0 and (part := os.read(reading, min(left, _CHUNK))):
                left -= len(part)
                while part:
                    part = part[os.write(writing, part) :]
        finally:
            os.close(writing)
    finally:
        os.close(reading)


def _refuse_super_journal(journal: str) -> None:
    """A change of several databases at once has a journal that names another file, which SQLite
    would look for, and remove."""
    try:
        with open(journal, "rb") as file:  # noqa: PTH123
            file.seek(0, os.SEEK_END)
            if file.tell() < len(_JOURNAL_END):
                return
            file.seek(-len(_JOURNAL_END), os.SEEK_END)
            if file.read() == _JOURNAL_END:
                raise CanNotCopy("its journal names another file, that of several databases")
    except FileNotFoundError:
        return


def _say(fields: dict[str, str]) -> None:
    with contextlib.suppress(OSError):
        os.write(1, json.dumps(fields).encode("ascii") + b"\n")
    sys.stdout.close()
