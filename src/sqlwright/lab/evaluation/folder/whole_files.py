"""Files that are whole or aren't there."""

from __future__ import annotations

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
    aside = path.with_name(path.name + ".part")
    with aside.open("wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
    if path.exists():
        shutil.copymode(path, aside)
    aside.replace(path)


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
