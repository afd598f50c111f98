"""Databases whose login somebody has said may be used, although nothing but the login itself keeps
it from writing: kept in the home folder, once for each identity."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from sqlwright.boundary.home import home, make_private


def accept_login(identity: str) -> None:
    """Keep that the login of a database was accepted. Raises OSError."""
    place = _place(identity)
    make_private(place.parent)
    number = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(number, "w", encoding="utf-8") as file:
        file.write(f"{identity}\n")


def login_accepted(identity: str) -> bool:
    """True if the login of a database was accepted before."""
    return _place(identity).exists()


def _place(identity: str) -> Path:
    return home() / "accepted_logins" / hashlib.sha256(identity.encode()).hexdigest()[:32]
