"""Translates between symbols of the grammar and the numbers that the decoder reads and writes.

Token ids: 0 .. K-1 are KEYWORDS, K is the start of a query, and K+1+n is node n. A literal is
either one stored-value node, or two word nodes: where it begins and where it ends in the question.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlwright.english.as_trained import NUMBER_WORDS, Word
from sqlwright.local.form.nodes import Literal
from sqlwright.local.form.sequence.symbols import (
    KEYWORDS,
    LIKES,
    Keyword,
    Symbol,
    TableSymbol,
    constant_word,
    keyword_name,
)
from sqlwright.local.parser.nodes import WORD, Encoded, TableNode, ValueNode
from sqlwright.schema import ColumnRef
from sqlwright.types import Question

BEGIN = len(KEYWORDS)
"""Token id of the start of a query."""
FIRST_NODE = BEGIN + 1
"""Token id of node 0."""
_PATTERNS = frozenset({"strftime", *LIKES, *(f"not_{kind}" for kind in LIKES)})
"""The keywords behind which a text must be pointed at."""
MAX_SPAN = 12
"""Most words of one literal; as in training."""


class Span(NamedTuple):
    """A literal as words of the question: indices of the first and last one."""

    first: int
    last: int


def number_of(text: str) -> int | float | None:
    """The number a text stands for, else None.

    >>> number_of("1,000"), number_of("two"), number_of("5k"), number_of("3.50"), number_of("x")
    (1000, 2, 5000, 3.5, None)
    """
    plain = text.strip().strip("$€£%").replace(",", "").lower()
    if plain in NUMBER_WORDS:
        return NUMBER_WORDS[plain]
    scale = {"k": 1_000, "m": 1_000_000}.get(plain[-1:], 1) if plain[:1].isdigit() else 1
    if scale > 1:
        plain = plain[:-1]
    if not plain.isascii() or not plain.lstrip("-").replace(".", "", 1).isdigit():
        return None
    value = float(plain) * scale
    return int(value) if value.is_integer() and "." not in plain else value


def fold(text: str) -> str:
    """A text without case, surrounding signs and repeated blanks."""
    return " ".join(text.casefold().split()).strip(" '\"%.,!?;:")


def span_text(span: Span, words: Sequence[Word], question: Question) -> str:
    """The text of a span, as written in the question or its evidence."""
    first, last = words[span.first], words[span.last]
    text = question.evidence if first.evidence else question.text
    return text[first.start : last.end]


def find_literal(
    literal: Literal, column: ColumnRef | None, encoded: Encoded, question: Question
) -> tuple[int, ...] | None:
    """Token ids of a gold literal: a stored value (of `column` first), a span, or None."""
    text = str(literal.value)
    wanted = fold(text)
    others = []
    for number, node in enumerate(encoded.nodes):
        if isinstance(node, ValueNode) and isinstance(literal.value, str):
            if node.column == column and fold(node.value) == wanted:
                return (FIRST_NODE + number,)
            if node.value == text:
                others.append(number)
    words = [node for node in encoded.nodes if isinstance(node, Word)]
    span = find_span(text, words, question)
    if span is not None:
        return (FIRST_NODE + span.first, FIRST_NODE + span.last)
    return (FIRST_NODE + others[0],) if others else None


def find_span(text: str, words: Sequence[Word], question: Question) -> Span | None:
    """The words that say a literal: the same text, else the same number."""
    wanted = fold(text)
    number = number_of(text)
    for first, word in enumerate(words):
        for last in range(first, min(len(words), first + MAX_SPAN)):
            if words[last].evidence != word.evidence:
                break
            said = span_text(Span(first, last), words, question)
            if len(said) > len(wanted) + 8:
                break
            if fold(said) == wanted and wanted:
                return Span(first, last)
    if number is None:
        return None
    for first, word in enumerate(words):
        if number_of(word.text) == number:
            return Span(first, first)
    return None


def node_symbol(encoded: Encoded, node: int) -> Symbol | None:
    """The symbol a node stands for by itself; None for a question word."""
    found = encoded.nodes[node]
    if isinstance(found, TableNode):
        return TableSymbol(found.table)
    if isinstance(found, ColumnRef):
        return found
    return Literal(found.value) if isinstance(found, ValueNode) else None


def to_tokens(
    symbols: Sequence[Symbol], encoded: Encoded, question: Question
) -> list[tuple[int, ...]] | None:
    """Token ids of each symbol; None when something in the query isn't in the input."""
    places: dict[Symbol, int] = {}
    for number, kind in enumerate(encoded.node_kinds.tolist()):
        if kind != WORD:
            symbol = node_symbol(encoded, number)
            if isinstance(symbol, ColumnRef | TableSymbol):
                places[symbol] = FIRST_NODE + number
    tokens: list[tuple[int, ...]] = []
    column: ColumnRef | None = None
    before = ""
    for symbol in symbols:
        last, before = before, keyword_name(symbol)
        if isinstance(symbol, Keyword):
            tokens.append((symbol.position,))
            continue
        if isinstance(symbol, Literal):
            found = find_literal(symbol, column, encoded, question)
            word = None if last in _PATTERNS else constant_word(symbol.value)
            if found is None and word is not None:
                found = (word.position,)
            if found is None:
                return None
            tokens.append(found)
            continue
        column = symbol if isinstance(symbol, ColumnRef) else column
        if symbol not in places:
            return None
        tokens.append((places[symbol],))
    return tokens
