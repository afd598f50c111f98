"""Files of a run's folder: whole or not there, written by one process at a time; and files of one
JSON object a line that only grow.

A line is on disk before the next is made. It ends with a newline, or a kill cut it short: readers
leave it out, and the next line that is added takes its place.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from sqlwright.errors import DatasetError


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write an object as a file that is whole or isn't there."""
    write_lines(path, [json.dumps(content, indent=2, ensure_ascii=False) + "\n"])


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines, each with its end, as they come; the file has its name once all are there."""
    with whole_file(path) as file:
        file.writelines(line.encode(errors="replace") for line in lines)


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write, which has its name once it is on disk; one that is replaced hands on its
    mode."""
    path = path.resolve()  # a link stays one
    aside = path.with_name(path.name + ".part")
    try:
        with aside.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, aside)
        aside.replace(path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise


def write_whole(path: Path, text: str) -> None:
    """Write a text as a file that is whole or isn't there. Raises DatasetError."""
    try:
        with whole_file(path) as file:
            file.write(text.encode())
    except OSError as error:
        raise DatasetError(f"{path} can't be written: {error.strerror}") from None


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object in a file; empty where there is no file. Raises DatasetError."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise DatasetError(f"{path} can't be read: {error}") from None
    if not isinstance(found, dict):
        raise DatasetError(f"{path} isn't a JSON object")
    return found


LOCK = "lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Make the folder and be its only writer. The system lets go of the lock when the process ends,
    however it does. Raises DatasetError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise DatasetError(f"{folder} can't be made: {error.strerror}") from None
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DatasetError(
                f"another run is writing {folder}",
                hint="Wait until it has ended, or name another folder with --out.",
            ) from None
        yield
    finally:
        os.close(handle)


def line_of(row: Mapping[str, Any]) -> str:
    """A row as a line."""
    return json.dumps(row, ensure_ascii=False) + "\n"


def append_row(path: Path, row: Mapping[str, Any]) -> None:
    """Add one row, on disk before this returns."""
    with path.open("ab+") as file:
        _cut_stump(file.fileno())
        # A question may hold half a character, which JSON can escape and UTF-8 can't write.
        file.write(line_of(row).encode(errors="replace"))
        file.flush()
        os.fsync(file.fileno())


def rows_of(path: Path, *, what: str, remedy: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows with their line numbers, from 1, read as they are asked for. Raises DatasetError for
    a line that isn't an object."""
    for number, (_, row) in enumerate(placed_rows_of(path, what=what, remedy=remedy), 1):
        yield number, row


def placed_rows_of(path: Path, *, what: str, remedy: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """As `rows_of`, each with the place in the file at which it begins."""
    place = 0
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            try:
                row = json.loads(line)
            except ValueError:
                row = None
            if not isinstance(row, dict):
                raise DatasetError(f"{path}, line {number} isn't {what}", hint=remedy)
            yield place, row
            place += len(line)


def row_at(path: Path, place: int) -> dict[str, Any]:
    """The row that begins at a place that `placed_rows_of` gave."""
    with path.open("rb") as file:
        file.seek(place)
        row: dict[str, Any] = json.loads(file.readline())
        return row


def _cut_stump(handle: int) -> None:
    """Cut off what stands behind the last newline: the next row would be glued to it."""
    end = os.fstat(handle).st_size
    if not end or os.pread(handle, 1, end - 1) == b"\n":
        return
    while end:
        begin = max(0, end - (1 << 16))
        newline = os.pread(handle, end - begin, begin).rfind(b"\n")
        if newline >= 0:
            end = begin + newline + 1
            break
        end = begin
    os.ftruncate(handle, end)
