"""The part of the guard that needs no parse tree: what a query may be by its tokens.

One statement that begins like a query, within limits of size and nesting. Every name in front of a
parenthesis must be a function a query may call, unless it stands where no function can: before the
columns of a common table expression or as the type of a CAST.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sqlwright.errors import UnsafeQuery
from sqlwright.sql.tokens import SqlToken, UnreadableQuery, tokenize

SQL_LENGTH = 100_000
"""Characters."""
TOKENS = 10_000
"""Words and signs of a query at most."""
NESTING = 100
"""Parentheses and CASEs within each other; signs and NOTs in a row; SELECTs joined by UNION."""

_CALLABLE = """
    abs acos acosh asin asinh atan atan2 atanh avg bm25 ceil ceiling char coalesce concat concat_ws
    cos cosh count cume_dist date datetime degrees dense_rank exp first_value floor format glob
    group_concat hex highlight if ifnull iif instr json json_array json_array_length json_each
    json_error_position json_extract json_group_array json_group_object json_insert json_object
    json_patch json_pretty json_quote json_remove json_replace json_set json_tree json_type
    json_valid jsonb jsonb_array jsonb_extract jsonb_group_array jsonb_group_object jsonb_insert
    jsonb_object jsonb_patch jsonb_remove jsonb_replace jsonb_set julianday lag last_value lead
    length like likelihood likely ln log log10 log2 lower ltrim match max median min mod nth_value
    ntile nullif octet_length percent_rank percentile percentile_cont percentile_disc pi pow power
    printf quote radians random rank regexp replace round row_number rtrim sign sin sinh snippet
    soundex sqrt strftime string_agg substr substring sum tan tanh time timediff total trim trunc
    typeof unhex unicode unistr unistr_quote unixepoch unlikely upper
"""
_NOT_CALLING = """
    all and any as between by case cast check collate cross distinct else end escape except exists
    filter from full glob group groups having in inner intersect is isnull join left like limit
    match materialized natural not notnull null offset on or order outer over partition range
    regexp right rows select then union using values when where window with
"""
_HALF = re.compile("[\ud800-\udfff]")
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

FUNCTIONS = frozenset(_CALLABLE.split())
"""Functions that a query may call. Not shared with the connection's list: two lists, two layers."""
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


def checked_tokens(sql: str) -> list[SqlToken]:
    """The tokens of one statement that starts like a query and calls only what a query may.
    Raises UnsafeQuery."""
    tokens = tokens_within_limits(sql)
    if not tokens:
        written = sql.strip().strip(";").strip()
        raise UnreadableQuery(f"there is no query{', only comments' if written else ''}")
    _check_start(tokens[0])
    for token in tokens:
        if token.kind == "end":
            raise UnsafeQuery("only one statement may run")
        if token.word in _WRITING:
            raise UnsafeQuery(f"a query may not contain {token.word.upper()}")
    _check_calls(tokens)
    return tokens


def tokens_within_limits(sql: str) -> list[SqlToken]:
    """The tokens of a text that is neither too long nor nested too deeply to be parsed, whatever
    it says. Raises UnsafeQuery."""
    if len(sql) > SQL_LENGTH:
        raise UnsafeQuery(f"the query is longer than {SQL_LENGTH:,} characters")
    if "\0" in sql:
        raise UnreadableQuery("the query's text contains a NUL character")
    if _HALF.search(sql):
        raise UnreadableQuery("the query's text is not valid Unicode")
    tokens = tokenize(sql)
    if len(tokens) > TOKENS:
        raise UnsafeQuery(f"the query has more than {TOKENS:,} words and signs")
    check_nesting(tokens)
    return tokens


def begins_like_a_query(tokens: Sequence[SqlToken]) -> bool:
    """True if the first word is one that queries begin with."""
    return bool(tokens) and tokens[0].word in {"select", "with", "values"}


def _check_start(first: SqlToken) -> None:
    if begins_like_a_query([first]):
        return
    if first.word in _OTHER_STATEMENTS:
        raise UnsafeQuery(f"only a query may run, not {first.word.upper()}")
    raise UnreadableQuery(f"a query starts with SELECT or WITH, not {first.text[:40]!r}")


