"""Finds database and question in the arguments that were typed."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sqlwright.boundary.text import readable
from sqlwright.cli.failure import UsageError
from sqlwright.cli.terminal.text import clean
from sqlwright.database.address import (
    COMPRESSED,
    DATA_ENDINGS,
    DUCKDB_ENDINGS,
    is_address,
    shown_address,
)
from sqlwright.database.missing import nearest

if TYPE_CHECKING:
    from sqlwright.settings.values import Settings

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*://|(?:sqlite3?|duckdb|file):")
_ENDINGS = (
    ".sqlite", ".sqlite3", ".db", ".db3", ".s3db", ".sl3", *DUCKDB_ENDINGS, *DATA_ENDINGS,
    *(ending + packed for ending in DATA_ENDINGS for packed in COMPRESSED),
)  # fmt: skip
_PATTERN = re.compile(r"[^\s?]*\*[^\s?]*")
"""A glob of files; a question may hold a question mark."""
_NAMED = re.compile(r"[\w./~-]*\w\.[A-Za-z]\w{1,8}")
"""A word that is written as a file's name."""
_SQL = re.compile(r"\s*(?:select|with)\b.*\bfrom\b", re.IGNORECASE | re.DOTALL)
STDIN_LIMIT = 1_000_000
"""Bytes of a question or query that are read from standard input."""


@dataclass(frozen=True, slots=True)
class TypedQuestion:
    """A database and what to ask it."""

    database: str
    text: str
    note: str = ""
    """Remark on how the arguments were read, when that wasn't plain."""


def looks_like_database(word: str) -> bool:
    """True for a URL, an existing file, or a name written as a database file's or a path."""
    if _URL.match(word) or is_address(word):
        return True
    if not word or len(word) > 4096 or "\0" in word:
        return False
    try:
        path = Path(word).expanduser()
        if path.is_file() or (os.sep in word and path.exists()) or _is_data_folder(path):
            return True
    except (OSError, RuntimeError, UnicodeEncodeError):
        return False
    if word.lower().endswith(_ENDINGS) or _PATTERN.fullmatch(word):
        return " " not in word.strip() or os.sep in word
    return word.startswith(("/", "./", "../", "~")) and " " not in word


def read_target(
    words: Sequence[str], database: str | None, *, what: str = "question", accepted: bool = False
) -> TypedQuestion:
    """Divide the arguments into a database and a text.

    The database comes first; a database that comes last is taken too, with a note. Without one,
    the environment and the project file decide. Without a text (or with `-`), standard input is
    read. With `accepted` the database's login is accepted as it is. Raises UsageError when no
    database or no text can be made out.
    """
    rest = list(words)
    note = ""
    if database is None and rest:
        if looks_like_database(rest[0]) or names_a_missing_file(rest):
            database = rest.pop(0)
        elif len(rest) > 1 and looks_like_database(rest[-1]):
            database = rest.pop()
            shown = shown_address(database)
            note = f"taking '{shown}' for the database; it is usually written first"
    database = database or default_database(os.environ)
    if database is None:
        raise UsageError(
            "no database was named",
            hint=f"Write it before the {what}, as in: sqlwright ask shop.sqlite 'How many orders "
            "are there?' A path, a URL, SQLWRIGHT_DATABASE, DATABASE_URL and the project file "
            f"sqlwright.toml all work.{_left_alone()}",
        )
    if accepted:
        accept(database)
    return TypedQuestion(database, _text(rest, what), note)


def read_database(word: str | None, option: str | None = None) -> str:
    """The database of a command that takes nothing else."""
    database = option or word or default_database(os.environ)
    if database is None:
        raise UsageError(
            "no database was named",
            hint="Give a path or URL, or set SQLWRIGHT_DATABASE, or name one in sqlwright.toml."
            f"{_left_alone()}",
        )
    return database


def accept(database: str) -> None:
    """Remember that the login of a database is accepted as it is."""
    from sqlwright.boundary.accepted import accept_login
    from sqlwright.database.address import parse_address

    accept_login(parse_address(database).identity)


def default_database(environment: Mapping[str, str]) -> str | None:
    """The database to use when none is named: SQLWRIGHT_DATABASE, project file, DATABASE_URL."""
    return (
        environment.get("SQLWRIGHT_DATABASE")
        or _project(environment).database
        or environment.get("DATABASE_URL")
        or None
    )


def _is_data_folder(path: Path) -> bool:
    """True for a folder with files that are tables, here or below the working folder."""
    return path.is_dir() and any(
        found.name.lower().endswith(DATA_ENDINGS) for found in path.iterdir()
    )


def _project(environment: Mapping[str, str]) -> Settings:
    """The project file's settings, and the files that were left alone."""
    from sqlwright.boundary.project_file import NAMED
    from sqlwright.settings.loading import load_settings

    named = {name: environment[name] for name in (NAMED, "SUDO_UID") if name in environment}
    return load_settings(environ=named, folder=Path.cwd())


def _left_alone() -> str:
    """The project files that were left alone, as the end of a hint."""
    return "".join(f" Note: {clean(note, 1_000)}" for note in _project(os.environ).notes)


def names_a_missing_file(words: Sequence[str]) -> bool:
    """`shop "how many orders?"`: a short word before a quoted question is meant as a database, and
    so is a name like that of a file there, one before a word of any kind where no other database is
    known, and what no word of a question is."""
    word = words[0].strip()
    if not word or " " in word:
        return False
    if len(words) == 2 and (" " in words[1].strip() or is_address(word, first=True)):
        return True
    alone = len(words) > 1 and default_database(os.environ) is None
    return "." in word and (bool(nearest(Path(word))) or (alone and bool(_NAMED.fullmatch(word))))


def _text(words: Sequence[str], what: str) -> str:
    if words and list(words) != ["-"]:
        return readable(" ".join(words)).strip()
    if sys.stdin is None or (sys.stdin.isatty() and not words):
        raise UsageError(
            f"no {what} was given",
            hint=f"Write the {what} in quotes after the database, or pipe it in.",
        )
    buffer = getattr(sys.stdin, "buffer", None)
    if buffer is None:
        return sys.stdin.read(STDIN_LIMIT).strip()
    data: bytes = buffer.read(STDIN_LIMIT)
    return data.decode("utf-8", "replace").strip()


def reads_as_sql(text: str) -> bool:
    """True if a text looks like a query; some English does, too ("select names from Oslo")."""
    return _SQL.match(text) is not None
