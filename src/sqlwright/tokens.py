"""SQLite's own tokens, and the part of the guard that needs no parse tree.

A query is cut exactly as SQLite cuts it, comments dropped, so that nothing can hide in a comment
or quote that another parser would read differently. Every name in front of a parenthesis must be a
function a query may call, or plainly something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from sqlwright.errors import UnsafeQuery

SQL_LENGTH = 100_000
"""Characters."""
TOKENS = 10_000
NESTING = 100
"""Parentheses and CASEs within each other; signs and NOTs in a row; SELECTs joined by UNION."""

_TOKEN = re.compile(
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

_CALLABLE = """
    abs acos acosh asin asinh atan atan2 atanh avg bm25 ceil ceiling char coalesce concat concat_ws
    cos cosh count cume_dist date datetime degrees dense_rank exp first_value floor format glob
    group_concat hex highlight if ifnull iif instr json json_array json_array_length json_each
    json_error_position json_extract json_group_array json_group_object json_insert json_object
    json_patch json_pretty json_quote json_remove json_replace json_set json_tree json_type
    json_valid jsonb jsonb_extract julianday lag last_value lead length like likelihood likely ln
    log log10 log2 lower ltrim match max median min mod nth_value ntile nullif octet_length
    percent_rank percentile percentile_cont percentile_disc pi pow power printf quote radians
    random rank regexp replace round row_number rtrim sign sin sinh snippet soundex sqrt strftime
    string_agg substr substring sum tan tanh time timediff total trim trunc typeof unhex unicode
    unixepoch unlikely upper
"""
_NOT_CALLING = """
    all and any as between by case cast check collate cross distinct else end escape except exists
    filter from full glob group groups having in inner intersect is isnull join left like limit
    match materialized natural not notnull null offset on or order outer over partition range
    regexp right rows select then union using values when where window with
"""
_RESERVED = "alter commit create delete drop insert into returning set transaction update"
_STATEMENTS = """
    abort alter analyze attach begin commit copy create delete detach drop end explain export grant
    insert load merge pragma reindex release replace revoke rollback savepoint truncate update
    use vacuum
"""
_EXISTING = """
    changes edit eval fts3_tokenizer fts5 fts5_decode fts5_source_id last_insert_rowid
    load_extension lsmode matchinfo offsets optimize randomblob readfile rtreecheck rtreedepth
    rtreenode shell_add_schema sqlite_compileoption_get sqlite_compileoption_used sqlite_log
    sqlite_offset sqlite_source_id sqlite_version total_changes writefile zeroblob
"""

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

FUNCTIONS = frozenset(_CALLABLE.split())
"""What a query may call. Not shared with the connection's list: two lists, two layers."""
_WORDS = frozenset(_NOT_CALLING.split())
"""Words that may stand before a parenthesis without calling anything."""
_WRITING = frozenset(_RESERVED.split())
"""Words SQLite reserves for statements that aren't queries; as names they must be quoted."""
_OTHER_STATEMENTS = frozenset(_STATEMENTS.split())
_DANGEROUS = frozenset(_EXISTING.split())

_SUGGESTIONS = {
    "concat_agg": "group_concat(x)",
    "curdate": "date('now')",
    "date_format": "strftime('%Y-%m-%d', x)",
    "datediff": "julianday(a) - julianday(b)",
    "day": "strftime('%d', x)",
    "getdate": "datetime('now')",
    "hour": "strftime('%H', x)",
    "isnull": "ifnull(x, y)",
    "left": "substr(x, 1, n)",
    "len": "length(x)",
    "lpad": "printf('%05d', x)",
    "month": "strftime('%m', x)",
    "now": "datetime('now')",
    "nvl": "ifnull(x, y)",
    "rand": "random()",
    "right": "substr(x, -n)",
    "str_to_date": "date(x)",
    "timestampdiff": "julianday(a) - julianday(b)",
    "to_char": "strftime('%Y-%m-%d', x)",
    "to_date": "date(x)",
    "year": "strftime('%Y', x)",
}


class UnreadableQuery(UnsafeQuery):
    """Refused because it can't be read: broken SQL, or a function that doesn't exist. A mistake
    rather than an attack."""


class Token(NamedTuple):
    """One token: its kind (a group of the pattern above) and its text."""

    kind: str
    text: str

    @property
    def word(self) -> str:
        """Lower case when it is an unquoted word, else empty."""
        return self.text.lower() if self.kind == "word" else ""

    @property
    def name(self) -> str:
        """What it names where a name stands, in lower case."""
        if self.kind in {"quoted", "text"}:
            mark = self.text[-1]
            return self.text[1:-1].replace(mark * 2, mark).lower()
        return self.text.lower()


def tokenize(sql: str) -> list[Token]:
    """Tokens without space, comments and final semicolons. Raises UnreadableQuery."""
    tokens = []
    position = 0
    while position < len(sql):
        match = _TOKEN.match(sql, position)
        if match is None:
            raise _unreadable(sql, position)
        position = match.end()
        kind = match.lastgroup or ""
        # SQLite takes every such character for a letter; others may take some for space.
        if kind == "word" and not all(c.isascii() or c.isalnum() for c in match[0]):
            raise UnreadableQuery(f"the unquoted name {match[0]!r} has unusual characters")
        if kind not in {"space", "comment"}:
            tokens.append(Token(kind, match[0]))
    while tokens and tokens[-1].kind == "end":
        tokens.pop()
    return tokens


class Piece(NamedTuple):
    """A token, space or comment of a text and where it begins; `other` is what SQL has no use for,
    an opening quote that is never closed included."""

    kind: str
    text: str
    start: int


