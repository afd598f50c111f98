"""The doorway to the parser (sqlglot): one query's tree, read within bounds and in silence.

The parser tries one reading of a text after the other, and in some shapes (joins without
conditions, calls within calls) tries twice as many with every further word. So its steps are
counted: what takes more of them than any query that somebody means is not read. A step is one move
to another token, forward or back; nothing the parser repeats does without, but for the types of
what subscripts follow, whose nodes count as well. The same count asks whether to stop, so that a
deadline or a person can end it in the middle.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, Protocol

from sqlwright.errors import UnsafeQuery
from sqlwright.sql.dialects import dialect_named
from sqlwright.sql.token_check import (
    SQL_LENGTH,
    TOKENS,
    begins_like_a_query,
    tokens_within_limits,
)
from sqlwright.sql.tokens import SqlToken, UnreadableQuery

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlglot import Dialect, exp

_KEPT = 128
"""Trees."""
_KEPT_LENGTH = 100_000
"""Characters of all the queries whose trees are kept; a tree takes 150 to 500 bytes for each."""
_STEPS = 2_000
"""Steps of sqlglot's parser for any query, on top of those for each token."""
_STEPS_PER_TOKEN = 4
"""Of 18,913 queries of benchmarks none takes more than 3 steps a token."""
_STEPS_PER_NODE = 4
"""Steps that count for each node before a subscript; about as long."""
_NODES = 1_000
"""Nodes of a query's tree for any query, on top of those for each token."""
_NODES_PER_TOKEN = 2
"""In place of steps where the parser is compiled."""
_TYPES = 6
"""Words for types with fields that a text may have there."""
_BRACKETS = 200
"""Opening brackets that a text may have there: 200 subscripts in a row take 0.2 s."""
_AFTER_UNION = frozenset({"ALL", "SELECT", "VALUES"})
_ASK_EVERY = 256
"""Steps; about a millisecond."""

StopReading = Callable[[], None]
"""Called every now and then; raises what ends the reading."""


class _TooManySteps(Exception):
    pass


class _Parser(Protocol):
    def parse(self, raw_tokens: list[Any], sql: str) -> list[exp.Expr | None]: ...


def query_tree(sql: str, dialect: str = "sqlite") -> exp.Query | exp.Values | None:
    """The tree, or None when the text is no query or one that can't be read within bounds. Not to
    be changed: the check shares it."""
    if dialect != "sqlite":
        try:
            return parse_text(sql, dialect)
        except UnsafeQuery:
            return None
    try:
        tokens = tokens_within_limits(sql)
        # Other statements would make the parser fall back to reading anything.
        return parse(tokens) if begins_like_a_query(tokens) else None
    except UnsafeQuery:
        return None


def parse(tokens: Sequence[SqlToken], stop: StopReading | None = None) -> exp.Query | exp.Values:
    """The tree of the one query that tokens within limits make up. Raises UnsafeQuery when they
    don't or the steps run out, and whatever `stop` raises. Not to be changed: it is shared."""
    return _kept(parsed_text(tokens), "sqlite", len(tokens), stop)


def parse_text(sql: str, dialect: str, stop: StopReading | None = None) -> exp.Query | exp.Values:
    """The tree of the one query that a text of another dialect than SQLite's is. Raises UnsafeQuery
    as `parse` does. Not to be changed: it is shared."""
    if len(sql) > SQL_LENGTH:
        raise UnsafeQuery(f"the query is longer than {SQL_LENGTH:,} characters")
    return _kept(sql, dialect, None, stop)


def _kept(
    text: str, dialect: str, tokens: int | None, stop: StopReading | None
) -> exp.Query | exp.Values:
    tree = _trees.get((dialect, text))
    if tree is None:
        tree = _read(text, dialect, tokens, stop or _stop.get())
        _trees.keep((dialect, text), tree)
    if isinstance(tree, UnsafeQuery):
        raise type(tree)(str(tree))
    return tree


def parsed_text(tokens: Sequence[SqlToken]) -> str:
    """The text that the parser is given: the tokens with one space between."""
    return " ".join(map(parsed_token, tokens))


def parsed_token(token: SqlToken) -> str:
    """A token for the parser. It takes unquoted names for keywords whatever their letters' case,
    also where SQLite knows no other case: "\u0131n" for IN, "cro\u00df" for CROSS."""
    if token.kind == "word" and not token.text.isascii() and token.text.upper().isascii():
        return f'"{token.text}"'
    return token.text


def node_text(
    node: exp.Expr, dialect: str = "sqlite", *, pretty: bool = False, comments: bool = True
) -> str:
    """A part of a tree as SQL of a dialect, the whole query included; empty when it is nested too
    deeply to be written or can't be said in SQL."""
    from sqlglot import ParseError

    try:
        with silence():
            parser = dialect_named(dialect).parser
            return node.sql(dialect=parser, pretty=pretty, comments=comments)
    except (ValueError, RecursionError, ParseError, AttributeError, TypeError, LookupError):
        return ""


def source_read(node: exp.Expr) -> exp.Expr | None:
    """The node of the table or query that a table node or `x IN table` reads."""
    from sqlglot import exp

    if isinstance(node, exp.In):
        return node.args.get("field") or node.args.get("unnest")
    return node if isinstance(node, exp.Table) else None


@contextmanager
def silence() -> Iterator[None]:
    """While it lasts, this thread's calls of the parser's library log nothing: what it logs quotes
    stored text, which may hold whatever a terminal obeys."""
    _install_filter()
    before = _silent.set(True)
    try:
        yield
    finally:
        _silent.reset(before)


