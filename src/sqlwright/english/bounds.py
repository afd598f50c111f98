"""Words that make a time a bound: before it, behind it, and between the two ends of a range; and
phrases that compare with an amount, or say one with its unit: “30 minutes”, “100 MB”."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from sqlwright.english.cues import COMPARATIVES, one_of, whole_words
from sqlwright.english.vocabulary import MONTHS, NUMBERS, UNITS

Bound = Literal["<", ">", "<=", ">="]

LEADS: dict[str | None, str] = {
    None: "", "<": "before ", ">": "after ", "<=": "until ", ">=": "since ",
}  # fmt: skip
"""A word for each comparison with a time."""

_DENIED = r"(?:not?|never|none)\s+(?:any\s+)?"
_BOUNDS: dict[Bound, str] = {
    ">=": rf"since|on\s+or\s+(?:after|later\s+than)|{_DENIED}(?:before|prior\s+to)"
    rf"|{_DENIED}(?:earlier|sooner|older)\s+than",
    "<=": rf"(?:(?:up\s+)?(?:until|till)|up\s+to)(?:\s+and\s+including)?"
    rf"|on\s+or\s+(?:before|earlier\s+than)|{_DENIED}(?:after|past|beyond)"
    rf"|{_DENIED}(?:later|newer|more\s+recent)\s+than|as\s+late\s+as",
    ">": r"after|(?:later|newer|more\s+recent)\s+than",
    "<": r"before|prior\s+to|preceding|(?:earlier|older|sooner)\s+than"
    r"|(?:up\s+to|until|till)\s*,?\s*(?:but\s+)?(?:not\s+including|excluding)",
}
"""Words before a time that say how to compare with it, by operator; the first that fits counts.
Other words may ask for any comparison."""
_OF_DAYS: dict[Bound, str] = {
    ">=": r"(?:start|beginn)ing(?:\s+(?:on|from|with|in|at))?|from\s+and\s+including",
    "<=": r"(?:through|thru|by|ending(?:\s+(?:on|with|in|at))?)(?:\s+and\s+including)?",
    ">": r"past|beyond|following",
    "<": r"ahead\s+of",
}
"""Words that are bounds before days and months; before a number they may mean other things."""


def _ends(words: str) -> re.Pattern[str]:
    edge = r"(?:(?P<edge>end|start|beginning)\s+of\s+(?:the\s+)?)?(?:(?:year|date|day)\s+)?$"
    return re.compile(rf"\b(?:{words})\s+(?:the\s+)?{edge}", re.IGNORECASE)


_EDGES: dict[tuple[Bound, str], Bound] = {
    ("<", "end"): "<=", (">=", "end"): ">",
    (">", "start"): ">=", (">", "beginning"): ">=", ("<=", "start"): "<", ("<=", "beginning"): "<",
}  # fmt: skip
"""Comparisons with a time whose end or beginning is said: before the end of May is until May."""
_BEFORE = tuple((bound, _ends(words)) for bound, words in _BOUNDS.items())
_BEFORE_DAYS = (*_BEFORE, *((bound, _ends(words)) for bound, words in _OF_DAYS.items()))
# A comparison with another time is none with the one before it: “before May or after July”.
_NO_TIME = (
    r"(?!\s+(?:than|the|this|last|next|\S*\d|(?:yester|to)day|tomorrow"
    rf"|(?:{one_of(MONTHS)})\b))"
)
_AFTER: dict[Bound, str] = {
    ">=": rf"(?:and|or)\s+(?:later|after(?:wards?)?|newer|onwards?|beyond){_NO_TIME}"
    r"|onwards?|forwards?|at\s+the\s+earliest|on(?=\s*(?:[.,;?!]|$))",
    "<=": rf"(?:and|or)\s+(?:earlier|before|older){_NO_TIME}|at\s+the\s+latest",
}
_BEHIND = tuple(
    (bound, re.compile(rf"\s*,?\s*(?:{words})(?!\w)", re.IGNORECASE))
    for bound, words in _AFTER.items()
)
_FROM = re.compile(r"\bfrom\s+(?:the\s+)?$", re.IGNORECASE)
_BETWEEN = re.compile(r"\b(?:in\s+)?between\s+(?:the\s+)?$", re.IGNORECASE)
_OPENS = re.compile(r"\b(?:in\s+)?(?:between|from|since)\s+(?:the\s+)?$", re.IGNORECASE)
_TO = re.compile(r"\s*(?:,?\s*(?:up\s+)?(?:to|until|till|through|thru)|[-–—])\s*(?:the\s+)?$",
                 re.IGNORECASE)  # fmt: skip
_AND = re.compile(r"\s*,?\s*(?:and|[-–—])\s*(?:the\s+)?$", re.IGNORECASE)


def bound_before(text: str) -> Bound | None:
    """The comparison that the end of a text asks for with the time that follows; None for any."""
    return next((bound for bound, words in _BEFORE if words.search(text)), None)


def bound_around(
    text: str, span: tuple[int, int], *, day: bool
) -> tuple[Bound | None, tuple[int, int]]:
    """The comparison that the words before or behind a day or a longer time ask for, and the place
    of the time with these words. “From” a day is since it; from a month may mean within it."""
    start, end = span
    before = text[:start]
    from_it = _FROM.search(before)
    for bound, words in _BEHIND:
        if behind := words.match(text, end):
            led = from_it or _BEFORE[0][1].search(before)
            return bound, (led.start() if led else start, behind.end())
    for bound, words in _BEFORE_DAYS:
        if led := words.search(before):
            edge = (led["edge"] or "").casefold()
            return _EDGES.get((bound, edge), bound), (led.start(), end)
    return (">=", (from_it.start(), end)) if from_it and day else (None, span)


def range_opens(text: str, start: int, between: str) -> int | None:
    """The place where the words of a range begin, of which one end begins at `start` and `between`
    stands before the other; None where the two are no range."""
    opened = _OPENS.search(text[:start])
    if _TO.fullmatch(between):
        return opened.start() if opened else start
    enclosed = _BETWEEN.search(text[:start])
    return enclosed.start() if enclosed and _AND.fullmatch(between) else None


MORE = one_of({*COMPARATIVES, "more", "less", "fewer", "greater", "lighter"})
NUMBER_WORD = one_of(NUMBERS)
AMOUNT = rf"(?:[$£€]?\s?\d[\d.,]*|{NUMBER_WORD})"
MEASURE = rf"(?:(?:the|an?|its|their|his|her|our)\s+)*(?:{AMOUNT}|average|avg|mean|median)"

_OF_AMOUNTS = (
    # Than a thing with a name is a comparison of groups, which a query shows side by side.
    whole_words(rf"(?:{MORE})(?:\s+[\w'’-]+){{0,3}}?\s+than(?!\s+(?:the\s+)?(?-i:[A-Z]))"),
    whole_words(rf"at (?:least|most)(?=\s+{AMOUNT}|\s+as\b|\s+twice\b)(?!\s+(?:one|1)\b)"),
    whole_words(rf"(?:above|below|over|under|exceed(?:s|ed|ing)?|beyond|up to)(?=\s+{MEASURE})"),
    whole_words(r"between(?=\s+[^\s]*\d[^\s]*\s+and\s+[^\s]*\d)"),
    whole_words(rf"{AMOUNT}\s+(?:\w+\s+)?(?:or|and)\s+(?:{MORE}|above|over|up|below|under)"),
    whole_words(rf"(?:a )?(?:minimum|maximum) of(?=\s+{AMOUNT})"),
)
"""Phrases that ask for a comparison with an amount."""


def bound_spans(text: str) -> Iterator[tuple[int, int]]:
    """The places of the phrases that ask for a comparison with an amount."""
    for shape in _OF_AMOUNTS:
        yield from (match.span() for match in shape.finditer(text))


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
