"""A second opinion on what a query reads: names that stand where tables do, told from the words
alone. The tree must know each of them as a table."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from sqlwright.sql.guards.rules import words
from sqlwright.sql.tokens import SqlToken, UnreadableQuery

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
