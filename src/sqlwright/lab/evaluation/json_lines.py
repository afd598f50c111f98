"""Files of one JSON object a line that only grow: each line is on disk before the next is made.

A line ends with a newline, or a kill cut it short: readers leave it out, and the next line that is
added takes its place.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sqlwright.errors import DatasetError


def line_of(row: Mapping[str, Any]) -> str:
    """A row as a line."""
    return json.dumps(row, ensure_ascii=False) + "\n"


def append(path: Path, row: Mapping[str, Any]) -> None:
    """Add one row, on disk before this returns."""
    with path.open("ab+") as file:
        _cut_stump(file.fileno())
        # A question may hold half a character, which JSON can escape and UTF-8 can't write.
        file.write(line_of(row).encode(errors="replace"))
        file.flush()
        os.fsync(file.fileno())


def rows(path: Path, *, what: str, remedy: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows with their line numbers, from 1, read as they are asked for. Raises DatasetError for
    a line that isn't an object."""
    for number, (_, row) in enumerate(placed_rows(path, what=what, remedy=remedy), 1):
        yield number, row


def placed_rows(path: Path, *, what: str, remedy: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """As `rows`, each with the place in the file at which it begins."""
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
    """The row that begins at a place that `placed_rows` gave."""
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