@contextmanager
def stopped_by(stop: StopReading) -> Iterator[None]:
    """While it lasts, `stop` is asked by the readings of this context that are given no other."""
    before = _stop.set(stop)
    try:
        yield
    finally:
        _stop.reset(before)


class _Trees:
    """The trees read last, or why there is none. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[tuple[str, str], exp.Query | exp.Values | UnsafeQuery] = {}

    def get(self, key: tuple[str, str]) -> exp.Query | exp.Values | UnsafeQuery | None:
        with self._lock:
            tree = self._kept.pop(key, None)
            if tree is not None:
                self._kept[key] = tree  # now the last that was asked for
            return tree

    def keep(self, key: tuple[str, str], tree: exp.Query | exp.Values | UnsafeQuery) -> None:
        with self._lock:
            self._kept[key] = tree
            length = sum(len(text) for _, text in self._kept)
            while len(self._kept) > _KEPT or length > _KEPT_LENGTH:
                oldest = next(iter(self._kept))
                length -= len(oldest[1])
                del self._kept[oldest]


_trees = _Trees()
_silent: ContextVar[bool] = ContextVar("silent", default=False)
_stop: ContextVar[StopReading | None] = ContextVar("stop", default=None)


@cache
def _install_filter() -> None:
    logging.getLogger("sqlglot").addFilter(lambda _: not _silent.get())


def _read(
    text: str, dialect: str, tokens: int | None, stop: StopReading | None
) -> exp.Query | exp.Values | UnsafeQuery:
    """The tree, or why there is none."""
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    if stop is not None:
        stop()
    with silence():
        try:
            found = _parsed(text, dialect, tokens, stop)
        except _TooManySteps:
            return UnreadableQuery(
                "the query has too many readings to be checked: give each JOIN its ON, nest fewer "
                "calls and queries within each other, and write fewer subscripts in a row"
            )
        except (SqlglotError, TypeError, ValueError, AttributeError, LookupError) as error:
            # Broken SQL of some dialects ends in errors of the parser's own.
            return UnreadableQuery(f"the query can't be read: {_first_problem(error)}")
        except RecursionError:
            return UnsafeQuery("the query is nested too deeply")
    trees = [tree for tree in found if tree is not None]
    if len(trees) != 1:
        return UnsafeQuery("only one statement may run")
    tree = trees[0]
    if not isinstance(tree, (exp.Query, exp.Values)):
        return UnsafeQuery("only a query may run")
    return tree


def _parsed(
    text: str, dialect: str, tokens: int | None, stop: StopReading | None
) -> list[exp.Expr | None]:
    from sqlglot import Dialect

    engine = Dialect.get_or_raise(dialect_named(dialect).parser)
    given = engine.tokenize(text)
    count = len(given) if tokens is None else tokens
    if count > TOKENS:
        raise _TooManySteps
    counting = _counting_parser(type(engine))
    if counting is not None:
        return counting(count, stop).parse(given, text)
    # Compiled, the parser lets nobody look on. It counts the nodes it makes itself; the readings
    # that make none are those of types within types, and of what a subscript follows.
    most = _NODES + _NODES_PER_TOKEN * count
    types = engine.parser_class.STRUCT_TYPE_TOKENS
    pairs = pairwise(given)
    named = sum(a.token_type in types and b.text.upper() not in _AFTER_UNION for a, b in pairs)
    if named > _TYPES or sum(one.text == "[" for one in given) > _BRACKETS:
        raise _TooManySteps
    parser = engine.parser(max_nodes=most)
    try:
        return parser.parse(given, text)
    finally:
        if parser._node_count > most:
            raise _TooManySteps


@cache
def _counting_parser(
    engine: type[Dialect],
) -> Callable[[int, StopReading | None], _Parser] | None:
    """The dialect's parser that counts its steps; None where the library is compiled."""
    base: Any = engine.parser_class

    def advance(self: Any, times: int = 1) -> None:
        self.left -= 1
        if self.left < 0:
            raise _TooManySteps
        if not self.left % _ASK_EVERY and self.stop is not None:
            self.stop()
        base._advance(self, times)

    def bracket(self: Any, this: Any = None) -> Any:
        # What a subscript follows is read again, whole, for its type.
        if this is not None and self._curr and self._curr.token_type in base.BRACKETS:
            before, most = self.left, self.left // _STEPS_PER_NODE + 1
            self.left -= _STEPS_PER_NODE * sum(1 for _ in islice(this.walk(), most))
            if self.left < 0:
                raise _TooManySteps
            if self.left // _ASK_EVERY != before // _ASK_EVERY and self.stop is not None:
                self.stop()
        return base._parse_bracket(self, this)

    def begin(self: Any, tokens: int, stop: StopReading | None) -> None:
        base.__init__(self, dialect=engine())
        self.left = _STEPS + _STEPS_PER_TOKEN * tokens
        self.stop = stop

    try:
        changed = {"__init__": begin, "_advance": advance, "_parse_bracket": bracket}
        counting = type("Counting", (base,), changed)
        counting(0, None)
    except TypeError:
        return None
    return counting


def _first_problem(error: Exception) -> str:
    details = getattr(error, "errors", None)
    if not details:
        return str(error).splitlines()[0]
    description = str(details[0].get("description") or "").rstrip(".")
    return f"{description} near {details[0].get('highlight')!r}"
