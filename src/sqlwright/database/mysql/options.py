"""The options of a MySQL URL: where the server is, who asks, and how the way there is protected."""

from __future__ import annotations

import configparser
import math
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from sqlwright.database.address import Address
from sqlwright.database.served import OPEN_SECONDS
from sqlwright.errors import DatabaseUnavailable

_GROUPS = ("client", "client-server", "client-mariadb")
"""Groups that all clients read, the later ones count."""


def option_file(folder: Path | None = None) -> Mapping[str, str]:
    """Options of clients: `user`, `password` and others by their names; none where the file isn't
    there, can't be read, or may be written by everybody. `folder` is the home of the user."""
    path = (folder or Path(os.path.expanduser("~"))) / ".my.cnf"  # noqa: PTH111 - never raises
    try:
        if path.stat().st_mode & stat.S_IWOTH:
            return {}
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    read = configparser.RawConfigParser(
        allow_no_value=True, strict=False, delimiters=("=",), comment_prefixes=("#", ";")
    )
    try:
        # Words that include other files aren't followed.
        read.read_string("\n".join(line.strip() for line in lines if not line.startswith("!")))
    except configparser.Error:
        return {}
    found: dict[str, str] = {}
    for group in filter(read.has_section, _GROUPS):
        found |= {
            name.replace("-", "_"): _plain(value) for name, value in read.items(group) if value
        }
    return found


def _plain(value: str) -> str:
    text = value.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1]
    return text


_FILES = ("ssl_ca", "ssl_cert", "ssl_key")
_SWITCHES = ("ssl", "ssl_disabled", "ssl_verify_cert", "ssl_verify_identity")
_MODES = ("disabled", "preferred", "required", "verify_ca", "verify_identity")
"""From the weakest to the strictest: of several that a URL asks for, the strictest is kept."""
_OTHER_MODES = {
    "disable": "disabled", "prefer": "preferred", "require": "required",
    "verify_full": "verify_identity",
}  # fmt: skip
"""PostgreSQL's names of the same."""
_OTHER_NAMES = {
    "socket": "unix_socket", "database": "databases", "ssl_check_hostname": "ssl_verify_identity",
    "usessl": "ssl", "requiressl": "ssl", "verifyservercertificate": "ssl_verify_cert",
}  # fmt: skip
_KNOWN = (*_FILES, *_SWITCHES, "ssl_mode", "unix_socket", "databases", "connect_timeout", "user",
          "password")  # fmt: skip
_PLAIN = {name.replace("_", ""): name for name in _KNOWN if name != "connect_timeout"}
"""The same without underscores, as JDBC writes them; its time limits are milliseconds."""
_TRUE = {"1", "true", "yes", "on"}


@dataclass(frozen=True, slots=True, repr=False)
class Options:
    """A URL taken apart. Holds the password."""

    host: str
    port: int
    user: str
    password: str
    database: str
    """The database that names without one are looked for in; empty where the URL names none."""
    databases: tuple[str, ...]
    """Other databases that are asked for."""
    unix_socket: str
    tls: Mapping[str, str]
    """The mode, and files of certificates; empty for encryption where the server has it."""
    seconds: float
    """The time that connecting may take."""
    ignored: tuple[str, ...] = ()
    """Options of other clients, which aren't used."""

    @property
    def opening(self) -> dict[str, Any]:
        """The options that a worker needs to connect."""
        return {
            "host": self.host,
            "port": self.port,
            "user": self.user,
            "password": self.password,
            "database": self.database,
            "unix_socket": self.unix_socket,
            "tls": dict(self.tls),
            "seconds": self.seconds,
        }


def options_of(address: Address) -> Options:
    """The options that a URL gives. Raises DatabaseUnavailable, without repeating a value."""
    parts = urlsplit(address.text)
    given, ignored = _parameters(parts.query)
    path = unquote(parts.path.strip("/"))
    user = unquote(parts.username or "") or given.get("user", "")
    password = unquote(parts.password or "") or given.get("password", "")
    if parts.password is None and "password" not in given:
        kept = option_file()
        if user in {"", kept.get("user", user)}:  # else it is somebody else's
            user, password = user or kept.get("user", ""), kept.get("password", "")
    return Options(
        host=parts.hostname or "localhost",
        port=parts.port or 3306,
        user=user,
        password=password,
        database=path,
        databases=_listed(given.get("databases", ""), path),
        unix_socket=given.get("unix_socket", ""),
        tls=_tls(given),
        seconds=_seconds(given.get("connect_timeout")),
        ignored=ignored,
    )


def _parameters(query: str) -> tuple[dict[str, str], tuple[str, ...]]:
    """The options by their names here, and those of other clients. Raises DatabaseUnavailable for
    one that may ask for encryption."""
    found, ignored = dict[str, str](), list[str]()
    for written, value in parse_qsl(query, keep_blank_values=True):
        name = written.lower().replace("-", "_")
        name = _OTHER_NAMES.get(name, name)
        name = _PLAIN.get(name, name)
        if name in _KNOWN:
            found[name] = value
        elif name.startswith(("ssl", "tls")):
            raise DatabaseUnavailable(
                f"The database's URL has an option that isn't known: {written}.",
                hint=f"There are: {', '.join(_KNOWN)}.",
            )
        elif name != "charset":  # texts come in utf8mb4, whatever the URL says
            ignored.append(written)
    return found, tuple(ignored)


def _seconds(text: str | None) -> float:
    try:
        seconds = OPEN_SECONDS if text is None else float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < math.inf:
        raise DatabaseUnavailable(
            "The database's URL has a connect_timeout that isn't a number of seconds.",
            hint="Write connect_timeout=5.",
        )
    return seconds


def _listed(text: str, usual: str) -> tuple[str, ...]:
    names = dict.fromkeys(name.strip() for name in text.split(","))
    return tuple(name for name in names if name and name != usual)


def _tls(given: Mapping[str, str]) -> dict[str, str]:
    mode = given.get("ssl_mode", "").lower().replace("-", "_")
    mode = _OTHER_MODES.get(mode, mode)
    if mode and mode not in _MODES:
        raise DatabaseUnavailable(
            "The database's URL has an ssl_mode that isn't known.",
            hint=f"There are: {', '.join(_MODES)}.",
        )
    on = {name for name in _SWITCHES if given.get(name, "").lower() in _TRUE}
    files = {name: str(Path(given[name]).expanduser()) for name in _FILES if given.get(name)}
    if "ssl_disabled" in on or mode == "disabled":
        return {"mode": "disabled", **files}
    asked = [mode or "preferred"]
    asked += ["required"] if files or "ssl" in on else []
    asked += ["verify_ca"] if "ssl_verify_cert" in on or "ssl_ca" in files else []
    asked += ["verify_identity"] if "ssl_verify_identity" in on else []
    return {"mode": max(asked, key=_MODES.index), **files}
