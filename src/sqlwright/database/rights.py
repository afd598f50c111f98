"""The rights of a login to a server, were it not for sqlwright."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LoginRights:
    """A login beyond reading."""

    name: str
    more: tuple[str, ...]
    """All that it could do besides reading, in words; empty for one that only reads."""
    statements: tuple[str, ...] = ()
    """Statements that make a login which can only read, for whoever may make one."""
