"""Numbers with a unit, in a question: “30 minutes”, “100 MB”."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sqlwright.english.cues import one_of
from sqlwright.english.vocabulary import UNITS

NUMBER = r"(?P<number>\d+(?:,\d{3})*(?:\.\d+)?)"
"""A regular expression for a number."""
ANY_UNIT = one_of({unit for units in UNITS for unit in units})
"""A regular expression for every unit."""
_MEASURED = re.compile(rf"(?<![\w.]){NUMBER}[\s-]?(?P<unit>{ANY_UNIT})s?(?!\w)", re.IGNORECASE)
_LASTING = re.compile(rf"(?<![\w.]){NUMBER}[\s-]?(?P<unit>month|year)s?(?!\w)", re.IGNORECASE)
_NAMES = {0.001: "millisecond", 1: "second", 60: "minute", 3600: "hour", 86400: "day",
          604800: "week"}  # fmt: skip
"""Units of time in full, by their seconds."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A number with a unit."""

    number: float
    unit: str
    """As it is written, in lower case and singular: "mins", "kb"."""
    said: str
    """The words that say it."""
    span: tuple[int, int]
    """Their first character and end."""


def measures(text: str) -> Iterator[Measure]:
    """The numbers with a unit of time, data, mass or length, in order."""
    return map(_measure, _MEASURED.finditer(text))


def spans_of_time(text: str) -> dict[float, str]:
    """The numbers that stand before a unit of time, each with it in full: {30: "30 minutes"}. A
    number that stands before two different ones is left out."""
    found: dict[float, set[str]] = {}
    for one in (*measures(text), *map(_measure, _LASTING.finditer(text))):
        name = one.unit if one.unit in {"month", "year"} else _NAMES.get(UNITS[0].get(one.unit, 0))
        if name is not None:
            found.setdefault(one.number, set()).add(f"{one.number:g} {name}s")
    return {number: said.pop() for number, said in found.items() if len(said) == 1}


def number_in(match: re.Match[str]) -> float:
    """The number of a match of `NUMBER`."""
    return float(match.group("number").replace(",", ""))


def _measure(match: re.Match[str]) -> Measure:
    return Measure(number_in(match), match.group("unit").casefold(), match.group(), match.span())
