"""Replies that repeat themselves without end, known by their structure.

A small model that is asked for a list may write the same items over and over, up to the limit of
tokens. Such a text ends in copies of one piece, whatever the piece is; a number at the head of a
line isn't looked at. What came before, and one copy, is all that it says.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import NamedTuple

from sqlwright.messages import Reply

REPEATS = "repeats"
"""The reason why a reply ended that was left because it repeats itself."""
WINDOW = 4_000
"""Characters from the end that are looked at."""
LEAST = 600
"""Characters of copies at least. Chosen: no result, list of values or line of a table that a query
or its reasons hold has so many."""
COPIES = 6
"""Copies at least; chosen."""
EVERY = 200
"""Characters of a stream between two looks."""

_NUMBER = re.compile(r"^([ \t]*)\d+(?=[.):])", re.MULTILINE)
_AFTER_ITEM = re.compile(r".*[,;\n]", re.DOTALL)


class Cycle(NamedTuple):
    """The end of a text as copies of one piece; positions in the text with plain line numbers."""

    text: str
    """The text, each number at the head of a line as 0."""
    start: int
    period: int

    def with_copies(self, number: int) -> str:
        """The text with so many copies, up to its last whole item."""
        kept = self.text[: self.start + number * self.period]
        whole = _AFTER_ITEM.match(kept)
        return whole[0] if whole else kept


def cycle_of(text: str) -> Cycle | None:
    """The copies that a text ends in; None where it doesn't end in any, or in few."""
    plain = _NUMBER.sub(r"\g<1>0", text)
    tail = plain[-WINDOW:][::-1]
    # borders[k]: how much of the first k characters of the reversed end is both begin and end of
    # them, so that k - borders[k] is their period (Knuth, Morris and Pratt 1977).
    borders = [0] * (len(tail) + 1)
    longest, period, border = 0, 0, 0
    for length in range(2, len(tail) + 1):
        while border and tail[border] != tail[length - 1]:
            border = borders[border]
        border += tail[border] == tail[length - 1]
        borders[length] = border
        if length >= max(LEAST, COPIES * (length - border)):
            longest, period = length, length - border
    return Cycle(plain, len(plain) - longest, period) if longest else None


def told(reply: Reply) -> Reply:
    """The reply, which ended for its repeating where it was cut off amid copies."""
    repeats = reply.finish == "length" and cycle_of(reply.text) is not None
    return replace(reply, finish=REPEATS) if repeats else reply
