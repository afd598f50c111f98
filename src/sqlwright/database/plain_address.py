"""Addresses as people copy them from other programs, read as the path or URL that they mean; and
whether a text may hold a password, so that no message repeats it."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote, unquote, urlencode

FILE_SCHEMES = {"sqlite": "sqlite", "sqlite3": "sqlite", "file": "", "duckdb": "duckdb"}
"""Schemes of files and the engine that reads them; empty: by the file's name and first bytes."""
SERVER_SCHEMES = {
    **dict.fromkeys(("postgresql", "postgres", "postgre", "pgsql", "psql", "pg"), "postgres"),
    **dict.fromkeys(("mysql", "mysql2", "mariadb"), "mysql"),
}
"""Schemes of servers that something is written for, and the engine's folder; also those that other
programs use."""
_AROUND = "\"'`\u2018\u2019\u201c\u201d\u00ab\u00bb<>,; \t\r\n\f\v\u00a0\u200b\u2060\ufeff"
"""Characters at the ends of an address that was copied with what stood around it."""
_BEFORE = re.compile(
    r"^(?:(?:export\s+|set\s+)?\w*(?:URL|URI|DSN|DATABASE)\s*=|[a-z]\w*\s+(?:-d\s*|--\w+[= ])?)"
    r"\s*(?=[\"'`\u201c]?(?:[A-Za-z][\w+.:-]*:/|(?:host|hostaddr|dbname|service)\s*=))",
    re.IGNORECASE,
)
"""A variable or a program before an address."""
_JDBC = re.compile(r"^jdbc:(?=[a-z]\w*:)", re.IGNORECASE)
_SERVER = re.compile(
    rf"({'|'.join(sorted(SERVER_SCHEMES, key=len, reverse=True))})(\+\w+)?(:?)(/*)(?=\S)(.*)",
    re.IGNORECASE | re.DOTALL,
)
_BREAK = re.compile(r"(?<=[@/:?&=,.-])\s*[\r\n]+\s*|\s*[\r\n]+\s*(?=[@/:?&=,.-])")
_KEYWORD = re.compile(r"\s*(\w+)\s*=\s*('(?:[^'\\]|\\.)*'|(?:[^\s\\;]|\\.)*)(?=\s|$)", re.DOTALL)
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]")
_ADDRESS = re.compile(
    r"\S*(?:[A-Za-z]://\S|[:/][^\s@]*@\S)|(?:[^\s:]*:){4}\S+$|[\w ]+=[^;=]*;\s*[\w ]+="
    r"|\w+\s*=\s*\S+(?:\s+\w+\s*=\s*\S+)+$|(?:psql|pgcli|mysql|mariadb)\s+(?:-|\S+$)"
)
"""Beginnings of addresses in words and settings, a line of a file of passwords, a program."""
_ODD_WORD = re.compile(r"\S*(?:[@;&=\\{}|<>]|:\S|\?\S|//)\S*")
_SETTING = re.compile(r"\w[=:]\S")
_LIBPQ = frozenset({"host", "hostaddr", "dbname", "service"})
SECRET_WORDS = re.compile(
    r"(?:pass|pwd|\bpw|secret|token|credential)\w*[\"']?\s*[=:]|\bkey\s*[=:]", re.IGNORECASE
)
_UNLIKE_PATHS = re.compile(r"[@;&|<>{}\x00-\x1f]|(?<!^[A-Za-z]):|=[^/]*\s|\s[^/]*=|(?:^|\s)--?\w")
"""Parts of addresses, command lines and settings that few paths have."""


def plain_address(text: str) -> str:
    """The path or URL that is meant, without what was copied along with it; a text that names a
    file as it is. libpq's `host=... dbname=...` and JDBC's forms become URLs."""
    text = text.strip()
    if is_there(text):
        return text
    before = ""
    while before != text:
        before, text = text, text.strip(_AROUND)
        text = _JDBC.sub("", _BEFORE.sub("", text, count=1), count=1)
    if (pairs := _keywords(text)) is not None:
        return _url_of(pairs)
    found = _SERVER.fullmatch(text)
    if found is None or not (found[3] or len(found[4]) >= 2):
        return text
    scheme, driver, _, slashes, rest = found.groups()
    if len(slashes) < 2:
        slashes = "//" if "@" in rest or "/" in rest or slashes else "///"
    # A line break comes from where the address was wrapped, a blank is part of a name.
    rest = _BREAK.sub("", rest).replace(" ", "%20")
    return f"{scheme}{driver or ''}:{slashes}{rest}"


def is_address(word: str, *, first: bool = False) -> bool:
    """True for a text that is surely meant as an address, whether or not it can be read as one; a
    question isn't. With `first`, before other words, one word with signs that no word has, too."""
    plain = plain_address(word)
    if _CONTROLS.search(plain):
        return False
    settings = len(_SETTING.findall(plain)) > 1 and SECRET_WORDS.search(plain) is not None
    odd = first and _ODD_WORD.fullmatch(plain) is not None
    return settings or odd or _ADDRESS.match(plain) is not None


def may_hold_secret(text: str) -> bool:
    """True for a text that isn't surely a path: it may be an address with a password in it, in a
    form that nothing here can read."""
    return any(
        SECRET_WORDS.search(form) is not None or _UNLIKE_PATHS.search(form) is not None
        for form in (text, unquote(text))
    )


def is_there(text: str) -> bool:
    """True if a path or a pattern names something that exists."""
    try:
        path = str(Path(text).expanduser())
        if os.path.exists(path):  # noqa: PTH110 - never raises
            return True
        return glob.has_magic(path) and next(glob.iglob(path), None) is not None  # noqa: PTH207
    except (RuntimeError, ValueError, OSError):
        return False


def ignored_note(names: Iterable[str]) -> tuple[str, ...]:
    """The note on options of an address that are other programs'."""
    told = ", ".join(dict.fromkeys(names))
    return (f"Options of the database's address that aren't used here: {told}.",) if told else ()


def _keywords(text: str) -> dict[str, str] | None:
    """The parameters of libpq's keyword form; None for any other text."""
    pairs, place = dict[str, str](), 0
    while place < len(text):
        found = _KEYWORD.match(text, place)
        if found is None:
            return None
        value = found[2]
        value = value[1:-1] if value.startswith("'") else value
        pairs[found[1].lower()] = re.sub(r"\\(.)", r"\1", value, flags=re.DOTALL)
        place = found.end()
    return pairs if len(pairs) > 1 and not _LIBPQ.isdisjoint(pairs) else None


def _url_of(pairs: dict[str, str]) -> str:
    """PostgreSQL's URL for parameters. Sockets and services stay parameters."""
    host = pairs.pop("host") if re.fullmatch(r"[\w.-]+", pairs.get("host", "")) else ""
    port = f":{pairs.pop('port')}" if host and "port" in pairs else ""
    user, password = pairs.pop("user", ""), pairs.pop("password", "")
    who = quote(user, safe="") + (f":{quote(password, safe='')}" if password else "")
    name = quote(pairs.pop("dbname", ""), safe="")
    rest = f"?{urlencode(pairs)}" if pairs else ""
    return f"postgresql://{who}{'@' if who else ''}{host}{port}/{name}{rest}"
