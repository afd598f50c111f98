"""The one doorway for text that isn't ours: stored values, names, comments, questions, messages.

Nothing from a database, a file, a model or the command line reaches the terminal except through
`clean` (one line) or `clean_block` (several lines). What a terminal could act on comes out as a
visible escape: control characters (and with them every escape sequence, OSC 8 links included),
bidirectional overrides, invisible and tag characters, line separators, lone surrogates. Markup
of our own rendering library needs no escape, because it is never switched on.

Not covered: look-alike letters of different scripts, and right-to-left letters, which a terminal
may reorder as their script asks.
"""

from __future__ import annotations

import re

CELL_LIMIT = 1_000
"""Characters of one stored value that are ever shown."""

_ACTED_ON = re.compile(
    "["
    "\x00-\x1f\x7f-\x9f"  # control characters of both sets
    "\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\uffff"
    "\ud800-\udfff"  # surrogates: bytes that weren't UTF-8
    "\U000e0000-\U000e0fff"  # tags and variation selectors without a visible form
    "]"
)
_PILED_UP = re.compile(
    "([\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]{4})"
    "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+"
)
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_LITERAL = re.compile(r"'(?:[^']|'')*'")


def clean(text: str, limit: int = CELL_LIMIT) -> str:
    """One line of foreign text with nothing in it that a terminal would act on.

    Text longer than `limit` characters is cut, and says by how much.
    """
    return _escape(_cut(text, limit))


def clean_block(text: str, limit: int = 100_000) -> str:
    """Foreign text of several lines: line ends stay, tabs become spaces, all else as in `clean`."""
    text = _cut(text.replace("\r\n", "\n"), limit)
    return "\n".join(_escape(line.replace("\t", "    ")) for line in text.split("\n"))


def portable_sql(sql: str) -> str:
    """The same query, safe to print as it is.

    A literal with characters that a terminal would act on is spelled with char(), which gives the
    same value; outside literals such characters are escaped visibly, as there is no other way to
    write them.
    """
    pieces: list[str] = []
    end = 0
    for literal in _LITERAL.finditer(sql):
        pieces.append(clean_block(sql[end : literal.start()], limit=len(sql)))
        pieces.append(_portable_literal(literal.group()))
        end = literal.end()
    pieces.append(clean_block(sql[end:], limit=len(sql)))
    return "".join(pieces)


def _portable_literal(literal: str) -> str:
    if not _ACTED_ON.search(literal):
        return literal
    parts: list[str] = []
    plain = ""
    for character in literal[1:-1]:
        if _ACTED_ON.match(character):
            if plain:
                parts.append(f"'{plain}'")
            parts.append(f"char({ord(character)})")
            plain = ""
        else:
            plain += character
    if plain:
        parts.append(f"'{plain}'")
    return "(" + " || ".join(parts) + ")"


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    return f"{text[:limit]}... (+{len(text) - limit:,} characters)"


def _escape(text: str) -> str:
    return _PILED_UP.sub(r"\1", _ACTED_ON.sub(_visible, text))


def _visible(match: re.Match[str]) -> str:
    character = match.group()
    if character in _SHORT:
        return _SHORT[character]
    number = ord(character)
    if number <= 0xFF:
        return f"\\x{number:02x}"
    if number <= 0xFFFF:
        return f"\\u{number:04x}"
    return f"\\U{number:08x}"
