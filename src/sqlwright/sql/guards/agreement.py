"""The parser's tokens against the engine's: every text and every name must be one to both."""

from __future__ import annotations

from collections.abc import Sequence

from sqlwright.sql.dialects import Dialect
from sqlwright.sql.tokens import SqlToken, UnreadableQuery
from sqlwright.sql.tree import silence


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
