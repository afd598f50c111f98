"""SQL for reading: the words that shape a query, and a line for each of its clauses.

For display only: nothing is decided by it, and nothing in a text changes but white space.

A general highlighter takes `name`, `state` or an alias called `c` for keywords, because some SQL
standard lists them; this one knows the words that shape a query, and leaves names alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

PieceKind = Literal["keyword", "string", "number", "comment"]

_WORDS = (
    "all and as asc between by case cast collate cross current desc distinct else end "
    "escape except exists filter first following from full glob group groups having in "
    "inner intersect is isnull join last left like limit match materialized natural not "
    "notnull null nulls offset on or order outer over partition preceding range recursive "
    "regexp right rows select then unbounded union using values when where window with "
)
_KEYWORDS = frozenset(_WORDS.split())
_TOKEN = re.compile(
    r"""
      (?P<comment> --[^\n]* | /\*.*?(?:\*/|$) )
    | (?P<string>  [xX]?'(?:[^']|'')*'? )
    | (?P<quoted>  "(?:[^"]|"")*"? | `[^`]*`? | \[[^\]]*\]? )
    | (?P<number>  \b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b )
    | (?P<word>    [^\W\d]\w* )(?P<call>\()?
    """,
    re.VERBOSE | re.DOTALL,
)
_CLAUSES = re.compile(
    r"(?:SELECT|FROM|(?:(?:NATURAL|LEFT|RIGHT|FULL|INNER|CROSS|OUTER)\s+)*JOIN|WHERE|GROUP\s+BY|HAVING|WINDOW"
    r"|ORDER\s+BY|LIMIT|UNION(?:\s+ALL)?|INTERSECT|EXCEPT)\b",
    re.IGNORECASE,
)
_COLOURED: dict[str, PieceKind] = {"comment": "comment", "string": "string", "number": "number"}
SHORT = 60
"""Characters up to which a query stays in one line."""


class SqlPiece(NamedTuple):
    """A stretch of a query that is shown in a colour of its own."""

    kind: PieceKind
    start: int
    end: int


def sql_pieces(sql: str) -> Iterator[SqlPiece]:
    """The stretches with a colour, in order; names, operators and blanks have none."""
    for token in _TOKEN.finditer(sql):
        kind = token.lastgroup or ""
        if kind in _COLOURED:
            yield SqlPiece(_COLOURED[kind], token.start(), token.end())
        elif kind in ("word", "call") and _is_keyword(sql, token):
            yield SqlPiece("keyword", token.start("word"), token.end("word"))


def in_clauses(sql: str) -> str:
    """A long query written in one line with a line for each of its outermost clauses.

    Only the white space before a clause's keyword changes; a query that has lines of its own, or
    is short, stays as it is.
    """
    if len(sql) <= SHORT or "\n" in sql:
        return sql
    pieces: list[str] = []
    start = position = depth = 0
    while position < len(sql):
        token = _TOKEN.match(sql, position)
        if token is None:
            depth += {"(": 1, ")": -1}.get(sql[position], 0)
            position += 1
            continue
        clause = _CLAUSES.match(sql, position) if token.group("word") and depth == 0 else None
        if clause and position > start and sql[position - 1] == " ":
            pieces.append(sql[start:position].rstrip(" "))
            start, position = position, clause.end()
            continue
        depth += token.group("call") is not None
        position = token.end()
    pieces.append(sql[start:])
    return "\n".join(pieces)


def _is_keyword(sql: str, token: re.Match[str]) -> bool:
    after_dot = token.start() > 0 and sql[token.start() - 1] == "."
    called = token.group("call") is not None
    return not after_dot and (called or token.group("word").lower() in _KEYWORDS)
