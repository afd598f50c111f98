"""Rewrites a question into words that the parser knows: moments and units of time as years, “from A
to Z” as an order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from sqlwright.english.bounds import LEADS
from sqlwright.english.cues import each_year, orders
from sqlwright.english.dates import BEFORE_TIME, ON, Moment
from sqlwright.types import Question, ValueMatch

SURE = 0.98
"""Least similarity, in [0, 1], of a phrase and a stored value that it spells; chosen."""


def untold(moments: Sequence[Moment], values: Sequence[ValueMatch]) -> tuple[Moment, ...]:
    """The moments without those whose words are a stored value that isn't such a day itself."""
    return tuple(
        moment
        for moment in moments
        if not _stored(moment.span, [one for one in values if not _says(one.value, moment)])
    )


def _says(value: str, moment: Moment) -> bool:
    """True of a stored text that is a day as the moment has it."""
    return set(moment.first[:10].split("-")) == set(re.findall(r"\d+", value)[:3])


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
        cuts += [c for c in (*orders(text), *each_year(text)) if not _stored(c[:2], values)]
        self._cuts = sorted(cuts)
        self._originals: dict[ValueMatch, ValueMatch] = {}
        for match in values:
            moved = self._moved(match)
            if moved is not None:
                self._originals[moved] = match
        # From the end, so that the places of the cuts before stay right.
        for start, end, replacement in reversed(self._cuts):
            text = text[:start] + replacement + text[end:]
        self.question = replace(question, text=text) if self._cuts else question
        self.values = tuple(self._originals)

    def original(self, match: ValueMatch) -> ValueMatch:
        """A value as it was given."""
        return self._originals.get(match, match)

    def _moved(self, match: ValueMatch) -> ValueMatch | None:
        """A value with its phrase's new place; None where its words were replaced."""
        if match.span is None:
            return match
        start, end = match.span
        if any(first < end and start < last for first, last, _ in self._cuts):
            return None
        before = [cut for cut in self._cuts if cut[1] <= start]
        shift = sum(len(replacement) - (last - first) for first, last, replacement in before)
        return replace(match, span=(start + shift, end + shift)) if shift else match


def _year(moment: Moment, text: str) -> tuple[int, int, str]:
    """A moment's words, and the year with what leads up to it."""
    start, end = moment.span
    if moment.operator:
        return start, end, LEADS[moment.operator] + moment.year
    on = ON.search(text[:start])
    start = on.start() if on else start
    led = BEFORE_TIME.search(text[:start]) and not moment.is_range
    return start, end, moment.year if led else f"in {moment.year}"
