"""A question in words that the parser knows: moments and units of time as years, “from A to Z” as
an order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from sqlwright.english.dates import ON, Moment
from sqlwright.types import Question, ValueMatch

_READY = re.compile(
    r"\b(?:in|during|for|of|since|before|after|until|till|from|between|and|or|to|by|than|over)\s+"
    r"(?:the\s+)?$",
    re.IGNORECASE,
)
_UP = "lowest|smallest|least|fewest|minimum"
_DOWN = "highest|largest|biggest|greatest|most|maximum"
_ORDERS = tuple(
    (re.compile(rf"(?<!\w){pattern}", re.IGNORECASE), f"in {order}")
    for pattern, order in (
        (r"(?:from )?z(?: to |-)a\b", "descending alphabetical order"),
        (r"(?:from )?a(?: to |-)z\b", "alphabetical order"),
        (rf"from (?:the )?(?:{_DOWN}) to (?:the )?(?:{_UP})\b", "descending order"),
        (rf"from (?:the )?(?:{_UP}) to (?:the )?(?:{_DOWN})\b", "ascending order"),
        (r"from (?:the )?cheapest to (?:the )?(?:most expensive|dearest)\b",
         "ascending order of price"),
        (r"from (?:the )?(?:most expensive|dearest) to (?:the )?(?:cheapest|least expensive)\b",
         "descending order of price"),
        (rf"(?:{_DOWN}) first\b(?=\s*(?:[.,;?!]|$))", "descending order"),
        (rf"(?:{_UP}) first\b(?=\s*(?:[.,;?!]|$))", "ascending order"),
    )
)  # fmt: skip
"""What reads like an extreme, a letter or a name, and asks for an order."""

_EACH = re.compile(r"\b(per|each|every|by)\s+(?:day|week|month)\b", re.IGNORECASE)
_EVERY = re.compile(r"\b(?:daily|weekly|monthly|yearly|annually) ?", re.IGNORECASE)
_END = re.compile(r"\W*$")

SURE = 0.98
"""Similarity of a phrase and a stored value that it spells."""


def orders(text: str) -> list[tuple[int, int, str]]:
    """Where a text asks for an order, from and to which character, and in plain words."""
    return [(*match.span(), told) for shape, told in _ORDERS for match in shape.finditer(text)]


def _units(text: str) -> list[tuple[int, int, str]]:
    """Where a text asks for something for each of a unit of time: the parser knows years."""
    cuts = [(*match.span(), f"{match.group(1)} year") for match in _EACH.finditer(text)]
    every = _EVERY.search(text)
    if every:
        end = max(_END.search(text).start(), every.end())  # type: ignore[union-attr]
        cuts += [(*every.span(), ""), (end, end, " in each year")]
    return cuts


def untold(moments: Sequence[Moment], values: Sequence[ValueMatch]) -> tuple[Moment, ...]:
    """The moments but those that are stored in just these words."""
    return tuple(moment for moment in moments if not _stored(moment.span, values))


def _stored(span: tuple[int, int], values: Sequence[ValueMatch]) -> bool:
    return any(
        match.span[0] <= span[0] and span[1] <= match.span[1]
        for match in values
        if match.span and match.score >= SURE
    )


class Retelling:
    """The question with a year in the place of each moment and orders in plain words, and the
    values where they are then."""

    def __init__(
        self, question: Question, moments: Sequence[Moment], values: Sequence[ValueMatch]
    ) -> None:
        text = question.text
        cuts = [_year(moment, text) for moment in moments]
        cuts += [c for c in (*orders(text), *_units(text)) if not _stored(c[:2], values)]
        self._cuts = sorted(cuts)
        self._originals: dict[ValueMatch, ValueMatch] = {}
        for match in values:
            moved = self._moved(match)
            if moved is not None:
                self._originals[moved] = match
        for start, end, told in reversed(self._cuts):
            text = text[:start] + told + text[end:]
        self.question = replace(question, text=text) if self._cuts else question
        self.values = tuple(self._originals)

    def original(self, match: ValueMatch) -> ValueMatch:
        """A value as it was given."""
        return self._originals.get(match, match)

    def _moved(self, match: ValueMatch) -> ValueMatch | None:
        """A value where its phrase is now; None where its words are told otherwise."""
        if match.span is None:
            return match
        start, end = match.span
        if any(first < end and start < last for first, last, _ in self._cuts):
            return None
        shift = sum(len(told) - (last - first) for first, last, told in self._cuts if last <= start)
        return replace(match, span=(start + shift, end + shift)) if shift else match


def _year(moment: Moment, text: str) -> tuple[int, int, str]:
    """A moment's words, and the year with what leads up to it."""
    start, end = moment.span
    on = ON.search(text[:start])
    start = on.start() if on else start
    if _READY.search(text[:start]):
        return start, end, moment.year
    since = moment.operator == ">=" and moment.relative
    return start, end, f"{'since' if since else 'in'} {moment.year}"
