"""Beam search over the grammar: only symbols that the grammar and the input allow are scored.

The decoder points at keywords and nodes; a step gives each live hypothesis the logits of every next
token.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sqlwright.english.as_trained import Word
from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form.nodes import Literal
from sqlwright.local.form.sequence.grammar import GrammarState
from sqlwright.local.form.sequence.symbols import (
    DATE_PARTS,
    KEYWORDS,
    Keyword,
    Symbol,
    keyword_name,
)
from sqlwright.local.parser.constants import Grounding
from sqlwright.local.parser.nodes import COLUMN, TABLE, VALUE, WORD, Encoded, Node, ValueNode
from sqlwright.local.parser.pointers import (
    BEGIN,
    FIRST_NODE,
    MAX_SPAN,
    Span,
    node_symbol,
    number_of,
)
from sqlwright.protocols import Run
from sqlwright.schema import ColumnRef

Flags = npt.NDArray[np.bool_]

_SCALES = frozenset({"+", "*", "/", "%", "ratio", "percent"})
"""Operators that no date can be an operand of; the difference of two dates has a meaning."""
_ADDS_UP = frozenset({"sum", "avg", "total", "stddev", "stddev_pop"})
_WORKS_OUT = _SCALES | _ADDS_UP
_DATED = frozenset({"year", "month", "day", "date", "time", "datetime", *DATE_PARTS})
"""Functions of dates, which no number is."""
_WORTH = re.compile(
    r"price|cost|rate|fee|perc|pct|growth|mortality|value|worth|tax|discount|wage|pay|fare",
    re.IGNORECASE,
)
"""Parts of names for what one thing is worth, or for a rate."""
_NUMBER = re.compile(
    r"quant|qty|popul|num|count|units|hours|days|weight|copies|seats|share", re.IGNORECASE
)
"""Parts of names for a number of things."""


class Operands:
    """The columns among the nodes of one input; `kind` gives a column's type feature."""

    def __init__(self, nodes: Sequence[Node], kind: Callable[[ColumnRef], str]) -> None:
        self._nodes = nodes
        kinds = np.array([kind(node) if isinstance(node, ColumnRef) else "" for node in nodes])
        self._timeless = np.asarray(kinds != "time-type", dtype=np.bool_)
        self._numberless = np.asarray(kinds != "number-type", dtype=np.bool_)

    def possible(self, symbols: Sequence[Symbol]) -> Flags | None:
        """(N,) true for each node that may come after these symbols; None when all may."""
        last = symbols[-1] if symbols else None
        before = keyword_name(symbols[-2]) if len(symbols) > 1 else ""
        # Operators stand before their operands, so a column behind one is the first of two.
        if isinstance(last, ColumnRef):
            if before == "*":
                added = len(symbols) > 2 and keyword_name(symbols[-3]) in _ADDS_UP
                return self._timeless & self._factors(last, added=added)
            return self._timeless if before in _SCALES else None
        if keyword_name(last) in _DATED or (isinstance(last, Literal) and before == "strftime"):
            return self._numberless
        return self._timeless if keyword_name(last) in _WORKS_OUT else None

    def _factors(self, first: ColumnRef, *, added: bool) -> Flags:
        """The columns that another one may be multiplied with; a sum of squares is never meant."""
        return np.array(
            [
                not isinstance(node, ColumnRef)
                or (node == first and not added)
                or (node != first and (node.table == first.table or _pair(node, first)))
                for node in self._nodes
            ]
        )


def _pair(one: ColumnRef, other: ColumnRef) -> bool:
    """True if one column is a number of things and the other what each is worth."""
    return any(
        _WORTH.search(worth.column) and _NUMBER.search(number.column)
        for worth, number in ((one, other), (other, one))
    )


Floats = npt.NDArray[np.float32]

NONE = -1
"""Group number of nodes that are no part of the schema."""


class Steps(Protocol):
    """The decoder with what it remembers of every live hypothesis."""

    def __call__(self, tokens: Sequence[int], parents: Sequence[int]) -> Floats:
        """Logits (len(tokens), keywords + 1 + nodes) after one more token each; `parents` are
        places among the hypotheses of the call before."""
        ...


@dataclass(frozen=True)
class Hypothesis:
    """A query so far."""

    symbols: tuple[Symbol, ...] = ()
    state: GrammarState = field(default_factory=GrammarState)
    score: float = 0.0
    """Total log probability."""
    first: int | None = None
    """The word at which an unfinished literal begins."""
    values: tuple[ValueNode, ...] = ()
    """Stored values it points to."""
    group: int | None = None
    """The group of tables it is about, once it has used one; None where groups don't matter."""


