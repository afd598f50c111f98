"""A text cut as its engine cuts it.

Strict: what two engines, two versions or two settings of one would cut differently isn't cut at all
but refused, as are the comments that engines obey.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlwright.errors import UnsafeQuery
from sqlwright.sql.tokens import DOLLARS, SqlToken, UnreadableQuery

_LINE_END = r"[^\n\r]*(?=\r?\n|\Z)"
_BLOCK = r"/\*(?![!+]|[mM]!)(?:(?!/\*|\*/).)*\*/"
_DIGITS, _GROUPS = "[0-9]+", "[0-9]+(?:_[0-9]+)*"
_HEXADECIMAL = "0x[0-9A-Fa-f]+|"
_WORD = r"[A-Za-z_\u0080-\U0010ffff][A-Za-z0-9_\u0080-\U0010ffff]*+(?!\$)"
_SIGNS = "+-*/<>=~!@#%^&|`?"
"""Characters of operators, for engines that read as many of them as stand together."""
_KEEPING = frozenset("~!@#%^&|`?")
"""An operator may end in + or - if it has one of these."""


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The tokens of one dialect."""

    pattern: re.Pattern[str]
    operators: frozenset[str]
    runs: bool
    """Signs that stand together are one operator, known or not."""
    replaced: str = ""
    """A sign that some engines replace by a setting or the environment's before they read."""


def _number(digits: str, hexadecimal: str = "") -> str:
    """Numbers, and nothing right after them. Those that an engine, or an older version of it, takes
    for a number and a name beside it, or for one name, aren't cut: 0x1F, 0X1F, 1_000."""
    return rf"""(?:{hexadecimal}(?:{digits}(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
        (?![A-Za-z0-9_$.\u0080-\U0010ffff])"""


def _pattern(comment: str, text: str, quoted: str, refused: str, number: str) -> re.Pattern[str]:
    return re.compile(
        rf"""
          (?P<space>[ \t\n\r]+)
        | (?P<comment>{comment}|{_BLOCK})
        | (?P<refused>--|/\*|{refused})
        | (?P<blob>[xX]'[0-9A-Fa-f]*'|[bB]'[01]*')
        | (?P<text>{text})
        | (?P<quoted>{quoted})
        | (?P<number>{number})
        | (?P<word>{_WORD})
        | (?P<end>;)
        | (?P<mark>::|:=|[(){{}}\[\],.:])
        | (?P<operator>[-+*/<>=~!@\#%^&|`?])
        """,
        re.VERBOSE | re.DOTALL,
    )


def standard(operators: str, marks: str, *, groups: bool) -> Lexicon:
    """PostgreSQL's tokens, or those of who took its lexer over; with `groups` digits may stand in
    groups."""
    pattern = _pattern(
        rf"--{_LINE_END}",
        r"'(?:[^']|'')*+'|[eE]'(?:[^'\\]|\\[^']|'')*+'",
        r'"(?:[^"]|"")++"',
        r"[uU]&['\"]",
        _number(_GROUPS if groups else _DIGITS),
    )
    return Lexicon(pattern, frozenset((operators + " " + marks).split()), runs=True)


def backslashed(operators: str, marks: str) -> Lexicon:
    """MySQL's tokens. A text ends where it does with and without backslashes that escape."""
    pattern = _pattern(
        rf"(?:--(?=[ \t\n\r]|\Z)|\#){_LINE_END}",
        r"'(?:[^'\\]|\\[^']|'')*+'|\"(?:[^\"\\]|\\[^\"]|\"\")*+\"",
        r"`(?:[^`]|``)++`",
        r"\#|@|:=|\\",
        _number(_DIGITS, _HEXADECIMAL),
    )
    return Lexicon(pattern, frozenset((operators + " " + marks).split()), runs=False)


def plain(operators: str, marks: str, *, brackets: bool) -> Lexicon:
    """Tokens that all dialects cut alike: no comment that one of them takes for none, no backslash
    in a text or name; names also in brackets."""
    pattern = _pattern(
        rf"--(?=[ \t\n\r]|\Z){_LINE_END}",
        r"'(?:[^'\\]|'')*+'",
        r'"[^"\\]++"|`[^`\\]++`' + (r"|\[[^\[\]\\]++\]" if brackets else ""),
        r"\#|@|:=|\\|\{|\}|[bBrRnN]'|\$",
        _number(_DIGITS),
    )
    signs = frozenset((operators + " " + marks).split())
    return Lexicon(pattern, signs, runs=False, replaced="${")


def cut(sql: str, lexicon: Lexicon) -> list[SqlToken]:
    """The tokens without space, comments and final semicolons. Raises UnsafeQuery."""
    if lexicon.replaced and lexicon.replaced in sql:
        raise UnsafeQuery(f"{lexicon.replaced} may stand for a setting and isn't allowed")
    tokens: list[SqlToken] = []
    at = 0
    while at < len(sql):
        match = lexicon.pattern.match(sql, at)
        if match is None:
            raise _unreadable(sql, at)
        kind, text = match.lastgroup or "", match[0]
        if kind == "refused":
            raise _refused(sql, at)
        if kind == "operator":
            kind, text = "operator", _operator(sql, at, lexicon)
        elif kind == "mark":
            kind = "operator"
        if kind == "operator" and text not in lexicon.operators:
            raise _unreadable(sql, at)
        if kind == "word" and not all(c.isascii() or c.isalnum() for c in text):
            raise UnreadableQuery(f"the unquoted name {text!r} has unusual characters")
        if kind not in {"space", "comment"}:
            tokens.append(SqlToken(kind, text))
        at += len(text)
    while tokens and tokens[-1].kind == "end":
        tokens.pop()
    return tokens


def _operator(sql: str, at: int, lexicon: Lexicon) -> str:
    if not lexicon.runs:
        for length in (3, 2, 1):
            if sql[at : at + length] in lexicon.operators:
                return sql[at : at + length]
        return sql[at]
    end = at
    while end < len(sql) and sql[end] in _SIGNS and sql[end : end + 2] not in {"--", "/*"}:
        end += 1
    while end > at + 1 and sql[end - 1] in "+-" and not _KEEPING & set(sql[at:end]):
        end -= 1
    return sql[at:end]


def _refused(sql: str, at: int) -> UnsafeQuery:
    if sql.startswith("/*", at):
        return UnsafeQuery("a comment that is a hint, holds another or never ends is not allowed")
    if sql.startswith(("--", "#"), at):
        return UnreadableQuery("two minus signs or # begin a comment in some settings only")
    if sql[at] in "@:":
        return UnsafeQuery("variables are not allowed")
    return UnreadableQuery("texts and names with Unicode escapes are not allowed")


def _unreadable(sql: str, at: int) -> UnreadableQuery:
    character = sql[at]
    if DOLLARS.match(sql, at):
        return UnreadableQuery("texts in dollar quotes are not allowed; write them as '...'")
    if sql.startswith("::", at):
        return UnreadableQuery("there is no :: here; write CAST(x AS type)")
    if character in "?:@$":
        return UnreadableQuery("parameters have no value here; write the values into the query")
    if character in "'\"`":
        return UnreadableQuery(
            "a quote is opened but not closed, or a backslash stands before one: write '' for it"
        )
    return UnreadableQuery(f"the character {character!r} can't stand there")
