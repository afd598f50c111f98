"""Queries in text that nothing marks as one: where they begin, and where they end.

A query is taken as it was written. In running text it begins with SELECT or WITH and ends where
what follows can't belong to it: found by reading pieces of the text as SQL, longest first.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from sqlwright.prompts.loose_json import Effort
from sqlwright.sql.pieces import pieces
from sqlwright.sql.reading import is_query

_LONGEST_BARE = 20_000
"""Characters of a query without a fence at most."""
_MOST_CUTS = 60
"""Places tried as the end of a query that nothing marks."""

_START = re.compile(
    r"(?<![\w.])(?:(select)\b|with\s+(?:recursive\s+)?[\w\"`\[\]]+\s*(?:\([^()]*\)\s*)?"
    r"as\s*(?:(?:not\s+)?materialized\s*)?\()",
    re.IGNORECASE,
)
_LINE_START = re.compile(
    r"[ \t>*\-\d.)#]*(?:\**[A-Za-z]+(?: [A-Za-z]+){0,2}\**\s*:\**\s*)?[\"'`(]*\Z"
)
_BLANK_LINE = re.compile(r"\r?\n[ \t]*\r?\n\s*")
_GOES_ON = re.compile(
    r"(?:from|where|join|left|right|inner|outer|cross|full|natural|group|order|having|limit|offset|"
    r"union|except|intersect|select|and|or|on|window|case|when|then|else|end|as|--|/\*|[(),])",
    re.IGNORECASE,
)
_ODD_SPACES = "\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_INVISIBLE = "\u200b-\u200d\u2060\ufeff\u00ad"
_ODD = re.compile(rf"[‘’“”‚„{_ODD_SPACES}{_INVISIBLE}]")
_ENTITY = re.compile(r"&(?:[a-z]{2,6}|#\d{2,5}|#x[0-9a-f]{2,4});", re.IGNORECASE)
"""A character as HTML writes it."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The reading of one reply: the dialect of its query, and the effort that is left for it."""

    dialect: str
    effort: Effort = field(default_factory=Effort)


class FoundQuery(NamedTuple):
    """A query and where it, or what holds it, lies in the reply."""

    sql: str
    start: int
    end: int
    reasoning: str = ""
    """Reasoning that came with it in a JSON reply."""


def last_statement(text: str, offset: int, how: Reading) -> FoundQuery | None:
    """The last statement of a text that begins as a query does, the comments before it included;
    nothing where the first one doesn't, since then the text isn't SQL."""
    found = None
    for number, (start, end, first) in enumerate(_statements(text, how.dialect)):
        if first in {"select", "with", "values"}:
            sql = _straight(text[start:end].strip(), how.dialect)
            found = FoundQuery(sql, offset + start, offset + end)
        elif number == 0:
            return None
    return found


def _statements(text: str, dialect: str) -> Iterator[tuple[int, int, str]]:
    """Start and end of each statement, and its first word in lower case."""
    start, first = 0, ""
    for piece in pieces(text, dialect):
        if piece.kind == "end":
            if first:
                yield start, piece.start, first
            start, first = piece.start + 1, ""
        elif not first and piece.kind not in {"space", "comment"}:
            first = piece.text.lower()
    if first:
        yield start, len(text), first


def last_in_prose(text: str, how: Reading) -> FoundQuery | None:
    """The last query in running text, as far as the effort reaches: one that reads as SQL, else one
    that begins a line."""
    best: FoundQuery | None = None
    second: FoundQuery | None = None
    at = 0
    effort = how.effort
    while effort.sql > 0 and effort.pieces > 0 and (start := _START.search(text, at)):
        at = start.end()
        line = text[text.rfind("\n", 0, start.start()) + 1 : start.start()]
        begins = bool(_LINE_START.match(line))
        if not (begins or (start[1] or "WITH").isupper()):
            continue
        end, whole = _end_of_query(text, start.start(), how)
        sql = _straight(text[start.start() : end].strip(), how.dialect)
        found = FoundQuery(sql, start.start(), end)
        if whole:
            best, at = found, max(end, at)
        elif begins and (start[1] or "WITH").isupper():
            second, at = found, max(end, at)
    return best or second


def _end_of_query(text: str, start: int, how: Reading) -> tuple[int, bool]:
    """End of the query that begins at `start`; True if it reads as a query so far."""
    effort, dialect = how.effort, how.dialect
    limit = min(len(text), start + _LONGEST_BARE)
    mark = text[start - 1 : start]
    rest = text[start:limit]
    stop = next((p.start for p in pieces(rest, dialect) if p.kind == "end"), len(rest))
    fence = rest.find("\n```")
    rest = rest[: min(stop, fence if fence >= 0 else stop)]
    effort.pieces -= stop
    breaks = [b for b in _BLANK_LINE.finditer(rest) if not _GOES_ON.match(rest, b.end())]
    ends = [b.start() for b in breaks[:_MOST_CUTS]]
    if mark in {"'", '"', "`"}:
        ends = [at for at, char in enumerate(rest) if char == mark][::-1][:_MOST_CUTS] + ends
    ends.append(len(rest))
    lines = [match.start() for match in re.finditer(r"\n", rest)]
    sentences = [match.start() for match in re.finditer(r"[.:!?](?=\s|\Z)|\s[-–—]\s", rest)]
    for end in (*ends, *lines[::-1][:_MOST_CUTS], *sentences[:_MOST_CUTS]):
        if effort.sql <= 0:
            break
        effort.sql -= end
        if is_query(_straight(rest[:end], dialect), dialect):
            return start + end, True
    return start + (breaks[0].start() if breaks else len(rest)), False


def _straight(sql: str, dialect: str) -> str:
    """The query with curly quotes outside of its strings, names and comments made straight, other
    blanks made blanks, and without what can't be seen; with them it would be no SQL."""
    if _ODD.search(sql) is None:
        return sql
    parts: list[str] = []
    for piece in pieces(sql, dialect):
        outside = piece.kind in {"word", "other", "space"}
        parts.append(_ODD.sub(_plain, piece.text) if outside else piece.text)
    return "".join(parts)


def _plain(odd: re.Match[str]) -> str:
    """SQL's own character for an odd one."""
    if odd[0] in "‘’‚":
        return "'"
    if odd[0] in "“”„":
        return '"'
    return "" if re.match(f"[{_INVISIBLE}]", odd[0]) else " "


def from_html(text: str, sql: str | None, dialect: str) -> str | None:
    """The reply without HTML's way to write characters, where its query is none with it; None where
    that isn't so. `sql` is the query that was found."""
    if _ENTITY.search(text) is None:
        return None
    outside = "".join(
        piece.text
        for piece in pieces(f"{sql or ''};", dialect)
        if piece.kind not in {"text", "quoted", "comment"}
    )
    if sql is not None and is_query(sql, dialect) and _ENTITY.search(outside) is None:
        return None
    return html.unescape(text)


def first_outside(text: str, start: int, ends: Iterable[int], dialect: str) -> int | None:
    """The first of these indexes, in order, that isn't inside a string or a comment of the SQL that
    begins at `start`; None where all are."""
    waiting = iter(ends)
    end = next(waiting, None)
    for piece in pieces(text[start:], dialect):
        begun, over = start + piece.start, start + piece.start + len(piece.text)
        if end is None or end <= begun:
            return end
        if piece.kind == "open":
            return None
        holds = piece.kind in {"text", "quoted", "blob"} or piece.text.startswith("/*")
        while end is not None and end < over:
            if not holds:
                return end
            end = next(waiting, None)
        if piece.text.startswith("/*") and not piece.text.endswith("*/"):
            return None
    return end
