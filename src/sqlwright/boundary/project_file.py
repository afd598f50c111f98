"""The project file: which one holds, whether whoever wrote it is trusted, and what stands in it.

A project file says where questions and stored values are sent, so it is obeyed only where the user
could have written it, as version control does with the configuration of a repository: it, and a
link to it, belong to the user or to root, and not everybody may write it. Another one is as if it
weren't there, and a note says so; the variable `SQLWRIGHT_PROJECT` names a file to trust.
"""

from __future__ import annotations

import os
import shlex
import stat
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlwright.boundary.home import distrust, trusted_users
from sqlwright.errors import ConfigError

FILE = "sqlwright.toml"
OTHER = "pyproject.toml"
NAMED = "SQLWRIGHT_PROJECT"
LARGEST = 64 * 1024
"""Bytes a `sqlwright.toml` may have."""
LARGEST_OTHER = 1024 * 1024
"""Bytes of the largest `pyproject.toml` that is looked into."""


@dataclass(frozen=True)
class ProjectFile:
    """One that holds, with its keys as TOML gives them."""

    path: Path
    table: Mapping[str, Any]


def find(
    folder: Path | None, environ: Mapping[str, str]
) -> tuple[ProjectFile | None, tuple[str, ...]]:
    """The file that `SQLWRIGHT_PROJECT` names, else the nearest trusted one in `folder` or above
    it; and a note on each that was left alone. Raises ConfigError."""
    if named := environ.get(NAMED):
        return _named(Path(named).expanduser().absolute()), ()
    notes: list[str] = []
    trusted = trusted_users(environ)
    for path in _places(folder):
        looked = _look(path, trusted)
        if looked is None:
            continue
        content, reason = looked
        if not reason:
            table = _table(path, content)
            if table is not None:
                return ProjectFile(path, table), tuple(notes)
        elif path.name == FILE or b"tool.sqlwright" in content:
            notes.append(
                f"the project file {path} was left alone: {reason}. If you trust it, name it: "
                f"{NAMED}={shlex.quote(str(path))}"
            )
    return None, tuple(notes)


def _places(folder: Path | None) -> Iterable[Path]:
    for path in () if folder is None else (folder, *folder.parents):
        yield path / FILE
        yield path / OTHER


def _look(path: Path, trusted: frozenset[int]) -> tuple[bytes, str] | None:
    """Content of a regular file, and the reason not to obey it, empty where there is none. None
    where there is none, or a `pyproject.toml` that can't be read or is too large to be one of ours.
    Raises ConfigError for a file of the user's own that can't be read."""
    try:
        link, target = path.lstat(), path.stat()
    except OSError:
        return None
    if not stat.S_ISREG(target.st_mode):
        return None
    largest = LARGEST if path.name == FILE else LARGEST_OTHER
    try:
        # What is judged is what is read, whoever puts another file there meanwhile.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        with open(handle, "rb") as file:  # noqa: PTH123 - from a descriptor
            reason = distrust((link, os.fstat(handle)), trusted)
            content = file.read(largest + 1)
        problem = "is too large for a project file" if len(content) > largest else ""
    except OSError as error:
        reason = distrust((link, target), trusted)
        content, problem = b"", f"can't be read: {error.strerror}"
    if problem and path.name == OTHER:
        return None
    if problem and not reason:
        raise ConfigError(f"{path} {problem}")
    return content, reason


def _named(path: Path) -> ProjectFile:
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_OTHER + 1)
    except OSError as error:
        raise ConfigError(
            f"the project file {path} can't be read: {error.strerror}", hint=f"{NAMED} names it."
        ) from None
    if len(content) > LARGEST_OTHER:
        raise ConfigError(f"{path} is too large for a project file")
    table = _table(path, content)
    if table is None:
        raise ConfigError(f"{path} has no table [tool.sqlwright]", hint=f"{NAMED} names it.")
    return ProjectFile(path, table)


def _table(path: Path, content: bytes) -> Mapping[str, Any] | None:
    """The keys of a file; None for a `pyproject.toml` that has none for us. Raises ConfigError."""
    if path.name == OTHER and b"sqlwright" not in content:
        return None
    try:
        read = tomllib.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:  # also an integer of thousands of digits
        if path.name == OTHER:
            return None  # somebody else's file; theirs to put right
        raise ConfigError(f"{path} is not readable as TOML: {error}") from None
    if path.name != OTHER:
        return read
    tool = read.get("tool")
    table = tool.get("sqlwright") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise ConfigError(f"{path}: [tool.sqlwright] is not a table")
    return table
