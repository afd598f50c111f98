"""Keeps keys out of replies and errors, without changing what a model wrote.

Local servers take any key, and usual ones are `x`, `EMPTY`, `none` and `ollama`. Such a key is a
word that replies hold for reasons of their own, and no secret. So a reply loses a key only when the
key looks like a secret; an error, which is told to people, loses it wherever it stands as a token
of its own.
"""

from __future__ import annotations

import re

MASK = "***"
SECRET = 16
"""Characters a key has at least that is taken for a secret."""
VARIED = 8
"""Different ones of them."""

_CLASSES = (re.compile(r"[a-z]"), re.compile(r"[A-Z]"), re.compile(r"\d"))


def looks_secret(key: str) -> bool:
    """True if a key is too long and mixed to be a word: at least 16 characters, 8 different ones,
    and two of small letters, capitals and digits."""
    mixed = sum(bool(each.search(key)) for each in _CLASSES)
    return len(key) >= SECRET and len(set(key)) >= VARIED and mixed > 1


def reply_without_key(text: str, key: str) -> str:
    """A model's reply, unchanged unless it holds a key that looks like a secret."""
    return text.replace(key, MASK) if looks_secret(key) else text


def error_without_key(text: str, key: str) -> str:
    """The text of an error without the key: inside other words, too, where it looks like a secret.
    A part of a name, a path or a host is no token."""
    if looks_secret(key):
        return text.replace(key, MASK)
    if not key:
        return text
    return re.sub(rf"(?<![\w./-]){re.escape(key)}(?![\w/-]|\.\w)", MASK, text)
