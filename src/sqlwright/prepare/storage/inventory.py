"""Finds, measures and removes what is kept of one database or of all.

Only what sqlwright writes is found, by path and name; links are not followed. What else lies
there stays.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sqlwright.boundary.feedback import ENDING as FEEDBACK
from sqlwright.errors import WorkspaceError
from sqlwright.llm.keeping.cache import forget
from sqlwright.prepare.storage.locking import locked
from sqlwright.prepare.storage.paths import (
    LOCK,
    MANIFEST,
    OWN_FILE,
    disk_errors,
    prepared_folder,
    remove,
    written_paths,
)
from sqlwright.protocols import Run


def purge(url: str, *, folder: Path | None = None, run: Run | None = None) -> bool:
    """Remove what was prepared for a database; whether there was anything.

    The database need not exist any more. Only files that `prepare` writes are removed, and the
    folder itself when nothing else is in it. Waits for a preparation that is under way. Raises
    `WorkspaceError`.
    """
    folder = prepared_folder(url) if folder is None else folder
    if not folder.is_dir():
        return False
    found = written_paths(folder)
    if not any(path.name in {MANIFEST, LOCK, OWN_FILE} for path in found):
        if any(folder.iterdir()):
            raise WorkspaceError(
                f"{folder} holds nothing that was prepared.",
                hint="Name the folder that was given to prepare.",
            )
        return False
    with locked(folder, run or Run(), lambda _: None):
        # The manifest first: from then on nothing here counts as prepared.
        for path in sorted(
            written_paths(folder), key=lambda path: (path.name != MANIFEST, path.name == LOCK)
        ):
            remove(path)
        with disk_errors(folder):
            if not any(folder.iterdir()):
                folder.rmdir()
    return True


DATABASES, TRACES, REPLIES, DEMO = "databases", "traces", "replies", "demo"
HISTORY = "chat_history"
DESCRIPTIONS = "descriptions"
_DEMO = re.compile(r"harbor-and-pine-[\w.]+\.(?:sqlite|duckdb)(?:\.part)?(?:-journal|\.wal)?\Z")
_DESCRIPTIONS = re.compile(r"[0-9a-f]{24}\Z|part-\w+\Z")
_COPY = re.compile(r"copy\.db(?:-wal|-shm|-journal)?\Z")


@dataclass(frozen=True)
class KeptFolder:
    """One kind of thing that is kept."""

    words: str
    """Description that follows "removed"."""
    bytes: int
    remove: Callable[[], None]
    """Raises `WorkspaceError`."""


def everything(home: Path) -> list[KeptFolder]:
    """All that is kept in the home folder, and copies of databases that processes which were killed
    have left in the folder for temporary files."""
    prepared = [
        folder
        for folder in _folders(home / DATABASES)
        if any(path.name in {MANIFEST, LOCK, OWN_FILE} for path in written_paths(folder))
    ]
    replies = [folder for folder in _folders(home / REPLIES) if _replies(folder)]
    demo = [path for path in _inside(home / DEMO) if _DEMO.match(path.name)]
    history = [path for path in (home / HISTORY,) if path.is_file() and not path.is_symlink()]
    told = [path for path in _folders(home / DESCRIPTIONS) if _DESCRIPTIONS.match(path.name)]
    copies = list(_abandoned_copies(Path(tempfile.gettempdir())))
    number = sum(len(_replies(folder)) for folder in replies)
    found = [
        _kept(f"what was prepared for {_count(len(prepared), 'database')}", prepared, _unprepare),
        *traces(home),
        _kept(f"{_count(number, 'kept repl', 'ies', 'y')} of language models", replies, forget),
        _kept("the lines typed in chats", history, remove),
        _kept("the demo database", demo, remove),
        _kept(f"the descriptions of {_count(len(told), 'measured database')}", told, remove),
        _kept(_count(len(copies), "temporary cop", "ies", "y") + " of a database", copies, remove),
    ]
    return [kept for kept in found if kept is not None]


def traces(home: Path) -> list[KeptFolder]:
    """The traces, if there are any."""
    inside = _inside(home / TRACES)
    found = [path for path in inside if path.suffix == ".jsonl"]
    judged = [path for path in inside if path.name.removesuffix(".part").endswith(FEEDBACK)]
    kept = _kept(f"the traces of {_count(len(found), 'question')}", found + judged, remove)
    return [] if kept is None else [kept]


def close_up(home: Path) -> int:
    """Remove the folders that are empty now; how many files of others stay."""
    for folder in (
        *(home / name for name in (DATABASES, TRACES, REPLIES, DEMO, DESCRIPTIONS)),
        home,
    ):
        with contextlib.suppress(OSError):  # something is in it, or it isn't there
            folder.rmdir()
    return sum(not path.is_dir() or path.is_symlink() for path in home.rglob("*"))


def _kept(words: str, paths: list[Path], removal: Callable[[Path], object]) -> KeptFolder | None:
    def remove_all() -> None:
        for path in paths:
            with disk_errors(path):
                removal(path)

    return KeptFolder(words, sum(map(_size, paths)), remove_all) if paths else None


def _unprepare(folder: Path) -> None:
    purge("", folder=folder)


def _folders(folder: Path) -> list[Path]:
    return [path for path in _inside(folder) if path.is_dir() and not path.is_symlink()]


def _inside(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _replies(folder: Path) -> list[Path]:
    return [path for path in folder.glob("??/*.json") if not path.parent.is_symlink()]


def _size(path: Path) -> int:
    """Bytes of a file, or of all files in a folder."""
    found: Iterable[Path] = (path,) if not path.is_dir() else path.rglob("*")
    return sum(
        about.st_size for about in map(_about, found) if about and not stat.S_ISDIR(about.st_mode)
    )


def _about(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except OSError:
        return None


def _abandoned_copies(path: Path) -> Iterator[Path]:
    """Folders of private copies that no process uses any more: none has a file in it open or
    locked."""
    folders = sorted(path.glob("sqlwright-*"))
    open_files = _open_files() if folders else set()
    for folder in folders:
        about = _about(folder)
        if about is None or not stat.S_ISDIR(about.st_mode) or about.st_uid != os.geteuid():
            continue
        names = {path.name for path in _inside(folder)}
        if names and all(map(_COPY.match, names)) and not _in_use(folder, open_files):
            yield folder


def _open_files() -> set[str]:
    """The files that processes have open, as far as the system tells."""
    found = set()
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        with contextlib.suppress(OSError):
            found.add(str(link.readlink()))
    return found


def _in_use(folder: Path, open_files: set[str]) -> bool:
    import fcntl

    for path in (folder, *_inside(folder)):
        if str(path.resolve()) in open_files:
            return True
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        except OSError:
            return True
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
        finally:
            os.close(handle)
    return False


def _count(number: int, one: str, many: str = "s", single: str = "") -> str:
    return f"{number:,} {one}{single if number == 1 else many}"
