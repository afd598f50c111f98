"""The parser's tokens against the engine's: every text and every name must be one to both."""

from __future__ import annotations

from collections.abc import Sequence

from sqlwright.sql.dialects import Dialect
from sqlwright.sql.tokens import SqlToken, UnreadableQuery
from sqlwright.sql.tree import silence


def agreed_text(tokens: Sequence[SqlToken], dialect: Dialect) -> str:
    """What the parser is given: the tokens with one space between. Raises UnreadableQuery unless
    it cuts them alike."""
    from sqlglot.dialects.dialect import Dialect as Parser
    from sqlglot.errors import SqlglotError

    text = " ".join(token.text for token in tokens)
    try:
        with silence():
            found = Parser.get_or_raise(dialect.parser).tokenize(text)
    except SqlglotError as error:
        raise UnreadableQuery("the query can't be read") from error
    starts, ends, at = {}, {}, 0
    for index, token in enumerate(tokens):
        starts[at] = index
        at += len(token.text)
        ends[at - 1] = index
        at += 1
    waiting = 0
    for other in found:
        first, last = starts.get(other.start), ends.get(other.end)
        if first != waiting or last is None or last < first or other.comments:
            raise _disagreed(text[other.start : other.end + 1])
        waiting = last + 1
        kinds = {token.kind for token in tokens[first : last + 1]}
        if not _alike(other.token_type.name, other.text, tokens[first], kinds, last - first):
            raise _disagreed(text[other.start : other.end + 1])
    if waiting != len(tokens):
        raise _disagreed(tokens[waiting].text)
    return text


def _alike(parsed: str, text: str, token: SqlToken, kinds: set[str], more: int) -> bool:
    if parsed in {"STRING", "BYTE_STRING"}:
        mark = token.text[-1]
        inner = token.text[token.text.index(mark) + 1 : -1].replace(mark * 2, mark)
        return kinds == {"text"} and not more and ("\\" in inner or text == inner)
    if parsed == "IDENTIFIER":
        mark = token.text[-1]
        inner = token.text[1:-1].replace(mark * 2, mark)
        return kinds == {"quoted"} and not more and text == inner
    if parsed in {"HEX_STRING", "BIT_STRING"}:
        return kinds <= {"blob", "number"} and not more
    if "quoted" in kinds or "text" in kinds or "blob" in kinds or "STRING" in parsed:
        return False
    # Some words together are one to the parser: GROUP BY, NOT NULL.
    return not more or kinds <= {"word", "operator"}


def _disagreed(text: str) -> UnreadableQuery:
    return UnreadableQuery(f"{text[:60]!r} can be read in more than one way")
