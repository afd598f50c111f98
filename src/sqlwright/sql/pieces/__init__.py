"""The pieces of any text, SQL or not, as an engine would cut it: nothing left out, nothing refused.

SQLite's come from its own tokens. Those of other dialects go by what sqlglot's tokenizer knows of
them; it can't be asked itself, since it ends at the first thing that is no SQL.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from sqlwright.sql.pieces.quoting import Comment, Opening, marks_of
from sqlwright.sql.tokens import DOLLARS, TOKEN

_PLAIN = re.compile(
    r"""
      (?P<space>\s+)
    | (?P<number>0[xX][0-9A-Fa-f]+
        |(?:[0-9]+(?:_[0-9]+)*(?:\.[0-9_]*)?|\.[0-9]+(?:_[0-9]+)*)(?:[eE][+-]?[0-9]+)?)
    | (?P<word>[^\W\d][\w$]*)
    | (?P<operator>->>|->|\#>>|\#>|::|:=|\|\||<=|>=|<>|<<|>>|==|!=|[-+*/%&|~<>=(),.\[\]{}:^@\#])
    | (?P<end>;)
    """,
    re.VERBOSE,
)


class Piece(NamedTuple):
    """A token, space or comment of a text and where it begins. `open` is a quote that is never
    closed, `other` what SQL has no use for."""

    kind: str
    text: str
    start: int


def pieces(text: str, dialect: str = "sqlite") -> Iterator[Piece]:
    """Everything in a text as the dialect cuts it, in order. A quote that nothing closes is a piece
    of its own; what follows it is cut as if it weren't there."""
    return _sqlite(text) if dialect == "sqlite" else _by_marks(text, dialect)


def without_end(sql: str) -> str:
    """A query of SQLite's without the semicolons, spaces and comments after it, to be put within
    another one."""
    kept = (one for one in pieces(sql) if one.kind not in {"space", "comment", "end"})
    return sql[: max((one.start + len(one.text) for one in kept), default=0)]


def cutting(dialect: str) -> Callable[[str], Iterator[Piece]]:
    """`pieces` of one dialect."""
    return partial(pieces, dialect=dialect)


def _sqlite(text: str) -> Iterator[Piece]:
    at = 0
    closings = {mark: text.rfind("]" if mark == "[" else mark) for mark in "'\"`["}
    while at < len(text):
        # A quote that nothing closes is not looked for to the end of the text again and again.
        is_open = closings.get(text[at], at + 1) <= at
        match = None if is_open else TOKEN.match(text, at)
        found = match[0] if match else text[at]
        kind = (match.lastgroup or "other") if match else "open" if is_open else "other"
        yield Piece(kind, found, at)
        at += len(found)


def _by_marks(text: str, dialect: str) -> Iterator[Piece]:
    marks = marks_of(dialect)
    never_closed = set[str]()
    at = 0
    while at < len(text):
        piece = None
        for one in marks.get(text[at].lower(), ()):
            opening = _opening(text, at, one)
            if not opening:
                continue
            end = -1 if opening in never_closed else one.end(text, at, opening)
            if end >= 0:
                piece = Piece(one.kind, text[at:end], at)
                break
            never_closed.add(opening)
            if not opening[0].isalpha():
                piece = Piece("open", opening, at)
        if piece is None:
            match = _PLAIN.match(text, at)
            kind = (match.lastgroup or "other") if match else "other"
            piece = Piece(kind, match[0] if match else text[at], at)
        yield piece
        at += len(piece.text)


def _opening(text: str, at: int, mark: Opening | Comment) -> str:
    """The mark that opens a quote or comment there; empty where the mark doesn't."""
    if isinstance(mark, Opening) and mark.opening == "$":
        dollars = DOLLARS.match(text, at)
        return dollars[0] if dollars else ""
    found = text[at : at + len(mark.opening)]
    opens = not isinstance(mark, Comment) or mark.opens(text, at)
    return found if opens and found.lower() == mark.opening else ""
