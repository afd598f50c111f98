"""The user's own option file, `~/.my.cnf`, in which MySQL's and MariaDB's clients look for what a
call doesn't say."""

from __future__ import annotations

import configparser
import os
import stat
from collections.abc import Mapping
from pathlib import Path

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