def pieces(text: str) -> Iterator[Piece]:
    """Everything in a text, SQL or not, cut as SQLite would cut it, nothing left out."""
    at = 0
    closings = {mark: text.rfind("]" if mark == "[" else mark) for mark in "'\"`["}
    while at < len(text):
        # A quote that nothing closes is not looked for to the end of the text again and again.
        match = None if closings.get(text[at], at + 1) <= at else _TOKEN.match(text, at)
        found = match[0] if match else text[at]
        yield Piece((match.lastgroup or "other") if match else "other", found, at)
        at += len(found)


@lru_cache(maxsize=4096)
def quote_name(name: str) -> str:
    """An identifier, quoted where it has to be."""
    if _PLAIN_NAME.fullmatch(name) and name.lower() not in _KEYWORDS:
        return name
    return '"' + name.replace('"', '""') + '"'


def checked_tokens(sql: str) -> list[Token]:
    """The tokens of one statement that starts like a query and calls only what a query may.
    Raises UnsafeQuery."""
    if len(sql) > SQL_LENGTH:
        raise UnsafeQuery(f"the query is longer than {SQL_LENGTH:,} characters")
    if any("\ud800" <= c <= "\udfff" for c in sql):
        raise UnreadableQuery("the query's text is not valid Unicode")
    tokens = tokenize(sql)
    if not tokens:
        written = sql.strip().strip(";").strip()
        raise UnreadableQuery(f"there is no query{', only comments' if written else ''}")
    _check_start(tokens[0])
    if len(tokens) > TOKENS:
        raise UnsafeQuery(f"the query has more than {TOKENS:,} words and signs")
    _check_nesting(tokens)
    for index, token in enumerate(tokens):
        if token.kind == "end":
            raise UnsafeQuery("only one statement may run")
        if token.word in _WRITING:
            raise UnsafeQuery(f"a query may not contain {token.word.upper()}")
        if token.text == "(":
            _check_call(tokens, index)
    return tokens


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
"""How statements that change something begin, word by word: `*` is a name, `;` the end."""
_OPTIONAL = "exists if materialized not temp temporary unique virtual"
_BESIDES = frozenset(_OPTIONAL.split())
"""Words that may stand among them and make no difference."""


def holds_change(text: str) -> bool:
    """Whether a statement of SQL that changes data, structure or rights begins at the beginning of
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


def view_body(create: str) -> str:
    """The query of a CREATE VIEW text. Raises UnsafeQuery."""
    depth = 0
    for match in _TOKEN.finditer(create):
        if match.lastgroup == "comment":
            continue
        depth += (match[0] == "(") - (match[0] == ")")
        if depth == 0 and match.lastgroup == "word" and match[0].lower() == "as":
            return create[match.end() :]
    raise UnreadableQuery("its definition can't be read")


def _unreadable(sql: str, position: int) -> UnreadableQuery:
    character = sql[position]
    if character in "?:@$":
        return UnreadableQuery("parameters have no value here; write the values into the query")
    if character in "'\"`[":
        return UnreadableQuery("a quote is opened but not closed")
    return UnreadableQuery(f"the character {character!r} can't stand there")


def _check_start(first: Token) -> None:
    if first.word in {"select", "with", "values"}:
        return
    if first.word in _OTHER_STATEMENTS:
        raise UnsafeQuery(f"only a query may run, not {first.word.upper()}")
    raise UnreadableQuery(f"a query starts with SELECT or WITH, not {first.text[:40]!r}")


def _check_nesting(tokens: list[Token]) -> None:
    """Keep within what a recursive parser can read."""
    depth = row = compound = 0
    for token in tokens:
        depth += (token.text == "(" or token.word == "case") - (
            token.text == ")" or token.word == "end"
        )
        row = row + 1 if token.text in {"-", "+", "~"} or token.word == "not" else 0
        compound += token.word in {"union", "except", "intersect"}
        if max(depth, row, compound) > NESTING:
            raise UnsafeQuery(f"the query nests more than {NESTING} levels deep")


def _check_call(tokens: list[Token], parenthesis: int) -> None:
    token = tokens[parenthesis - 1] if parenthesis else Token("", "")
    if token.kind not in {"word", "quoted", "text"}:
        return
    if token.word in _WORDS or token.name in FUNCTIONS:
        return
    if _is_type(tokens, parenthesis) or _is_table_expression(tokens, parenthesis):
        return
    if token.name in _DANGEROUS:
        raise UnsafeQuery(f"the function {token.name} is not allowed")
    suggestion = _SUGGESTIONS.get(token.name)
    more = f"; in SQLite write {suggestion}" if suggestion else ""
    raise UnreadableQuery(f"there is no function {token.name[:60]} to use{more}")


def _is_type(tokens: list[Token], parenthesis: int) -> bool:
    """CAST(x AS DECIMAL(10, 2)): words back to AS, and only numbers in the parentheses."""
    end = parenthesis + 1
    while end < len(tokens) and (tokens[end].kind == "number" or tokens[end].text in {",", "-"}):
        end += 1
    if [token.text for token in tokens[end : end + 2]] != [")", ")"]:
        return False
    back = parenthesis - 1
    while back > 0 and tokens[back].word and tokens[back].word != "as":
        back -= 1
    return tokens[back].word == "as"


def _is_table_expression(tokens: list[Token], parenthesis: int) -> bool:
    """WITH name(a, b) AS (...): only names in the parentheses, then AS and a query."""
    before = tokens[parenthesis - 2] if parenthesis > 1 else Token("", "")
    if before.word not in {"with", "recursive"} and before.text != ",":
        return False
    end = parenthesis + 1
    while end < len(tokens) and (tokens[end].kind in {"word", "quoted"} or tokens[end].text == ","):
        end += 1
    after = [token.text.lower() for token in tokens[end : end + 3]]
    return after[:2] == [")", "as"] and after[2:] in (["("], ["not"], ["materialized"])
