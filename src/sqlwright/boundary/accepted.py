"""Logins that a user has accepted as they are: to a server where nothing but the login's own rights
keeps a query from writing."""

from __future__ import annotations

import os
from pathlib import Path

from sqlwright.boundary.home import home, make_private

FILE = "accepted_logins"
"""A line for each, in the folder that holds everything sqlwright keeps: identities, no secrets."""


def accept_login(identity: str, *, folder: Path | None = None) -> None:
    """Remember that a login, by its database's identity, is accepted."""
    if is_accepted(identity, folder=folder):
        return
    place = home() if folder is None else folder
    make_private(place)
    descriptor = os.open(place / FILE, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(descriptor, "a", encoding="utf-8") as file:
        file.write(identity.replace("\n", " ") + "\n")


def is_accepted(identity: str, *, folder: Path | None = None) -> bool:
    """True if a login was accepted once."""
    try:
        known = ((home() if folder is None else folder) / FILE).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return False
    return identity.replace("\n", " ") in known
