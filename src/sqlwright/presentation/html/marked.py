"""Two queries side by side, with the words marked that the other one lacks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from sqlwright.boundary.text import visible
from sqlwright.presentation.html.templates import SQL_LIMIT, Html, part
from sqlwright.presentation.sql_text import Cut, in_clauses

WORDS_LIMIT = 2_000
"""Words of a query up to which it is compared with another; chosen, as comparing takes the square
of their number."""
_PARTS = re.compile(r"\s+|\w+|.", re.DOTALL)
"""The words within a piece that is no text and no quoted name."""
_WHOLE = frozenset({"text", "blob", "quoted"})


def marked(first: str, second: str, cut: Cut) -> tuple[Html, Html]:
    """Both queries, cut as their dialect does. What only one has is in `mark`; long ones are left
    unmarked."""
    ours, theirs = (_words(sql, cut) for sql in (first, second))
    if max(len(ours), len(theirs)) > WORDS_LIMIT:
        return _code(ours, set()), _code(theirs, set())
    matcher = SequenceMatcher(None, _plain(ours), _plain(theirs), autojunk=False)
    only: tuple[set[int], set[int]] = (set(), set())
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag != "equal":
            only[0].update(range(a, b))
            only[1].update(range(c, d))
    return _code(ours, only[0]), _code(theirs, only[1])


def _words(sql: str, cut: Cut) -> list[str]:
    text = visible(sql, limit=SQL_LIMIT, lines=True)
    words: list[str] = []
    for piece in cut(in_clauses(text.strip(), cut)):
        words += [piece.text] if piece.kind in _WHOLE else _PARTS.findall(piece.text)
    return words


def _plain(words: Sequence[str]) -> list[str]:
    """The words without blanks; those that aren't quoted in one case."""
    solid = (word for word in words if not word.isspace())
    return [word if word[0] in "'\"" else word.casefold() for word in solid]


def _code(words: Sequence[str], only: set[int]) -> Html:
    """A query with the words at some places marked, neighbours in one mark."""
    pieces: list[tuple[str, str]] = []
    blanks, place = "", 0
    for word in words:
        if word.isspace():
            blanks += word
            continue
        kind = "mark" if place in only else ""
        if kind and pieces and pieces[-1][0] and "\n" not in blanks:
            pieces[-1] = (kind, pieces[-1][1] + blanks + word)
        else:
            pieces += [("", blanks), (kind, word)] if kind or blanks else [(kind, word)]
        blanks, place = "", place + 1
    return part("parts.html", "code", pieces)
