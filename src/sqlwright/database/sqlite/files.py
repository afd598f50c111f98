"""The database's file: what is wrong with it, and how to read it without changing its folder.

How a file is opened depends on what lies beside it, because SQLite may only read here:

- No write-ahead log with content, file in rollback mode: shared locks, nothing else ("shared").
- File in WAL mode without log content: SQLite would create `-wal` and `-shm` to open it, so it is
  opened as immutable. No lock protects such a reading, so the caller compares `FileSource.token`
  before and after and reads again when another process wrote meanwhile ("immutable").
- WAL mode with log content and a `-shm` file: read through both, the shared memory read-only, so
  answers are as fresh and consistent as any SQLite reader's ("live").
- WAL content without `-shm`, or a rollback journal left by a crash: SQLite would have to write to
  read. File and log are copied to a private temporary folder and read there ("copy").
"""

from __future__ import annotations

import json
import os
import stat
import subprocess
import tempfile
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from sqlwright.database.missing import ENDINGS, HEADER, databases, file_names, missing
from sqlwright.database.workers.engine import Place
from sqlwright.database.workers.process import command, environment
from sqlwright.errors import DatabaseUnavailable

LIBRARIES = ("apsw",)
"""Packages that the worker processes import."""
_BESIDE = ("-wal", "-shm", "-journal")
_MAGIC = (
    (0, b"PK\x03\x04", "a ZIP archive (or spreadsheet)"),
    (0, b"\x1f\x8b", "a gzip archive"),
    (0, b"PAR1", "a Parquet file"),
    (8, b"DUCK", "a DuckDB database"),
    (4, b"Standard Jet DB", "an Access database"),
    (4, b"Standard ACE DB", "an Access database"),
    (0, b"%PDF", "a PDF document"),
)
Token = tuple[int, ...]
Mode = Literal["shared", "immutable", "live", "copy"]


@dataclass(frozen=True)
class FileSource:
    """A file to open and how; `token` changes when the stored data may have changed."""

    path: str
    mode: Mode
    token: Token

    @property
    def uri(self) -> str:
        """The file as a URI of SQLite."""
        extra = {"immutable": "&immutable=1", "live": "&readonly_shm=1"}.get(self.mode, "")
        return f"file:{quote(os.fsencode(self.path))}?mode=ro{extra}"

    @property
    def place(self) -> Place:
        """The folder it lies in."""
        folder = os.path.dirname(self.path)  # noqa: PTH120
        found = os.stat(folder)  # noqa: PTH116
        return Place("sqlite", LIBRARIES, folder, found.st_dev, found.st_ino)


def _stat_token(path: str) -> Token:
    try:
        found = os.stat(path)  # noqa: PTH116
    except OSError:
        return (0, 0, 0)
    return (found.st_ino, found.st_size, found.st_mtime_ns)


class DatabaseFile:
    """One SQLite file, watched. Thread-safe as long as `source` is called under the owner's lock.

    Keeps the file open to read its header: closing any descriptor of a file drops this process's
    POSIX locks on it, SQLite's included, so it is closed only with the database.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._real = str(path.resolve())
        except (OSError, RuntimeError):
            self._real = str(path)
        check_file(path)
        self._fd = -1
        self._inode = (-1, -1)
        self._copy: tuple[Token, str] | None = None
        self._copies: list[Copy] = []
        self._needs_copy: Token | None = None
        self._finalizer = weakref.finalize(self, _discard, self._copies)

    def token(self) -> Token:
        """Sizes and times of the file, its log and journal; a few microseconds."""
        return (
            *_stat_token(self._real),
            *_stat_token(self._real + "-wal"),
            *_stat_token(self._real + "-journal"),
        )

    def source(self) -> FileSource:
        """The file and the mode to open it in now. Raises DatabaseUnavailable."""
        token = self.token()
        if token[0] == 0:
            check_file(self.path)
        self._check_beside()
        wal = token[4]
        shared_memory = _stat_token(self._real + "-shm")[0]
        if self._needs_copy == token or (wal and not shared_memory):
            return self._copied(token)
        if wal:
            return FileSource(self._real, "live", token)
        mode: Mode = "immutable" if self._header()[18:20] == b"\x02\x02" else "shared"
        return FileSource(self._real, mode, token)

    def _check_beside(self) -> None:
        """SQLite makes log and journal as plain files; anything else was put there to be read or
        waited for."""
        for ending in _BESIDE:
            try:
                found = os.lstat(self._real + ending)
            except OSError:
                continue
            if not stat.S_ISREG(found.st_mode):
                raise DatabaseUnavailable(
                    f"{self._real}{ending} is not a regular file, so the database can't be read.",
                    hint="Remove it if it isn't wanted: SQLite makes such files itself.",
                )

    def require_copy(self, source: FileSource) -> None:
        """Read this state of the file from a copy, as SQLite would have to write to read it."""
        self._needs_copy = source.token

    def change_counter(self) -> int:
        """SQLite's own count of changes in rollback mode, from the header."""
        return int.from_bytes(self._header()[24:28], "big")

    def close(self) -> None:
        """Remove private copies and let go of the file."""
        self._finalizer()
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
            self._inode = (-1, -1)

    def _header(self) -> bytes:
        try:
            found = os.stat(self._real)  # noqa: PTH116
            if self._fd < 0 or self._inode != (found.st_dev, found.st_ino):
                if self._fd >= 0:
                    os.close(self._fd)
                self._fd = os.open(self._real, os.O_RDONLY)
                self._inode = (found.st_dev, found.st_ino)
            return os.pread(self._fd, 100, 0)
        except OSError:
            check_file(self.path)
            raise

    def _copied(self, token: Token) -> FileSource:
        if self._copy is None or self._copy[0] != token:
            for _ in range(5):
                copy = Copy(self._real)
                if self.token() == token:
                    break
                copy.remove()
                token = self.token()
            else:
                raise DatabaseUnavailable(
                    f"{self.path} is being written all the time and can't be copied for reading.",
                    hint="Try again when the other program has finished writing.",
                )
            _discard(self._copies)
            self._copies.append(copy)
            self._copy = (token, copy.path)
        return FileSource(self._copy[1], "copy", token)


