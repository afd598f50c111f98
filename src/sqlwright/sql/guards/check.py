"""The tree check of a query in any dialect but SQLite's."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Sequence
from dataclasses import dataclass

from sqlwright.errors import UnsafeQuery
from sqlwright.sql.dialects import Dialect
from sqlwright.sql.guards.attributes import check_columns
from sqlwright.sql.guards.calls import check_tokens
from sqlwright.sql.guards.lexicon import cut
from sqlwright.sql.guards.nodes import check_node, listed, read_name
from sqlwright.sql.guards.rules import Own, Readable, Rules, rules_of, words
from sqlwright.sql.token_check import SQL_LENGTH, TOKENS
from sqlwright.sql.tokens import SqlToken, UnreadableQuery
from sqlwright.sql.tree import StopReading, parse_text, silence

_ENDS = words(
    """
    except fetch for group having intersect limit offset order prewhere qualify select union where
    window
    """
)
"""Words that end a list of tables."""
_FROM_IN_CALLS = words("extract overlay position substr substring trim")
"""Functions whose arguments FROM may stand between."""
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")


@dataclass(slots=True)
class _Level:
    """The state of reading between two parentheses."""

    call: bool = False
    """FROM is a word of a function's."""
    listing: bool = False
    """A list of tables is under way."""
    expecting: bool = False
    """The next name is a table's."""


def check_sources(tokens: Sequence[SqlToken], tables: Collection[tuple[str, ...]]) -> None:
    """Raise UnreadableQuery for a name in a table's place that isn't among the tables, which are
    the names that the tree reads, in parts, as they're written."""
    for parts in _sources(tokens):
        if parts not in tables:
            raise UnreadableQuery(f"{'.'.join(parts)[:60]!r} can be read in more than one way")


def _sources(tokens: Sequence[SqlToken]) -> Iterator[tuple[str, ...]]:
    levels = [_Level()]
    for index, token in enumerate(tokens):
        level = levels[-1]
        word = "" if index and tokens[index - 1].text == "." else token.word
        if token.text in _OPENING:
            inner = level.expecting and token.text == "("
            called = index > 0 and tokens[index - 1].word in _FROM_IN_CALLS
            levels.append(_Level(call=called, listing=inner, expecting=inner))
            level.expecting = False
        elif token.text in _CLOSING:
            if len(levels) > 1:
                levels.pop()
        elif (
            (word == "from" and not level.call and not _is_distinct_from(tokens, index))
            or word == "join"
            or (token.text == "," and level.listing)
        ):
            level.listing = level.expecting = True
        elif word in _ENDS or (level.expecting and word in {"values", "with"}):
            level.listing = level.expecting = False
        elif level.expecting and word not in {"lateral", "only"}:
            parts, after = _name(tokens, index)
            level.expecting = after == ":"  # DuckDB's alias: table
            if parts and after not in {"(", ":"}:
                yield parts


def _is_distinct_from(tokens: Sequence[SqlToken], index: int) -> bool:
    return (
        index > 1
        and tokens[index - 1].word == "distinct"
        and (tokens[index - 2].word in {"is", "not"})
    )


def _name(tokens: Sequence[SqlToken], index: int) -> tuple[tuple[str, ...], str]:
    """The parts of the name that begins there, and what comes after it."""
    parts: list[str] = []
    while index < len(tokens) and tokens[index].kind in {"word", "quoted", "text"}:
        parts.append(plain_name(tokens[index]))
        index += 1
        if index >= len(tokens) or tokens[index].text != ".":
            break
        index += 1
    return tuple(parts), tokens[index].text if index < len(tokens) else ""


def plain_name(token: SqlToken) -> str:
    """A name as it is written, without its quotes."""
    if token.kind == "word":
        return token.text
    mark = token.text[-1]
    return token.text[1:-1].replace(mark * 2, mark)