class Search:
    """One search. `width` hypotheses live at a time; as many are returned, best first. None grows
    longer than `most` tokens.

    Given `groups`, for each table one that stands for its group, a query uses tables of one group:
    others can't be joined to them.
    """

    def __init__(
        self,
        encoded: Encoded,
        grounding: Grounding,
        width: int,
        most: int = 96,
        groups: Mapping[str, str] | None = None,
    ) -> None:
        self.encoded = encoded
        self.grounding = grounding
        self.width = width
        self.most = most
        kinds = encoded.node_kinds
        self._of_kind = [kinds == kind for kind in (WORD, TABLE, COLUMN, VALUE)]
        self._words = [node for node in encoded.nodes if isinstance(node, Word)]
        self._group_of = _groups_of(encoded.nodes, groups) if groups else None
        self._operands = Operands(encoded.nodes, grounding.kind)
        self._integers = np.zeros(len(kinds), dtype=bool)
        for number, word in enumerate(self._words):
            self._integers[number] = isinstance(number_of(word.text), int)

    def run(self, steps: Steps, run: Run | None = None) -> list[Hypothesis]:
        """Finished hypotheses, best first."""
        live, parents, tokens = [Hypothesis()], [0], [BEGIN]
        done: list[Hypothesis] = []
        for _ in range(self.most):
            if run is not None:
                run.check()
            logits = steps(tokens, parents)
            grown = self._grow(live, logits)
            live, parents, tokens = [], [], []
            for parent, token, hypothesis in grown:
                if hypothesis.state.finished:
                    done.append(hypothesis)
                elif len(live) < self.width:
                    live.append(hypothesis)
                    parents.append(parent)
                    tokens.append(token)
            done = sorted(done, key=lambda found: -found.score)[: self.width]
            # A hypothesis only loses by growing: when as many finished ones are better than the
            # best live one, no other can join them.
            if not live or (len(done) == self.width and done[-1].score >= live[0].score):
                break
        return done

    def _grow(
        self, live: Sequence[Hypothesis], logits: Floats
    ) -> list[tuple[int, int, Hypothesis]]:
        """The best next hypotheses with their parents (places in `live`) and tokens, best first.
        `logits` is (len(live), tokens)."""
        total = np.empty(logits.shape, dtype=np.float64)
        for row, hypothesis in enumerate(live):
            normal, possible = self._masks(hypothesis)
            # Normalised over all that the model was trained to choose among. What isn't possible
            # here is lost, not shared out: a query that wants it began wrongly.
            chosen = np.where(normal, logits[row], -np.inf)
            chosen = chosen - _log_sum(chosen)
            total[row] = np.where(possible, chosen, -np.inf) + hypothesis.score
        flat = total.ravel()
        # More than the width, since some finish and some can't be advanced.
        count = min(flat.size, 3 * self.width)
        best = np.argpartition(-flat, count - 1)[:count]
        grown = []
        for place in best[np.argsort(-flat[best], kind="stable")].tolist():
            if not np.isfinite(flat[place]):
                break
            row, token = divmod(place, logits.shape[1])
            try:
                following = self._advance(live[row], token, float(flat[place]))
            except UnsupportedQuery:
                continue
            grown.append((row, token, following))
        return grown

    def _masks(self, hypothesis: Hypothesis) -> tuple[Flags, Flags]:
        """The tokens that the model was trained to choose among, and those of them that are
        possible here; true or false for each token."""
        nodes = len(self.encoded.nodes)
        normal = np.zeros(FIRST_NODE + nodes, dtype=bool)
        allowed = hypothesis.state.allowed()
        # A literal that began at a word ends at that word or one of those behind it.
        if hypothesis.first is not None:
            first = hypothesis.first
            single = self.grounding.is_single(first, hypothesis.symbols, allowed)
            for last in range(first, min(len(self._words), first + (1 if single else MAX_SPAN))):
                if self._words[last].evidence != self._words[first].evidence:
                    break
                normal[FIRST_NODE + last] = True
            return normal, normal
        normal[: len(KEYWORDS)] = allowed.keywords
        for flag, kind in ((allowed.value, WORD), (allowed.table, TABLE), (allowed.column, COLUMN),
                           (allowed.value, VALUE)):  # fmt: skip
            if flag:
                normal[FIRST_NODE:] |= self._of_kind[kind]
        possible = normal.copy()
        if self._group_of is not None and hypothesis.group is not None:
            same = (self._group_of == hypothesis.group) | (self._group_of == NONE)
            possible[FIRST_NODE:] &= same
        operands = self._operands.possible(hypothesis.symbols)
        if operands is not None:
            possible[FIRST_NODE:] &= operands
        if allowed.integer:
            possible[FIRST_NODE:] &= self._integers
        return normal, possible

    def _advance(self, hypothesis: Hypothesis, token: int, score: float) -> Hypothesis:
        """The hypothesis after one more token. Raises UnsupportedQuery where the grammar refuses
        it."""
        symbols, state = hypothesis.symbols, hypothesis.state
        values, group = hypothesis.values, hypothesis.group
        symbol: Symbol | None
        if token < BEGIN:
            symbol = Keyword(token)
        elif hypothesis.first is not None:
            span = Span(hypothesis.first, token - FIRST_NODE)
            symbol = self.grounding.literal(span, symbols, state.allowed())
        else:
            node = token - FIRST_NODE
            symbol = node_symbol(self.encoded, node)
            if symbol is None:  # a word: where a literal begins
                return Hypothesis(symbols, state, score, node, values, group)
            found = self.encoded.nodes[node]
            if self._group_of is not None and self._group_of[node] != NONE:
                group = int(self._group_of[node])
            if isinstance(found, ValueNode):
                values = (*values, found)
        return Hypothesis((*symbols, symbol), state.advance(symbol), score, None, values, group)


def _groups_of(nodes: Sequence[Node], groups: Mapping[str, str]) -> npt.NDArray[np.int64]:
    """The number of each node's group, NONE for words."""
    number = {leader: place for place, leader in enumerate(dict.fromkeys(groups.values()))}
    tables = [_table_of(node) for node in nodes]
    return np.array([NONE if name is None else number[groups[name]] for name in tables])


def _table_of(node: Node) -> str | None:
    if isinstance(node, Word):
        return None
    return node.column.table if isinstance(node, ValueNode) else node.table


def _log_sum(values: npt.NDArray[np.float64] | Floats) -> float:
    """The logarithm of the sum of exponentials; 0 where all are minus infinity."""
    top = values.max()
    if not np.isfinite(top):
        return 0.0
    return float(top + np.log(np.exp(values - top).sum()))
