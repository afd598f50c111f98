"""Training examples in flat arrays, and batches from them without any Python per example."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from training.embedded.parser.model import Batch

from sqlwright.local.form.sequence.grammar import GrammarState
from sqlwright.local.form.sequence.symbols import KEYWORDS, Symbol
from sqlwright.local.parser.nodes import COLUMN, FEATURES, RELATION, Encoded
from sqlwright.local.parser.pointers import BEGIN, FIRST_NODE

MASK_PIECE = 103
OWN_TABLE = (RELATION["column-table:own"], RELATION["column-table:primary"])
WIDTH = 32
"""Lengths are padded to multiples of this, so that few shapes are ever compiled."""


@dataclass(frozen=True)
class TargetSteps:
    """The gold query of one example. S steps."""

    tokens: npt.NDArray[np.int16]
    """(S,)"""
    keywords: npt.NDArray[np.uint8]
    """(S, ceil(K+1 / 8)) allowed keywords, as packed bits."""
    kinds: npt.NDArray[np.uint8]
    """(S,) bits of allowed node kinds: 1 word, 2 table, 4 column, 8 value."""


def make_target(symbols: Sequence[Symbol], tokens: Sequence[tuple[int, ...]]) -> TargetSteps:
    """Walk the grammar along a gold query and note what it allows at each step."""
    state = GrammarState()
    flat, allowed_words, kinds = [], [], []
    for symbol, ids in zip(symbols, tokens, strict=True):
        allowed = state.allowed()
        words = np.zeros(FIRST_NODE, dtype=bool)
        words[: len(KEYWORDS)] = allowed.keywords
        flat.append(ids[0])
        allowed_words.append(words)
        kinds.append(2 * allowed.table + 4 * allowed.column + 9 * allowed.value)
        for token in ids[1:]:
            flat.append(token)
            allowed_words.append(np.zeros(FIRST_NODE, dtype=bool))
            kinds.append(1)
        state = state.advance(symbol)
    return TargetSteps(
        np.array(flat, dtype=np.int16),
        np.packbits(np.array(allowed_words), axis=1),
        np.array(kinds, dtype=np.uint8),
    )


@dataclass(frozen=True)
class Packed:
    """Many examples, one after the other in each array; offsets have one entry more."""

    piece_offsets: npt.NDArray[np.int64]
    node_offsets: npt.NDArray[np.int64]
    relation_offsets: npt.NDArray[np.int64]
    step_offsets: npt.NDArray[np.int64]
    pieces: npt.NDArray[np.int32]
    features: npt.NDArray[np.uint32]
    node_of_piece: npt.NDArray[np.int16]
    node_features: npt.NDArray[np.uint32]
    node_kinds: npt.NDArray[np.uint8]
    relations: npt.NDArray[np.uint8]
    tokens: npt.NDArray[np.int16]
    keywords: npt.NDArray[np.uint8]
    kinds: npt.NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.piece_offsets) - 1

    def save(self, path: Path) -> None:
        """Write aside, then rename."""
        aside = path.with_suffix(".part.npz")
        np.savez(aside, **{f.name: getattr(self, f.name) for f in fields(self)})
        aside.rename(path)

    @classmethod
    def load(cls, path: Path) -> Packed:
        with np.load(path, allow_pickle=False) as stored:
            return cls(**{f.name: stored[f.name] for f in fields(cls)})


def pack(examples: Sequence[tuple[Encoded, TargetSteps]]) -> Packed:
    """Join examples into one set of arrays."""
    inputs = [encoded for encoded, _ in examples]
    targets = [target for _, target in examples]

    def offsets(sizes: Sequence[int]) -> npt.NDArray[np.int64]:
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    return Packed(
        offsets([len(item.pieces) for item in inputs]),
        offsets([len(item.nodes) for item in inputs]),
        offsets([item.relations.size for item in inputs]),
        offsets([len(item.tokens) for item in targets]),
        np.concatenate([item.pieces for item in inputs]),
        np.concatenate([item.features for item in inputs]),
        np.concatenate([item.node_of_piece for item in inputs]),
        np.concatenate([item.node_features for item in inputs]),
        np.concatenate([item.node_kinds for item in inputs]),
        np.concatenate([item.relations.ravel() for item in inputs]),
        np.concatenate([item.tokens for item in targets]),
        np.concatenate([item.keywords for item in targets]),
        np.concatenate([item.kinds for item in targets]),
    )


def batches(packed: Packed, seed: int, *, pieces: int = 5120) -> Iterator[npt.NDArray[np.int64]]:
    """Indices of examples of similar length, at most about `pieces` padded pieces a batch."""
    generator = np.random.default_rng(seed)
    lengths = np.diff(packed.piece_offsets)
    padded = -(-lengths // WIDTH) * WIDTH
    found = []
    for width in np.unique(padded):
        own = generator.permutation(np.flatnonzero(padded == width))
        size = max(8, pieces // int(width))
        found += [own[start : start + size] for start in range(0, len(own), size)]
    for number in generator.permutation(len(found)):
        yield found[number]


def _round_up(length: int, width: int) -> int:
    return -(-length // width) * width


def _bits(packed: npt.NDArray[np.uint32]) -> npt.NDArray[np.float32]:
    bits = np.arange(len(FEATURES), dtype=np.uint32)
    return ((packed[..., None] >> bits) & 1).astype(np.float32)


def collate(packed: Packed, rows: Sequence[int], *, mask_rate: float = 0.0, seed: int = 0) -> Batch:
    """Pad some examples into one batch; `mask_rate` of the pieces are hidden behind [MASK]."""
    nodes = _longest(packed.node_offsets, rows, 16)
    pieces, features, mask, owners = _piece_arrays(packed, rows, nodes)
    node_features, node_mask, node_kinds, relations = _node_arrays(packed, rows, nodes)
    inputs, targets, words, kinds = _step_arrays(packed, rows)
    if mask_rate:
        hidden = np.random.default_rng(seed).random(pieces.shape) < mask_rate
        pieces[hidden & (owners < nodes)] = MASK_PIECE
    kind_mask = (kinds[..., None] >> np.arange(4, dtype=np.uint8)) & 1
    return Batch(
        torch.from_numpy(pieces),
        torch.from_numpy(_bits(features)),
        torch.from_numpy(mask),
        torch.from_numpy(owners),
        torch.from_numpy(_bits(node_features)),
        torch.from_numpy(node_mask),
        torch.from_numpy(relations),
        torch.from_numpy(inputs),
        torch.from_numpy(targets),
        torch.from_numpy(words),
        torch.from_numpy(kind_mask.astype(bool)),
        torch.from_numpy(node_kinds),
        torch.from_numpy(_used(targets, node_kinds, relations)),
        torch.as_tensor(np.asarray(rows, dtype=np.int64)),
    )


def _longest(offsets: npt.NDArray[np.int64], rows: Sequence[int], width: int) -> int:
    return _round_up(max(int(offsets[row + 1] - offsets[row]) for row in rows), width)


def _piece_arrays(
    packed: Packed, rows: Sequence[int], nodes: int
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    offsets = packed.piece_offsets
    shape = (len(rows), _longest(offsets, rows, WIDTH))
    pieces = np.zeros(shape, dtype=np.int64)
    features = np.zeros(shape, dtype=np.uint32)
    mask = np.zeros(shape, dtype=np.float32)
    owners = np.full(shape, nodes, dtype=np.int64)
    for index, row in enumerate(rows):
        found = slice(offsets[row], offsets[row + 1])
        size = offsets[row + 1] - offsets[row]
        pieces[index, :size] = packed.pieces[found]
        features[index, :size] = packed.features[found]
        mask[index, :size] = 1.0
        own = packed.node_of_piece[found]
        owners[index, :size] = np.where(own < 0, nodes, own)
    return pieces, features, mask, owners


def _node_arrays(
    packed: Packed, rows: Sequence[int], nodes: int
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    offsets, squares = packed.node_offsets, packed.relation_offsets
    features = np.zeros((len(rows), nodes), dtype=np.uint32)
    mask = np.zeros((len(rows), nodes), dtype=np.float32)
    kinds = np.zeros((len(rows), nodes), dtype=np.int64)
    relations = np.zeros((len(rows), nodes, nodes), dtype=np.int64)
    for index, row in enumerate(rows):
        found = slice(offsets[row], offsets[row + 1])
        width = offsets[row + 1] - offsets[row]
        features[index, :width] = packed.node_features[found]
        kinds[index, :width] = packed.node_kinds[found]
        mask[index, :width] = 1.0
        square = packed.relations[squares[row] : squares[row + 1]]
        relations[index, :width, :width] = square.reshape(width, width)
    return features, mask, kinds, relations


def _step_arrays(
    packed: Packed, rows: Sequence[int]
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    offsets = packed.step_offsets
    shape = (len(rows), _longest(offsets, rows, 8))
    inputs = np.zeros(shape, dtype=np.int64)
    targets = np.full(shape, -100, dtype=np.int64)
    words = np.ones((*shape, FIRST_NODE), dtype=bool)
    kinds = np.zeros(shape, dtype=np.uint8)
    inputs[:, 0] = BEGIN
    for index, row in enumerate(rows):
        found = slice(offsets[row], offsets[row + 1])
        depth = offsets[row + 1] - offsets[row]
        tokens = packed.tokens[found].astype(np.int64)
        inputs[index, 1:depth] = tokens[:-1]
        targets[index, :depth] = tokens
        allowed = np.unpackbits(packed.keywords[found], axis=1)
        words[index, :depth] = allowed[:, :FIRST_NODE].astype(bool)
        kinds[index, :depth] = packed.kinds[found]
    return inputs, targets, words, kinds


def _used(
    targets: npt.NDArray[Any], node_kinds: npt.NDArray[Any], relations: npt.NDArray[Any]
) -> npt.NDArray[np.float32]:
    """(B, N) 1 where the gold query names a node, or a column of a table node."""
    used = np.zeros(node_kinds.shape, dtype=np.float32)
    for index, tokens in enumerate(targets):
        named = tokens[tokens >= FIRST_NODE] - FIRST_NODE
        columns = named[node_kinds[index, named] == COLUMN]
        used[index, named] = 1.0
        used[index] += np.isin(relations[index, columns], OWN_TABLE).any(axis=0)
    return np.minimum(used, 1.0)