def agreed_text(tokens: Sequence[SqlToken], dialect: Dialect) -> str:
    """The text for the parser: the tokens with one space between. Raises UnreadableQuery unless
    it cuts them alike."""
    from sqlglot import Dialect as Parser
    from sqlglot.errors import SqlglotError

    tokens = [_spelled(token) for token in tokens]
    text = " ".join(token.text for token in tokens)
    try:
        with silence():
            found = Parser.get_or_raise(dialect.parser).tokenize(text)
    except SqlglotError as error:
        raise UnreadableQuery("the query can't be read") from error
    spans, at = [], 0
    for token in tokens:
        spans.append((at, at + len(token.text) - 1))
        at += len(token.text) + 1
    index = inside = 0  # the token that comes next, and how much of it was cut off before
    for other in found:
        cut = text[other.start : other.end + 1]
        if other.comments or index == len(tokens) or other.start != spans[index][0] + inside:
            raise _disagreed(cut)
        if tokens[index].kind == "operator" and other.end < spans[index][1]:
            inside = other.end + 1 - spans[index][0]
            continue
        first, inside = index, 0
        while index < len(tokens) and spans[index][1] < other.end:
            index += 1
        if index == len(tokens) or spans[index][1] != other.end:
            raise _disagreed(cut)
        index += 1
        if not _alike(other.token_type.name, other.text, tokens[first:index]):
            raise _disagreed(cut)
    if index != len(tokens) or inside:
        raise _disagreed(tokens[min(index, len(tokens) - 1)].text)
    return text


def _spelled(token: SqlToken) -> SqlToken:
    """The parser takes .5 for two tokens."""
    short = token.kind == "number" and token.text.startswith(".")
    return SqlToken("number", f"0{token.text}") if short else token


def _alike(parsed: str, text: str, tokens: Sequence[SqlToken]) -> bool:
    """True if a token of the parser's is what the engine's are that it is made of."""
    token, kinds, alone = tokens[0], {token.kind for token in tokens}, len(tokens) == 1
    if parsed in {"STRING", "BYTE_STRING"}:
        mark = token.text[-1]
        inner = token.text[token.text.index(mark) + 1 : -1].replace(mark * 2, mark)
        return kinds == {"text"} and alone and ("\\" in inner or text == inner)
    if parsed == "IDENTIFIER":
        mark = token.text[-1]
        inner = token.text[1:-1].replace(mark * 2, mark)
        return kinds == {"quoted"} and alone and text == inner
    if parsed in {"HEX_STRING", "BIT_STRING"}:
        return kinds <= {"blob", "number"} and alone
    if "quoted" in kinds or "text" in kinds or "blob" in kinds or "STRING" in parsed:
        return False
    # Some words together are one to the parser: GROUP BY, NOT NULL.
    return alone or kinds <= {"word", "operator"}


def _disagreed(text: str) -> UnreadableQuery:
    return UnreadableQuery(f"{text[:60]!r} can be read in more than one way")


_ASK_EVERY = 512
"""Nodes of a tree between two checks for cancellation; chosen."""


def check_text(
    sql: str,
    dialect: Dialect,
    *,
    readable: Readable,
    own: Own,
    columns: Container[str] | None,
    stop: StopReading | None,
) -> frozenset[str]:
    """The names of the tables that a query reads and of its expressions, as they are listed. Raises
    UnsafeQuery."""
    from sqlglot import exp

    rules = rules_of(dialect)
    tokens = _tokens(sql, rules)
    check_tokens(tokens, rules, own)
    tree = parse_text(agreed_text(tokens, dialect), dialect.name, stop)
    tables = listed(readable, rules)
    folded = own.folded()
    names: set[str] = set()
    read: set[tuple[str, ...]] = set()
    for number, node in enumerate(tree.walk()):
        if stop is not None and not number % _ASK_EVERY:
            stop()
        check_node(node, rules, folded)
        if isinstance(node, exp.Table) and not isinstance(node.this, exp.Func):
            names.add(read_name(node, tables, rules))
            read.add(tuple(part.name for part in node.parts))
    check_sources(tokens, read)
    try:
        check_columns(tree, rules, columns, folded)
    except RecursionError:
        raise UnreadableQuery("too many expressions of the query build on each other") from None
    return frozenset(names)


def _tokens(sql: str, rules: Rules) -> list[SqlToken]:
    if len(sql) > SQL_LENGTH:
        raise UnsafeQuery(f"the query is longer than {SQL_LENGTH:,} characters")
    if "\0" in sql:
        raise UnreadableQuery("the query's text contains a NUL character")
    if any("\ud800" <= c <= "\udfff" for c in sql):
        raise UnreadableQuery("the query's text is not valid Unicode")
    tokens = cut(sql, rules.lexicon)
    if len(tokens) > TOKENS:
        raise UnsafeQuery(f"the query has more than {TOKENS:,} words and signs")
    return tokens
