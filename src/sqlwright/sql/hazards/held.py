"""The texts that a column holds beside numbers, or in their place, told from its profile."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlwright.catalog.records import ColumnProfile

MOST = 0.5
"""Least share of numbers among a column's known texts, those for no value apart, from which it is a
column of numbers; chosen: words among numbers are mostly few."""
_STYLED = frozenset({"number_grouped", "number_comma", "money", "percent"})
"""Formats of numbers that an engine doesn't read as such."""
_PLAIN = frozenset({"", "number_text"})
_NUMBER = re.compile(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,2})?\s*\Z")
_WHOLE = re.compile(r"[+-]?\d{1,15}\Z")


def is_number(text: str) -> bool:
    """True of a text that is nothing but a number."""
    return _NUMBER.match(text) is not None


@dataclass(frozen=True, slots=True)
class Held:
    """A column of numbers that isn't nothing but numbers."""

    words: tuple[str, ...] = ()
    """Texts among its numbers, a few of them."""
    digits: bool = False
    """Numbers stand in it as texts."""
    misplaced: tuple[str, str] | None = None
    """Two of its numbers whose order as texts isn't theirs, the lesser text first."""
    whole: bool = False
    """Each of its numbers is known and whole."""
    styled: bool = False
    """Its numbers are written with signs: money, grouped thousands."""
    mixed: bool = False
    """Texts may stand among its numbers, known ones or others."""


def held(profile: ColumnProfile) -> Held | None:
    """The texts that a column of numbers holds; None for any other column, and
    for one that holds nothing but numbers."""
    texts = list(dict.fromkeys(_texts(profile)))
    blank = {text for text, _ in profile.missing}
    numbers = [text for text in texts if is_number(text)]
    words = tuple(text for text in texts if not is_number(text))
    stored = profile.storage.get("integer", 0) + profile.storage.get("real", 0)
    as_text = profile.storage.get("text", 0)
    if not as_text:
        return None
    if stored:
        missing = sum(rows for _, rows in profile.missing)
        if stored < (as_text - missing) * MOST:
            return None
        return Held(words, bool(numbers), mixed=True)
    name = profile.formats[0].name if profile.formats else ""
    if name in _STYLED:
        return Held(misplaced=_misplaced(texts), digits=True, styled=True)
    of_words = [text for text in words if text not in blank]
    enough = len(numbers) > 1 and len(numbers) >= MOST * (len(numbers) + len(of_words))
    if name not in _PLAIN or not (enough or name):
        return None
    whole = profile.complete and all(_WHOLE.match(text.strip()) for text in numbers)
    sure = not words and (profile.complete or (bool(name) and profile.formats[0].share >= 1.0))
    return Held(words, True, _misplaced(numbers), whole, mixed=not sure)


def _texts(profile: ColumnProfile) -> Iterator[str]:
    yield from (text for text, _ in profile.missing)
    seen = [*profile.odd, *profile.frequent, (profile.minimum, 1), (profile.maximum, 1)]
    yield from (value for value, _ in seen if isinstance(value, str))


def _misplaced(texts: Sequence[str]) -> tuple[str, str] | None:
    valued = [(text, float(digits)) for text in texts if (digits := _digits(text)) is not None]
    ordered = sorted(valued)
    return next(((a, b) for (a, x), (b, y) in pairwise(ordered) if x > y), None)


def _digits(text: str) -> str | None:
    """A number without its signs, for comparing; None where it can't be told."""
    bare = text.strip()
    if not is_number(bare):
        if re.search(r",\d{1,2}(?!\d)", bare):
            bare = bare.replace(".", "").replace(",", ".")
        bare = re.sub(r"[^\d.+-]", "", bare)
    return bare if is_number(bare) else None