def check_nesting(tokens: Sequence[SqlToken]) -> None:
    """Keep within what a recursive parser can read. Raises UnsafeQuery."""
    depth = row = compound = 0
    for token in tokens:
        depth += (token.text == "(" or token.word == "case") - (
            token.text == ")" or token.word == "end"
        )
        row = row + 1 if token.text in {"-", "+", "~"} or token.word == "not" else 0
        compound += token.word in {"union", "except", "intersect"}
        if max(depth, row, compound) > NESTING:
            raise UnsafeQuery(f"the query nests more than {NESTING} levels deep")


def _check_calls(tokens: Sequence[SqlToken]) -> None:
    pairs = parentheses(tokens)
    lists = set(column_lists(tokens, pairs))
    around: list[int] = []
    for index, token in enumerate(tokens):
        if token.text == ")" and around:
            around.pop()
        if token.text != "(":
            continue
        outer = around[-1] if around else 0
        around.append(index)
        before = tokens[index - 1] if index else SqlToken("", "")
        if before.kind not in {"word", "quoted", "text"}:
            continue
        if before.word in _WORDS or before.name in FUNCTIONS or index in lists:
            continue
        if not _is_type(tokens, index, outer):
            _refuse_call(before.name)


def _refuse_call(name: str) -> None:
    if name in _DANGEROUS:
        raise UnsafeQuery(f"the function {name} is not allowed")
    suggestion = _SUGGESTIONS.get(name)
    more = f"; in SQLite write {suggestion}" if suggestion else ""
    raise UnreadableQuery(
        f"a query may call no function {name[:60]}{more}", cause="unknown_function", name=name
    )


def parentheses(tokens: Sequence[SqlToken]) -> dict[int, int]:
    """Index of the closing parenthesis for that of each opening one."""
    pairs, waiting = {}, []
    for index, token in enumerate(tokens):
        if token.text == "(":
            waiting.append(index)
        elif token.text == ")" and waiting:
            pairs[waiting.pop()] = index
    return pairs


def _is_type(tokens: Sequence[SqlToken], parenthesis: int, outer: int) -> bool:
    """CAST(x AS DECIMAL(10, 2)): the parenthesis around is CAST's own; words back to its AS, only
    numbers in the parentheses, and nothing after them."""
    if not outer or tokens[outer - 1].word != "cast":
        return False
    end = parenthesis + 1
    while end < len(tokens) and (
        tokens[end].kind == "number" or tokens[end].text in {",", "-", "+"}
    ):
        end += 1
    if [token.text for token in tokens[end : end + 2]] != [")", ")"]:
        return False
    back = parenthesis - 1
    while back > outer and tokens[back].word and tokens[back].word != "as":
        back -= 1
    return back > outer and tokens[back].word == "as"


def column_lists(tokens: Sequence[SqlToken], pairs: dict[int, int]) -> Iterator[int]:
    """The parentheses in `WITH name (a, b) AS (...), other (c) AS (...)` that hold columns.

    WITH is a keyword at the beginning and after a parenthesis; anywhere else SQLite may take it for
    a name.
    """
    for index, token in enumerate(tokens):
        if token.word == "with" and (index == 0 or tokens[index - 1].text == "("):
            yield from _with_list(tokens, pairs, index + 1)


def _with_list(tokens: Sequence[SqlToken], pairs: dict[int, int], at: int) -> Iterator[int]:
    def word(index: int) -> str:
        return tokens[index].word if index < len(tokens) else ""

    at += word(at) == "recursive"
    while at + 1 < len(tokens) and tokens[at].kind in {"word", "quoted", "text"}:
        columns, at = 0, at + 1
        if at in pairs:
            columns, inside = at, tokens[at + 1 : pairs[at]]
            if any(t.kind not in {"word", "quoted", "text"} and t.text != "," for t in inside):
                return
            at = pairs[at] + 1
        if word(at) != "as":
            return
        at += 1
        at += word(at) == "not"
        at += word(at) == "materialized"
        if at not in pairs:
            return
        if columns:
            yield columns
        at = pairs[at] + 1
        if at >= len(tokens) or tokens[at].text != ",":
            return
        at += 1
