"""The marks of a dialect's texts, quoted names and comments, as sqlglot's tokenizer has them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from sqlwright.sql.dialects import dialect_named

_NESTING = re.compile(r"/\*|\*/")
_KINDS = {"HEX_STRING": "blob", "BIT_STRING": "blob"}
_RAW = frozenset({"RAW_STRING", "NATIONAL_RAW_STRING"})
_TEMPLATES = "{#"
"""Begins a comment to the parser, in a template of SQL; to no engine."""


@dataclass(frozen=True, slots=True)
class Opening:
    """A mark that begins a text or a quoted name, in small letters; `$` for dollar quotes."""

    kind: str
    opening: str
    rest: re.Pattern[str] | None
    """The text after it, the closing mark included; None: the opening itself closes it."""

    def end(self, text: str, at: int, opening: str) -> int:
        """The index at which it ends, or -1 where nothing closes it."""
        inner = at + len(opening)
        if self.rest is None:
            closing = text.find(opening, inner)
            return closing + len(opening) if closing >= 0 else -1
        match = self.rest.match(text, inner)
        return match.end() if match else -1


@dataclass(frozen=True, slots=True)
class Comment:
    """A mark that begins a comment; one that isn't closed ends with the text."""

    opening: str
    closing: str
    nests: bool
    spaced: bool
    """It begins one before a blank only."""
    kind: str = "comment"

    def opens(self, text: str, at: int) -> bool:
        """True if the mark, which stands there, begins one."""
        after = text[at + len(self.opening) : at + len(self.opening) + 1]
        return not self.spaced or not after or after.isspace()

    def end(self, text: str, at: int, opening: str) -> int:
        """The index at which it ends."""
        if not self.closing:
            found = text.find("\n", at)
            return found if found >= 0 else len(text)
        if not self.nests:
            found = text.find(self.closing, at + len(opening))
            return found + len(self.closing) if found >= 0 else len(text)
        depth = 0
        for mark in _NESTING.finditer(text, at):
            depth += 1 if mark[0] == "/*" else -1
            if depth == 0:
                return mark.end()
        return len(text)


Marks = Mapping[str, tuple[Opening | Comment, ...]]


@cache
def marks_of(dialect: str) -> Marks:
    """The marks by their first letter, small, the longest first. Raises ConfigError when the parser
    doesn't know the dialect."""
    from sqlglot import Dialect

    parser = dialect_named(dialect).parser
    tokenizer = Dialect.get_or_raise(parser).tokenizer_class
    found: list[Opening | Comment] = []
    for opening, closing in tokenizer._COMMENTS.items():
        if opening != _TEMPLATES:
            nests = tokenizer.NESTED_COMMENTS and opening == "/*"
            spaced = parser == "mysql" and opening == "--"
            found.append(Comment(opening, closing or "", nests, spaced))
    escapes = tokenizer._STRING_ESCAPES
    for opening, closing in tokenizer._QUOTES.items():
        found.append(Opening("text", opening, _rest(closing, escapes)))
    for opening, closing in tokenizer._IDENTIFIERS.items():
        # The parser itself takes a closing mark that stands twice for one within the name.
        found.append(
            Opening("quoted", opening, _rest(closing, {closing, *tokenizer._IDENTIFIER_ESCAPES}))
        )
    for opening, (closing, token) in tokenizer._FORMAT_STRINGS.items():
        if opening == closing == "$":
            found.append(Opening("text", "$", None))
        elif closing and opening == opening.lower():
            raw = token.name in _RAW
            own = tokenizer._BYTE_STRING_ESCAPES if token.name == "BYTE_STRING" else escapes
            kind = _KINDS.get(token.name, "text")
            found.append(Opening(kind, opening, _rest(closing, () if raw else own)))
    by_letter: dict[str, list[Opening | Comment]] = {}
    for mark in sorted(found, key=lambda one: len(one.opening), reverse=True):
        by_letter.setdefault(mark.opening[0], []).append(mark)
    return {letter: tuple(marks) for letter, marks in by_letter.items()}


def _rest(closing: str, escapes: set[str] | tuple[()]) -> re.Pattern[str]:
    """The text from an opening mark to the closing one, which may be escaped: by a backslash, by
    standing twice."""
    end = re.escape(closing)
    if len(closing) > 1 or not escapes:
        inner = r"(?:\\.|.)*?" if "\\" in escapes else ".*?"
        return re.compile(inner + end, re.DOTALL)
    ways = [rf"[^{end}\\]"]
    ways.append(r"\\." if "\\" in escapes else r"\\")
    if closing in escapes:
        ways.append(end * 2)
    return re.compile(rf"(?:{'|'.join(ways)})*+{end}", re.DOTALL)
