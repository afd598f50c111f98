"""Names as SQLite compares them."""

from __future__ import annotations

import string

_CAPITALS = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def fold_name(name: str) -> str:
    """A to Z in lower case and nothing else: Ö and ö, k and the sign for kelvin, are two names."""
    return name.lower() if name.isascii() else name.translate(_CAPITALS)
