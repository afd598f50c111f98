"""The file that an address names: bare paths and `sqlite:` URLs; anything else is refused."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

from sqlwright.errors import DatabaseUnavailable

_SCHEME = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]+):")
_LATER = {
    "postgresql": "PostgreSQL",
    "postgres": "PostgreSQL",
    "duckdb": "DuckDB",
    "mysql": "MySQL",
    "mariadb": "MariaDB",
}
_HINT = "Give the path of a SQLite file, such as shop.db or sqlite:///data/shop.db."


def parse_address(url_or_path: str) -> Path:
    """The absolute path of the SQLite file meant; symbolic links are followed later, by opening.

    `sqlite:///a/b.db` is relative, `sqlite:////a/b.db` absolute, `~` the home folder. Raises
    DatabaseUnavailable for other kinds of database, without repeating anything secret.
    """
    text = url_or_path.strip()
    if not text:
        raise DatabaseUnavailable("No database was named.", hint=_HINT)
    scheme = _SCHEME.match(text)
    if scheme and "://" in text[: scheme.end() + 2]:
        return _absolute(_sqlite_url_path(scheme[1].lower(), text[scheme.end() + 2 :]))
    if scheme and scheme[1].lower() in {"sqlite", "sqlite3", "file"}:
        return _absolute(unquote(text[scheme.end() :].partition("?")[0]))
    return _absolute(text)


def _sqlite_url_path(scheme: str, rest: str) -> str:
    kind = scheme.partition("+")[0]
    if kind not in {"sqlite", "sqlite3", "file"}:
        name = _LATER.get(kind, f"'{kind}'")
        raise DatabaseUnavailable(
            f"{name} databases are not supported yet; SQLite files are.", hint=_HINT
        )
    location = unquote(rest.partition("?")[0].partition("#")[0])
    if kind == "file":
        return location
    host, slash, path = location.partition("/")
    if host or not slash:
        # sqlite://shop.db is a common slip for sqlite:///shop.db; a password may stand there.
        raise DatabaseUnavailable(
            "A sqlite:// URL has no host part: a third slash is missing.",
            hint="Write sqlite:///shop.db (relative) or sqlite:////data/shop.db (absolute).",
        )
    if path in {"", ":memory:"}:
        raise DatabaseUnavailable("The URL names no file.", hint=_HINT)
    return path


def _absolute(path: str) -> Path:
    if path == ":memory:" or not path:
        raise DatabaseUnavailable("An in-memory database has nothing to ask.", hint=_HINT)
    if "\x00" in path:
        raise DatabaseUnavailable("The database's path contains a NUL character.", hint=_HINT)
    try:
        return Path(path).expanduser().absolute()
    except RuntimeError as error:  # ~someone without a home folder
        raise DatabaseUnavailable(f"{path}: no such home folder.", hint=_HINT) from error
