"""The words of questions that the critic's weights were fitted with, as patterns and lists by name.

They stand in `weights/critic_cues.txt`: with other words the features would be others, and the
weights would have to be fitted again. Everything that no weights depend on asks `english`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files


@cache
def _entries() -> Mapping[str, tuple[str, ...]]:
    """The lines of each entry by its name; an empty line ends it."""
    text = (files("sqlwright.local") / "weights" / "critic_cues.txt").read_text(encoding="utf-8")
    entries = (entry.split("\n") for entry in text.strip().split("\n\n"))
    return {name: tuple(line.strip() for line in lines) for name, *lines in entries}


def patterns(family: str) -> dict[str, re.Pattern[str]]:
    """The patterns of a family of features, in the order of its weights."""
    return {
        name.removeprefix(f"{family}."): re.compile("".join(lines), re.IGNORECASE)
        for name, lines in _entries().items()
        if name.startswith(f"{family}.")
    }


def words(name: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(" ".join(_entries()[name]).split())
