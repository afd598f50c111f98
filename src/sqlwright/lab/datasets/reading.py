"""Reads the files of data sets, and finds the databases that they name."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from sqlwright.boundary.yaml_text import read_yaml
from sqlwright.errors import ConfigError, DatasetError

ENDINGS = (".sqlite", ".db", ".sqlite3")
"""Endings of database files, the usual one first."""
FORMATS = ".yaml, .yml, .json, .jsonl and .csv"
WHOLE = 16 * 1024 * 1024
"""Bytes of a database that are hashed as a whole at most."""
BLOCK = 64 * 1024
"""Bytes of each block that is hashed of a larger database."""
BLOCKS = 64
"""Blocks, spread evenly over the file."""

_HINT = "Point at the folder that holds the benchmark's files."


def read_text(path: Path) -> str:
    """A file's text. Raises DatasetError."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise DatasetError(f"{path} is missing", hint=_HINT) from None
    except (OSError, ValueError) as error:
        raise DatasetError(f"{path} can't be read: {error}") from None


def read_json(path: Path) -> Any:
    """A JSON file's content. Raises DatasetError when it is missing or isn't JSON."""
    text = read_text(path)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"{path} can't be read as JSON: {error}") from None


def read_rows(path: Path) -> list[Any]:
    """The records of a file by its ending: a list in YAML or JSON, JSON lines, or CSV with a
    header. Raises DatasetError."""
    text, kind = read_text(path), path.suffix.lower()
    try:
        if kind == ".csv":
            return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
        if kind == ".jsonl":
            return [json.loads(line) for line in text.split("\n") if line.strip()]
        if kind == ".json":
            return _listed(json.loads(text) if text.strip() else [], path)
        if kind in {".yaml", ".yml"}:
            return _listed(read_yaml(text, str(path)) if text.strip() else [], path)
    except ConfigError as error:
        raise DatasetError(str(error)) from None
    except (ValueError, csv.Error, RecursionError) as error:
        what = "JSON" if kind.startswith(".json") else "CSV"
        raise DatasetError(f"{path} can't be read as {what}: {error}") from None
    raise DatasetError(f"{path} has none of the endings {FORMATS}")


def _listed(data: Any, path: Path) -> list[Any]:
    if not isinstance(data, list):
        raise DatasetError(f"{path} isn't a list of questions")
    return data


def question_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The records of a question file, each with its position for messages. Raises DatasetError."""
    for number, row in enumerate(read_rows(path)):
        where = f"{path}, question {number}"
        if not isinstance(row, dict):
            raise DatasetError(f"{where} isn't an object")
        yield where, row


def first_present(folder: Path, names: Iterable[str]) -> Path:
    """The first of `names` that exists in `folder`. Raises DatasetError naming all of them."""
    tried = list(names)
    for name in tried:
        if (folder / name).exists():
            return folder / name
    raise DatasetError(f"{folder} has none of {', '.join(tried)}", hint=_HINT)


def text_field(row: Mapping[str, Any], names: Iterable[str], where: str) -> str:
    """The first of several possible fields of a record. Raises DatasetError naming them."""
    tried = list(names)
    for name in tried:
        if isinstance(row.get(name), str):
            return str(row[name])
    raise DatasetError(f"{where} has no {' or '.join(tried)}")


def database_name(row: Mapping[str, Any], names: Iterable[str], where: str) -> str:
    """The database that a record names. Raises DatasetError, also for a name that leads out of the
    folder: question files may come from anybody."""
    name = text_field(row, names, where).strip()
    if not name or name in {".", ".."} or set(name) & set("/\\\0"):
        raise DatasetError(f"{where} names the database {name!r}, which is no plain name")
    return name


def find_database(places: Iterable[Path], name: str) -> Path:
    """The database's file in the first of several folders that has it, in a folder of its name or
    beside the others; the place where it is expected, if none has."""
    tried = [
        place / inside / f"{name}{ending}"
        for place in places
        for inside in (name, "")
        for ending in ENDINGS
    ]
    return next((path for path in tried if path.exists()), tried[0])


def file_digest(path: Path) -> str:
    """The SHA-256 of a file. Raises DatasetError."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DatasetError(f"{path} can't be read: {error.strerror}") from None


def database_digest(path: Path) -> str:
    """A database's size and a SHA-256: of the whole file, or of the first, the last and some blocks
    in between of a large one. Raises OSError."""
    size = path.stat().st_size
    digest = hashlib.sha256()
    with path.open("rb") as file:
        if size <= WHOLE:
            digest.update(file.read())
        else:
            for number in range(BLOCKS):
                file.seek((size - BLOCK) * number // (BLOCKS - 1))
                digest.update(file.read(BLOCK))
    return f"{size}:{digest.hexdigest()}"


def digests(folder: Path, paths: Iterable[Path]) -> dict[str, str]:
    """The SHA-256 of question files by their paths in the folder."""
    return {path_in(folder, path): file_digest(path) for path in paths}


def path_in(folder: Path, path: Path) -> str:
    """A path as seen from a folder, the same on every machine."""
    return Path(os.path.relpath(path, folder)).as_posix()
