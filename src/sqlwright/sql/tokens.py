"""SQLite's own tokens.

A text is cut exactly as SQLite cuts it, comments dropped, so that nothing can hide in a comment
or quote that another parser would read differently.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from sqlwright.errors import UnsafeQuery
from sqlwright.schema import fold_name

if TYPE_CHECKING:
    from sqlwright.types import ErrorCause

DOLLARS = re.compile(r"\$(?:[^\W\d]\w*)?\$")
"""The mark before and after a text in dollar quotes, as other engines have them."""
TOKEN = re.compile(
    r"""
      (?P<space>[ \t\n\f\r]+)
    | (?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z))
    | (?P<blob>[xX]'(?:[0-9A-Fa-f]{2})*')
    | (?P<text>'(?:[^']|'')*')
    | (?P<quoted>"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\])
    | (?P<number>0[xX][0-9A-Fa-f]+
        |(?:[0-9]+(?:_[0-9]+)*(?:\.[0-9_]*)?|\.[0-9]+(?:_[0-9]+)*)(?:[eE][+-]?[0-9]+)?)
    | (?P<word>[A-Za-z_\u0080-\U0010ffff][A-Za-z0-9_$\u0080-\U0010ffff]*)
    | (?P<operator>->>|->|\|\||<=|>=|<>|<<|>>|==|!=|[-+*/%&|~<>=(),.])
    | (?P<end>;)
    """,
    re.VERBOSE | re.DOTALL,
)

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KEYWORDS = frozenset(
    """
    abort action add after all alter always analyze and as asc attach autoincrement before begin
    between by cascade case cast check collate column commit conflict constraint create cross
    current current_date current_time current_timestamp database default deferrable deferred
    delete desc detach distinct do drop each else end escape except exclude exclusive exists
    explain fail false filter first following for foreign from full generated glob group groups
    having if ignore immediate in index indexed initially inner insert instead intersect into is
    isnull join key last left like limit match materialized natural no not nothing notnull null
    nulls of offset on or order others outer over partition plan pragma preceding primary query
    raise range recursive references regexp reindex release rename replace restrict returning
    right rollback row rows savepoint select set table temp temporary then ties to transaction
    trigger true unbounded union unique update using vacuum values view virtual when where window
    with without rowid oid _rowid_
    """.split()  # noqa: SIM905 - a hundred quoted lines say less
)
"""Every word SQLite may read as more than a name."""


class UnreadableQuery(UnsafeQuery):
    """Refused because it can't be read: broken SQL, or a name that doesn't exist. A mistake rather
    than an attack."""

    def __init__(self, message: str, *, cause: ErrorCause = "syntax", name: str = "") -> None:
        super().__init__(message)
        self.cause: ErrorCause = cause
        self.name = name
        """The table or function that doesn't exist."""


KEPT_LENGTH = 4096
"""Longest query, in characters, whose tokens are kept: a candidate is cut half a dozen times."""


class SqlToken(NamedTuple):
    """One token: its kind (a group of the pattern above) and its text."""

    kind: str
    text: str

    @property
    def word(self) -> str:
        """Lower case when it is an unquoted word, else empty."""
        return fold_name(self.text) if self.kind == "word" else ""

    @property
    def name(self) -> str:
        """The name in lower case where the token may be a name, else empty."""
        if self.kind in {"quoted", "text"}:
            mark = self.text[-1]
            return fold_name(self.text[1:-1].replace(mark * 2, mark))
        return fold_name(self.text)


def tokenize(sql: str) -> list[SqlToken]:
    """Tokens without space, comments and final semicolons. Raises UnreadableQuery."""
    return list(_tokens(sql) if len(sql) <= KEPT_LENGTH else _tokens.__wrapped__(sql))


@lru_cache(maxsize=64)
def _tokens(sql: str) -> tuple[SqlToken, ...]:
    tokens = []
    position = 0
    while position < len(sql):
        match = TOKEN.match(sql, position)
        if match is None:
            raise _unreadable(sql, position)
        position = match.end()
        kind = match.lastgroup or ""
        # SQLite takes every such character for a letter; others may take some for space.
        if kind == "word" and not all(c.isascii() or c.isalnum() for c in match[0]):
            raise UnreadableQuery(f"the unquoted name {match[0]!r} has unusual characters")
        if kind not in {"space", "comment"}:
            tokens.append(SqlToken(kind, match[0]))
    while tokens and tokens[-1].kind == "end":
        tokens.pop()
    return tuple(tokens)


@lru_cache(maxsize=4096)
def quote_name(name: str) -> str:
    """An identifier, quoted where it has to be."""
    if _PLAIN_NAME.fullmatch(name) and fold_name(name) not in _KEYWORDS:
        return name
    return '"' + name.replace('"', '""') + '"'


def quote_text(text: str) -> str:
    """A text as a literal. SQL ends it at a NUL; what may hold one goes by `local.form.write`."""
    return "'" + text.replace("'", "''") + "'"


def view_body(create: str) -> str:
    """The query of a CREATE VIEW text. Raises UnsafeQuery."""
    depth = 0
    for match in TOKEN.finditer(create):
        if match.lastgroup == "comment":
            continue
        depth += (match[0] == "(") - (match[0] == ")")
        if depth == 0 and match.lastgroup == "word" and fold_name(match[0]) == "as":
            return create[match.end() :]
    raise UnreadableQuery("its definition can't be read")


def _unreadable(sql: str, position: int) -> UnreadableQuery:
    character = sql[position]
    if character in "?:@$":
        return UnreadableQuery("parameters have no value here; write the values into the query")
    if character in "'\"`[":
        return UnreadableQuery("a quote is opened but not closed")
    return UnreadableQuery(f"the character {character!r} can't stand there")
