"""The symbols that may come next: a pushdown automaton over the linearized form.

A state is a stack of frames; the top frame alone decides what is allowed, so masks are computed
once per kind of frame. Every finished sequence can be read by `delinearize` and written by
`write_sql`, and what is written prepares on the database (save tables that nothing joins): both
sides of a set operation have as many items, subqueries used as values have one, aggregates don't
nest, WHERE holds none, GROUP BY terms aren't bare numbers, nesting is bounded.

Constrained decoding by an incremental parser follows PICARD (Scholak et al., EMNLP 2021) and the
grammar-based decoders before it; here the grammar is small enough to need no parser.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form.nodes import Literal
from sqlwright.local.form.sequence.delinear import delinearize
from sqlwright.local.form.sequence.linear import linearize
from sqlwright.local.form.sequence.rules import COLUMN, TABLE, VALUE, Frame, Part, Scope, moves_of
from sqlwright.local.form.sequence.symbols import BY_NAME, KEYWORDS, Keyword, Symbol, TableSymbol
from sqlwright.schema import ColumnRef

__all__ = [
    "KEYWORDS",
    "Allowed",
    "GrammarState",
    "Keyword",
    "Literal",
    "Symbol",
    "TableSymbol",
    "delinearize",
    "linearize",
]


@dataclass(frozen=True, slots=True)
class Allowed:
    """Symbols that may come next."""

    keywords: npt.NDArray[np.bool_]
    """One flag per keyword; shared and read-only."""
    column: bool
    table: bool
    value: bool
    integer: bool = False
    """The value must be a whole number (LIMIT, OFFSET)."""
    text: bool = False
    """The value must be a text (a phrase of LIKE, a date format)."""


class GrammarState:
    """A position in a sequence. Immutable: `advance` gives another state."""

    __slots__ = ("_stack",)

    def __init__(self) -> None:
        self._stack: tuple[Part, ...] = (Scope("top", "start", 0),)

    @property
    def finished(self) -> bool:
        """True after the last `end`; nothing may follow."""
        return not self._stack

    @property
    def depth(self) -> int:
        """Parts that are still open; a way to tell how far from finished a state is."""
        return len(self._stack)

    def allowed(self) -> Allowed:
        """Symbols that may come next; nothing once finished. The arrays are shared: don't write to
        them."""
        return _allowed(self._stack[-1]) if self._stack else _NOTHING

    def advance(self, symbol: Symbol) -> GrammarState:
        """The state after one more symbol. Raises UnsupportedQuery when it isn't allowed."""
        key = _key(symbol)
        parts = moves_of(self._stack[-1]).get(key) if self._stack else None
        if parts is None:
            raise UnsupportedQuery(f"{symbol} can't come here")
        if isinstance(symbol, Literal):
            _check_value(self._stack[-1], symbol)
        rest = self._stack[:-1]
        top = self._stack[-1]
        if key == "end" and isinstance(top, Scope) and top.kind == "derived":
            # The enclosing query learns how many items its new derived table has.
            parent = rest[-1]
            assert isinstance(parent, Scope)
            parts = (parent._replace(derived=(*parent.derived, top.items)),)
            rest = rest[:-1]
        state = GrammarState.__new__(GrammarState)
        state._stack = rest + parts
        return state

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GrammarState) and self._stack == other._stack

    def __hash__(self) -> int:
        return hash(self._stack)


def _key(symbol: Symbol) -> str:
    if isinstance(symbol, Keyword):
        return KEYWORDS[symbol.position]
    if isinstance(symbol, ColumnRef):
        return COLUMN
    return TABLE if isinstance(symbol, TableSymbol) else VALUE


def _check_value(part: Part, literal: Literal) -> None:
    allowed = _allowed(part)
    if allowed.integer and not (isinstance(literal.value, int) and literal.value >= 0):
        raise UnsupportedQuery(f"{literal.value!r} is not a number of rows")
    if allowed.text and not isinstance(literal.value, str):
        raise UnsupportedQuery(f"{literal.value!r} is not a text")


@cache
def _allowed(part: Part) -> Allowed:
    moves = moves_of(part)
    keywords = np.zeros(len(KEYWORDS), dtype=np.bool_)
    for key in moves:
        if key in BY_NAME:
            keywords[BY_NAME[key].position] = True
    keywords.flags.writeable = False
    kind = part.kind if isinstance(part, Frame) else ""
    return Allowed(
        keywords,
        COLUMN in moves,
        TABLE in moves,
        VALUE in moves,
        integer=kind == "rows",
        text=kind == "text",
    )


_NOTHING = Allowed(np.zeros(len(KEYWORDS), dtype=np.bool_), False, False, False)