class Copy:
    """A private copy, settled, for as long as this object and this process live."""

    def __init__(self, real: str) -> None:
        """Raises DatabaseUnavailable."""
        call = "sqlite.copier.main(sys.argv[1], sys.argv[2])"
        try:
            self._keeper = subprocess.Popen(
                command(call, real, tempfile.gettempdir(), libraries=LIBRARIES),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment(),
                start_new_session=True,
            )
        except OSError as error:
            raise _can_not_copy(real, error.strerror or str(error)) from error
        assert self._keeper.stdout is not None
        line = self._keeper.stdout.readline()
        found = json.loads(line) if line.strip() else {"error": "its journal could not be finished"}
        if "error" in found:
            self.remove()
            raise _can_not_copy(real, found["error"])
        self.path: str = found["path"]

    def remove(self) -> None:
        """Remove it and wait until it is gone. Safe to call twice."""
        for pipe in (self._keeper.stdin, self._keeper.stdout):
            if pipe is not None:
                pipe.close()
        self._keeper.wait()


def _can_not_copy(real: str, why: str) -> DatabaseUnavailable:
    return DatabaseUnavailable(
        f"{real} has unfinished changes beside it and can't be copied to finish them: {why}.",
        hint="Make room in the temporary folder, or open the file once with the program "
        "that wrote it, so that it can finish.",
    )


def _discard(copies: list[Copy]) -> None:
    while copies:
        copies.pop().remove()


def check_file(path: Path) -> None:
    """Raise DatabaseUnavailable when the path can't be a readable SQLite database."""
    try:
        found = path.stat()
    except FileNotFoundError:
        raise missing(path) from None
    except OSError as error:
        raise DatabaseUnavailable(
            f"{path} can't be reached: {error.strerror or error}.",
            hint="Check the path and its folders' permissions.",
        ) from error
    if stat.S_ISDIR(found.st_mode):
        raise _directory(path)
    if not stat.S_ISREG(found.st_mode):
        raise DatabaseUnavailable(
            f"{path} is not a regular file.", hint="Give the path of a SQLite file."
        )
    if found.st_size == 0:
        raise DatabaseUnavailable(
            f"{path} is empty (0 bytes), so it holds no database.",
            hint="It may be left over from a mistyped name or an interrupted copy; "
            "give the path of the real file.",
        )
    try:
        with path.open("rb") as file:
            start = file.read(4096)
    except OSError as error:
        raise DatabaseUnavailable(
            f"{path} can't be read: {error.strerror or error}.",
            hint="Ask for read permission on the file, or copy it to where you may read it.",
        ) from error
    if not start.startswith(HEADER):
        raise _not_a_database(path, start)


def _directory(path: Path) -> DatabaseUnavailable:
    names = file_names(path)
    inside = databases(path, sorted(names, key=lambda name: not name.lower().endswith(ENDINGS)))
    hint = (
        f"It holds {', '.join(inside)}: name one."
        if inside
        else "There is no SQLite file in it, nor CSV, Parquet, JSON or workbooks: name another."
    )
    return DatabaseUnavailable(f"{path} is a folder, not a database.", hint=hint)


def _not_a_database(path: Path, start: bytes) -> DatabaseUnavailable:
    for offset, magic, kind in _MAGIC:
        if start[offset : offset + len(magic)] == magic:
            return DatabaseUnavailable(
                f"{path} is {kind}, not a SQLite database.", hint="Give the path of a SQLite file."
            )
    # Ciphertext uses all byte values about evenly; text and other formats don't.
    if len(start) == 4096 and len(set(start)) > 240 and path.stat().st_size % 512 == 0:
        return DatabaseUnavailable(
            f"{path} is not a SQLite database, or it is encrypted.",
            hint="If it is encrypted (SQLCipher, SEE), decrypt a copy with the program that "
            "wrote it and give that one.",
        )
    return DatabaseUnavailable(
        f"{path} is not a SQLite database: its first bytes are not SQLite's.",
        hint="SQLite's and DuckDB's files are told by their first bytes, files of a table (CSV, "
        "Parquet, JSON, workbooks) by their ending, such as .csv. SQL has to be run in a database "
        "first.",
    )
