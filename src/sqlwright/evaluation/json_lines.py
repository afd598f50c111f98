"""Files of one JSON object a line that only grow: each line is on disk before the next is made."""

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
    with path.open("a", encoding="utf-8") as file:
        file.write(line_of(row))
        file.flush()
        os.fsync(file.fileno())


def rows(path: Path, *, what: str, remedy: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows with their line numbers, from 1; a last line that a kill cut short is left out, and
    cut off the file. Raises DatasetError for any other line that isn't an object."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
        except ValueError:
            if number == len(lines):
                # Cut the stump off, or the next row would be glued to it.
                path.write_text("".join(lines[:-1]), encoding="utf-8")
                return
            row = None
        if not isinstance(row, dict):
            raise DatasetError(f"{path}, line {number} isn't {what}", hint=remedy)
        yield number, row
