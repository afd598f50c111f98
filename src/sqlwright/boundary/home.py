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
from pathlib import Path

HOME_VARIABLE = "SQLWRIGHT_HOME"
PRIVATE = 0o700
"""Mode of our folders: nobody but the owner may look in."""


def home() -> Path:
    """The folder for everything kept: `SQLWRIGHT_HOME`, else the user's cache folder."""
    named = os.environ.get(HOME_VARIABLE)
    return Path(named).expanduser().absolute() if named else usual_home()


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
