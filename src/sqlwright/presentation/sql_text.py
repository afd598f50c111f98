"""SQL for reading: the words that shape a query, and a line for each of its clauses.

For display only: nothing is decided by it, and nothing in a text changes but white space. How a
dialect cuts a text is given by who shows it (`sql.pieces`).

A general highlighter takes `name`, `state` or an alias called `c` for keywords, because some SQL
standard lists them; this one knows the words that shape a query, and leaves names alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Literal, NamedTuple, Protocol

PieceKind = Literal["keyword", "string", "number", "comment"]

_WORDS = (
    "all and any as asc between by case cast collate cross current desc distinct else end "
    "escape except exists false filter first following from full glob group groups having ilike in "
    "inner intersect is isnull join last left like limit match materialized natural not "
    "notnull null nulls offset on or order outer over partition preceding range recursive "
    "regexp right rows select then true unbounded union using values when where window with "
)
_KEYWORDS = frozenset(_WORDS.split())
_CLAUSES = re.compile(
    r"(?:SELECT|FROM|(?:(?:NATURAL|LEFT|RIGHT|FULL|INNER|CROSS|OUTER)\s+)*JOIN|WHERE|GROUP\s+BY|HAVING|WINDOW"
    r"|ORDER\s+BY|LIMIT|UNION(?:\s+ALL)?|INTERSECT|EXCEPT)\b",
    re.IGNORECASE,
)
_COLOURED: dict[str, PieceKind] = {
    "comment": "comment",
    "text": "string",
    "blob": "string",
    "number": "number",
}
_COMPARED = re.compile(r"\bIS\s+(?:NOT\s+)?DISTINCT\s+\Z", re.IGNORECASE)
"""The words before a FROM that begins no clause."""
SHORT = 60
"""Characters up to which a query stays in one line."""


class CutPiece(Protocol):
    """A token, space or comment of a text and where it begins, as `sql.pieces.Piece`."""

    @property
    def kind(self) -> str:
        """Among others `comment`, `text`, `blob`, `number`, `word`."""

    @property
    def text(self) -> str:
        """All of it."""

    @property
    def start(self) -> int:
        """The index at which it begins."""


Cut = Callable[[str], Iterable[CutPiece]]
"""Cuts a text as the dialect of its query does, nothing left out."""


class SqlPiece(NamedTuple):
    """A stretch of a query that is shown in a colour of its own."""

    kind: PieceKind
    start: int
    end: int


def sql_pieces(sql: str, cut: Cut) -> Iterator[SqlPiece]:
    """The stretches with a colour, in order; names, operators and blanks have none."""
    for piece in cut(sql):
        end = piece.start + len(piece.text)
        if piece.kind in _COLOURED:
            yield SqlPiece(_COLOURED[piece.kind], piece.start, end)
        elif piece.kind == "word" and _is_keyword(sql, piece.start, end):
            yield SqlPiece("keyword", piece.start, end)


def in_clauses(sql: str, cut: Cut) -> str:
    """A long query written in one line with a line for each of its outermost clauses.

    Only the white space before a clause's keyword changes; a query that has lines of its own, or
    is short, stays as it is.
    """
    if len(sql) <= SHORT or "\n" in sql:
        return sql
    lines: list[str] = []
    start = read = depth = 0
    for piece in cut(sql):
        if piece.start < read:  # the other words of GROUP BY and the like
            continue
        depth += {"(": 1, ")": -1}.get(piece.text, 0)
        if piece.kind != "word" or depth or piece.start == start or sql[piece.start - 1] != " ":
            continue
        clause = _CLAUSES.match(sql, piece.start)
        if clause and not _COMPARED.search(sql, start, piece.start):
            lines.append(sql[start : piece.start].rstrip(" "))
            start, read = piece.start, clause.end()
    lines.append(sql[start:])
    return "\n".join(lines)


def _is_keyword(sql: str, start: int, end: int) -> bool:
    after_dot = sql[start - 1 : start] == "."
    called = sql[end : end + 1] == "("
    return not after_dot and (called or sql[start:end].lower() in _KEYWORDS)
