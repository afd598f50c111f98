"""The order of levels of difficulty, whoever named them."""

from __future__ import annotations

LEVELS = ("simple", "easy", "moderate", "medium", "hard", "challenging", "extra", "extra hard")
"""Levels of difficulty from the easiest, as Spider and BIRD call them."""


def level_place(name: str) -> tuple[int, str]:
    """The place of a level of difficulty, from the easiest; unknown ones come last, by name."""
    plain = name.casefold()
    return (LEVELS.index(plain) if plain in LEVELS else len(LEVELS), plain)
