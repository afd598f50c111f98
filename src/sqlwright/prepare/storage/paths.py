"""Paths of prepared data; keeps them private and whole.

One folder per database, named for people and for the database's resolved path, so that two files
of one name don't meet. Folders are 0700 and files 0600: they hold values of the user's data.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlwright.boundary.home import HOME_VARIABLE, home
from sqlwright.boundary.home import make_private as close_folder
from sqlwright.database.address import parse_address
from sqlwright.errors import WorkspaceError

MANIFEST = "manifest.json"
LOCK = "lock"
STAGES = "stages"
OWN_FILE = "confidence.json"
"""The user's own calibrations."""
TEXTS = "texts.vectors"
VALUES = "values.vectors"
LATE = "late"
"""Marks that preparing without being asked took too long."""
ASIDE = ".aside-"
NEEDED_ROOM = 1_000_000
"""Free bytes on the disk. With less, a failure to write is a full disk, whatever it says."""
_OURS = re.compile(
    r"(?:manifest\.json|confidence\.json|lock|late|stages|(?:texts|values)\.vectors|catalog-[0-9a-f]+\.json|values-[0-9a-f]+|"
    r"descriptions-[0-9a-f]+|endpoint-[0-9a-f]+\.vectors|"
    r"summaries-[0-9a-f]+\.json|minhash-[a-z]+-[0-9a-f]+|\.aside-.*|\.values-.*|\.minhash-.*)\Z"
)


def prepared_folder(url: str) -> Path:
    """The folder in which `prepare` keeps what it makes for a database. Needs neither to exist."""
    address = parse_address(url)
    if address.path is not None:  # by whatever link
        address = parse_address(address.identity)
    name = re.sub(r"[^\w.-]+", "_", address.name)[:40].strip("._") or "database"
    key = hashlib.sha256(os.fsencode(address.identity)).hexdigest()[:16]
    return home() / "databases" / f"{name}-{key}"


def make_private(folder: Path) -> None:
    """Make a folder only its owner can enter, those above it that are missing likewise. Raises
    `WorkspaceError`."""
    with disk_errors(folder):
        close_folder(folder)


def untrusted(folder: Path) -> str:
    """The reason not to use a folder; empty where it is ours, and nobody else can write into it."""
    try:
        found = folder.stat()
    except OSError:
        return "it isn't there"
    if not stat.S_ISDIR(found.st_mode):
        return "it is no folder"
    if found.st_uid != os.getuid():
        return "it belongs to another user"
    return "others may write there" if stat.S_IMODE(found.st_mode) & 0o022 else ""


def is_trustworthy(folder: Path) -> bool:
    """True if a folder exists, is ours, and nobody else can write into it."""
    return not untrusted(folder)


def write_private(path: Path, content: bytes) -> None:
    """Write a file aside, on disk for good, then give it its name: a reader sees the old file or
    the new one. Raises `WorkspaceError`, leaving nothing behind."""
    aside = path.with_name(f"{ASIDE}{os.getpid()}-{path.name}")
    with disk_errors(path.parent):
        try:
            descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with open(descriptor, "wb") as file:  # noqa: PTH123 - from a descriptor
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            aside.replace(path)
        except BaseException:
            aside.unlink(missing_ok=True)
            raise


def remove(path: Path) -> None:
    """Remove a file or folder that may be gone already. Raises `WorkspaceError`."""
    with disk_errors(path):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


@contextmanager
def removed_on_failure(folder: Path) -> Iterator[None]:
    """Leave no half-written folder behind."""
    try:
        yield
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def written_paths(folder: Path) -> list[Path]:
    """Paths in a folder that `prepare` may have written."""
    try:
        return [path for path in folder.iterdir() if _OURS.match(path.name)]
    except FileNotFoundError:
        return []


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turn the system's errors into `WorkspaceError` with advice, a full disk by its name."""
    try:
        yield
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise _no_room(path) from error
        raise WorkspaceError(
            f"{path} can't be used: {error.strerror or error}.",
            hint=f"Choose a folder you may write to with {HOME_VARIABLE}.",
        ) from error
    except WorkspaceError as error:
        if path.exists() and shutil.disk_usage(path).free < NEEDED_ROOM:
            raise _no_room(path) from error
        raise


def _no_room(path: Path) -> WorkspaceError:
    return WorkspaceError(
        f"There is no room left on the disk that holds {path}.",
        hint=f"Make room, or choose another place with {HOME_VARIABLE}.",
    )
