"""The folder where sqlwright keeps things of its own, and how they are kept private.

Traces, replies and prepared data hold values of the user's databases, and the names of folders tell
those of databases: all folders are 0700 from the topmost one on and all files 0600, whatever the
umask. Only a folder that the user named himself, with `SQLWRIGHT_HOME` or in Python, keeps its mode
where it is there already: others may need it.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from sqlwright.errors import ConfigError


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


HOME_VARIABLE = "SQLWRIGHT_HOME"
PRIVATE = 0o700
"""Mode of our folders: nobody but the owner may look in."""


def home() -> Path:
    """The folder for everything kept: `SQLWRIGHT_HOME`, else the user's cache folder. Raises
    ConfigError."""
    named = os.environ.get(HOME_VARIABLE)
    return own_home(Path(named).expanduser().absolute()) if named else usual_home()


def own_home(folder: Path) -> Path:
    """A folder for everything kept that the user named, whether or not it is there. Raises
    ConfigError where others could put something into it, or lead what is written elsewhere."""
    try:
        reason = distrust((folder.lstat(), folder.stat()), trusted_users(os.environ))
        links = [path for path in folder.iterdir() if path.is_symlink()]
    except OSError:  # what can't be used is told when it is
        return folder
    away = (path for path in links if not path.resolve().is_relative_to(folder.resolve()))
    reason = reason or next((f"{path.name} in it is a link to elsewhere" for path in away), "")
    if reason:
        raise ConfigError(
            f"{folder} can't hold what sqlwright keeps: {reason}",
            hint=f"Name a folder of your own with {HOME_VARIABLE}, which only you may write to.",
        )
    return folder


def usual_home() -> Path:
    """The folder for everything kept where nobody named another."""
    from platformdirs import user_cache_path

    return user_cache_path("sqlwright")


def make_private(folder: Path) -> None:
    """Make a folder that only its owner can enter, and those above it that aren't there; close one
    that was open to others, the usual home around it included. Raises OSError, PermissionError
    where it belongs to another user."""
    usual, named = usual_home(), home()
    for path in (*reversed(folder.parents), folder):
        within = path.is_relative_to(usual) or named in path.parents
        if not path.exists():
            path.mkdir(mode=PRIVATE, exist_ok=True)
        elif path != folder and not within:
            continue
        _close(path)


def _close(folder: Path) -> None:
    """Let nobody but its owner into a folder that is the user's."""
    found = folder.stat()
    if not stat.S_ISDIR(found.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    if found.st_uid != os.geteuid():
        raise PermissionError(errno.EPERM, "it belongs to another user", str(folder))
    if stat.S_IMODE(found.st_mode) != PRIVATE:
        folder.chmod(PRIVATE)
