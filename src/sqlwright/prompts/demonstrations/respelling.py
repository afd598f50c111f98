"""Worked examples in the dialect that a prompt asks for."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

WRITTEN = "sqlite"
"""The dialect that the examples' files are written in."""
STANDARD = "standard"
_LIKE = {"mariadb": "mysql"}


def respelled(text: str, dialect: str) -> str:
    """A text of an example as it reads in a dialect: queries, tables, and what is said of them. A
    dialect without rules of its own gets what is standard, and `other`."""
    for pattern, instead in _rules(dialect):
        text = pattern.sub(instead, text)
    return text


@cache
def _rules(dialect: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    if dialect == WRITTEN:
        return ()
    known = _listed()
    own = known.get(_LIKE.get(dialect, dialect), known["other"])
    listed = [*known[STANDARD], *own]
    return tuple((re.compile(found, re.MULTILINE), instead) for found, instead in listed)


@cache
def _listed() -> Mapping[str, list[list[str]]]:
    text = files("sqlwright.prompts.demonstrations").joinpath("respelling.toml")
    return tomllib.loads(text.read_text(encoding="utf-8"))
