"""The pieces of any text, SQL or not, as an engine would cut it: nothing left out, nothing refused.

SQLite's come from its own tokens. Those of other dialects go by what sqlglot's tokenizer knows of
them; it can't be asked itself, since it ends at the first thing that is no SQL.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import NamedTuple

from sqlwright.sql.dialects import dialect_named
from sqlwright.sql.tokens import DOLLARS, TOKEN

_CHANGES = tuple(
    tuple(frozenset(each.split("|")) for each in line.split())
    for line in """
    insert|replace into * (|values|select|default|with|set
    merge into * using|as|*
    delete from * where|returning|;
    update * set * =
    drop table|view|index|trigger|database|schema * ,|cascade|restrict|;
    create table|view * (|as
    create index * on
    create trigger * after|before|instead
    alter table * add|alter|change|drop|modify|rename|set
    truncate table * ;
    grant|revoke all|delete|insert|select|update ,|on|privileges
    """.strip().splitlines()
)
"""Beginnings of statements that change something, word by word: `*` is a name, `;` the end."""
_OPTIONAL = "exists if materialized not temp temporary unique virtual"
_BESIDES = frozenset(_OPTIONAL.split())
"""Words that may stand among them and make no difference."""


def holds_change(text: str) -> bool:
    """True if a statement of SQL that changes data, structure or rights begins at the beginning of
    a text or after a semicolon. A sentence that merely begins with such a word is none."""
    statements: list[list[str]] = [[]]
    before = ""
    for piece in pieces(text):
        if piece.kind == "end":
            statements.append([])
        if piece.kind in {"end", "space", "comment"}:
            continue
        word = "*" if piece.kind == "quoted" else piece.text.lower()
        # Left out: the rest of a name, and what comes after INSERT OR or CREATE OR.
        if not {word, before} & {".", "or"} and word not in _BESIDES:
            statements[-1].append(word)
        before = word
    return any(_begins([*words, ";"], shape) for words in statements for shape in _CHANGES)


def _begins(words: list[str], shape: tuple[frozenset[str], ...]) -> bool:
    return len(words) >= len(shape) and all(
        "*" in wanted or word in wanted for word, wanted in zip(words, shape, strict=False)
    )


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
