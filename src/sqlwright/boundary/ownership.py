"""Files and folders that somebody else could write, or could have written."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping


def trusted_users(environ: Mapping[str, str]) -> frozenset[int]:
    """The user, root, and who became root by sudo."""
    trusted = {os.geteuid(), 0}
    before = environ.get("SUDO_UID", "")
    if os.geteuid() == 0 and before.isascii() and before.isdigit():
        trusted.add(int(before[:20]))
    return frozenset(trusted)


def distrust(files: Iterable[os.stat_result], trusted: frozenset[int]) -> str:
    """The reason not to obey a file, or not to keep things in a folder; empty where there is none.
    A link is looked at like its target: the paths in a file are relative to the link's folder."""
    for found in files:
        if found.st_uid not in trusted:
            return f"it belongs to another user ({_user(found.st_uid)})"
        if not stat.S_ISLNK(found.st_mode) and found.st_mode & stat.S_IWOTH:
            return "every user may write it"
    return ""


def _user(number: int) -> str:
    import pwd

    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"user {number}"
