"""The input of the embedded parser: kinds of nodes, their features, and relations between them.

The weights know kinds, features and relations by their numbers, so their order may not change.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from sqlwright.english.as_trained import Word
from sqlwright.schema import ColumnRef
from sqlwright.types import ValueMatch

if TYPE_CHECKING:
    from tokenizers import Tokenizer

WORD, TABLE, COLUMN, VALUE = range(4)
"""Kinds of nodes."""

FEATURES = (
    "word", "table", "column", "value", "start", "evidence",
    "column-exact", "column-partial", "table-exact", "table-partial",
    "value-exact", "value-fuzzy", "number", "capital", "quoted",
    "number-type", "text-type", "time-type", "other-type",
    "primary-key", "foreign-key", "key-target", "has-hit", "has-enumeration", "unmatched-value",
    "view", "long-name", "repeated-name",
)  # fmt: skip
"""Features of pieces and nodes, in the order of their bits."""
BIT = {name: 1 << position for position, name in enumerate(FEATURES)}

RELATIONS = (
    "word-3", "word-2", "word-1", "word+0", "word+1", "word+2", "word+3",
    "word-table", "word-table:partial", "word-table:exact",
    "table-word", "table-word:partial", "table-word:exact",
    "word-column", "word-column:partial", "word-column:exact", "word-column:value",
    "column-word", "column-word:partial", "column-word:exact", "column-word:value",
    "word-value", "word-value:fuzzy", "word-value:exact",
    "value-word", "value-word:fuzzy", "value-word:exact",
    "table-table", "table-table:same", "table-table:to", "table-table:from", "table-table:both",
    "table-column", "table-column:own", "table-column:primary",
    "column-table", "column-table:own", "column-table:primary",
    "column-column", "column-column:same", "column-column:sibling", "column-column:to",
    "column-column:from", "column-column:namesake",
    "table-value", "table-value:own", "value-table", "value-table:own",
    "column-value", "column-value:own", "value-column", "value-column:own",
    "value-value", "value-value:same", "value-value:sibling",
)  # fmt: skip
"""Relations of a pair of nodes, row to column (RAT-SQL, Wang et al. 2020, section 3): their kinds,
then the distance of two words or, behind the colon, what they have to do with each other."""
RELATION = {name: number for number, name in enumerate(RELATIONS)}

CLS, SEP = 101, 102
"""Ids of the opening and the separating piece in BERT's vocabulary."""
EXACT_SCORE = 0.98
"""Least similarity, in [0, 1], of a stored value that the question spells; as in training."""

KIND_NAMES = ("word", "table", "column", "value")
DEFAULT_RELATIONS = np.array(
    [
        [RELATION.get(f"{row}-{column}", RELATION["word+3"]) for column in KIND_NAMES]
        for row in KIND_NAMES
    ],
    dtype=np.uint8,
)
"""The relation of two nodes that have nothing to do with each other, by their kinds."""


class TableNode(NamedTuple):
    """A table as a node."""

    table: str


class ValueNode(NamedTuple):
    """A stored value as a node. `match` is None for a value that wasn't found in the question."""

    column: ColumnRef
    value: str
    match: ValueMatch | None = None


Node = Word | TableNode | ColumnRef | ValueNode


@dataclass(frozen=True)
class Budget:
    """The greatest length of an input."""

    pieces: int = 512
    """Word pieces, separators included."""
    nodes: int = 288


@dataclass(frozen=True)
class Encoded:
    """One input. T pieces, N nodes."""

    nodes: tuple[Node, ...]
    pieces: npt.NDArray[np.int32]
    """(T,) word-piece ids."""
    features: npt.NDArray[np.uint32]
    """(T,) bits of FEATURES."""
    node_of_piece: npt.NDArray[np.int16]
    """(T,) index of the node a piece belongs to, -1 for separators."""
    node_features: npt.NDArray[np.uint32]
    """(N,)"""
    node_kinds: npt.NDArray[np.uint8]
    """(N,)"""
    relations: npt.NDArray[np.uint8]
    """(N, N) numbers of RELATIONS, row to column."""


class WordPieces:
    """Ids of word pieces without special tokens, remembered per text."""

    def __init__(self, tokenizer: Tokenizer, *, remember: int = 50_000) -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._tokenizer = tokenizer
        self._known: dict[str, tuple[int, ...]] = {}
        self._remember = remember

    def __call__(self, text: str) -> tuple[int, ...]:
        found = self._known.get(text)
        if found is None:
            found = tuple(self._tokenizer.encode(text, add_special_tokens=False).ids)
            if len(self._known) < self._remember:
                self._known[text] = found
        return found
