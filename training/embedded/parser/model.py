"""The embedded parser in torch: a MiniLM over question and schema, relation-aware layers over
nodes (question words, tables, columns, stored values), and a pointer decoder over the grammar.

Relation-aware attention follows RAT-SQL (Wang et al., 2020, section 3) with its key-side term and
a bias for each relation and head; the value-side term is left out.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional
from training.embedded.minilm import HIDDEN, MiniLm

NEGATIVE = -1e4
"""Masks an attention logit; finite in half precision, and a row of nothing else stays a number."""


@dataclass(frozen=True)
class Sizes:
    """Sizes that fix the shapes of the weights."""

    features: int
    relations: int
    keywords: int
    heads: int = 8
    inner: int = 768
    node_layers: int = 3
    decoder_layers: int = 3
    steps: int = 128

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


class Batch(NamedTuple):
    """One padded batch. B examples, T pieces, N nodes, S steps."""

    pieces: Tensor  # (B, T) int64
    features: Tensor  # (B, T, F) 0/1
    mask: Tensor  # (B, T) 0/1
    node_of_piece: Tensor  # (B, T) int64, N where the piece belongs to none
    node_features: Tensor  # (B, N, F) 0/1
    node_mask: Tensor  # (B, N) 0/1
    relations: Tensor  # (B, N, N) int64
    inputs: Tensor  # (B, S) int64: keyword id, or keywords + node
    targets: Tensor  # (B, S) int64, -100 on padding
    keyword_mask: Tensor  # (B, S, K) bool: allowed keywords
    kind_mask: Tensor  # (B, S, 4) bool: allowed kinds of node (word, table, column, value)
    node_kind: Tensor  # (B, N) int64 in 0..3
    used: Tensor  # (B, N) 0/1: the gold query needs this node
    examples: Tensor  # (B,) int64


class SharedDropout(nn.Module):
    """Dropout with one mask for all positions of an example: cheap, and regularises more."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, states: Tensor) -> Tensor:
        if not self.training or self.rate == 0.0:
            return states
        shape = (states.shape[0], 1, states.shape[-1])
        keep = torch.rand(shape, device=states.device) >= self.rate
        return states * (keep.to(states.dtype) / (1.0 - self.rate))


class NodeLayer(nn.Module):
    """A pre-norm transformer layer whose attention knows the relation of each pair of nodes."""

    def __init__(self, sizes: Sizes, dropout: float) -> None:
        super().__init__()
        self.heads, self.size = sizes.heads, HIDDEN // sizes.heads
        self.norm = nn.LayerNorm(HIDDEN)
        self.projection = nn.Linear(HIDDEN, 3 * HIDDEN)
        self.attended = nn.Linear(HIDDEN, HIDDEN)
        shape = (self.heads, sizes.relations, self.size)
        self.relation_keys = nn.Parameter(torch.randn(shape) * 0.02)
        self.relation_bias = nn.Parameter(torch.zeros(self.heads, sizes.relations))
        self.inner_norm = nn.LayerNorm(HIDDEN)
        self.up = nn.Linear(HIDDEN, sizes.inner)
        self.down = nn.Linear(sizes.inner, HIDDEN)
        self.drop = SharedDropout(dropout)

    def forward(self, states: Tensor, relations: Tensor, bias: Tensor) -> Tensor:
        """`relations` (B, 1, N, N) int64; `bias` (B, 1, 1, N)."""
        batch, length, _ = states.shape
        projected = self.projection(self.norm(states)).view(batch, length, 3, self.heads, self.size)
        query, key, value = projected.permute(2, 0, 3, 1, 4).unbind(0)
        by_relation = query @ self.relation_keys.to(query.dtype).transpose(-1, -2)
        by_relation = by_relation + self.relation_bias.to(query.dtype)[:, None, :]
        chosen = by_relation.gather(-1, relations.expand(-1, self.heads, -1, -1))
        logits = (query @ key.transpose(-1, -2) + chosen) / self.size**0.5 + bias
        mixed = (logits.softmax(-1) @ value).transpose(1, 2).reshape(batch, length, HIDDEN)
        states = states + self.drop(self.attended(mixed))
        inner = self.down(functional.gelu(self.up(self.inner_norm(states))))
        return states + self.drop(inner)


class DecoderLayer(nn.Module):
    """Self-attention over the steps so far, attention over the nodes, a feed-forward layer."""

    def __init__(self, sizes: Sizes, dropout: float) -> None:
        super().__init__()
        self.heads, self.size = sizes.heads, HIDDEN // sizes.heads
        self.norm = nn.LayerNorm(HIDDEN)
        self.projection = nn.Linear(HIDDEN, 3 * HIDDEN)
        self.attended = nn.Linear(HIDDEN, HIDDEN)
        self.cross_norm = nn.LayerNorm(HIDDEN)
        self.cross_query = nn.Linear(HIDDEN, HIDDEN)
        self.cross_attended = nn.Linear(HIDDEN, HIDDEN)
        self.inner_norm = nn.LayerNorm(HIDDEN)
        self.up = nn.Linear(HIDDEN, sizes.inner)
        self.down = nn.Linear(sizes.inner, HIDDEN)
        self.drop = SharedDropout(dropout)

    def split(self, projected: Tensor, parts: int) -> tuple[Tensor, ...]:
        """(B, L, parts·384) to `parts` tensors (B, heads, L, size)."""
        batch, length, _ = projected.shape
        apart = projected.view(batch, length, parts, self.heads, self.size)
        return tuple(apart.permute(2, 0, 3, 1, 4).unbind(0))

    def attend(self, query: Tensor, key: Tensor, value: Tensor, bias: Tensor) -> Tensor:
        logits = query @ key.transpose(-1, -2) / self.size**0.5 + bias
        mixed = logits.softmax(-1) @ value
        return mixed.transpose(1, 2).reshape(query.shape[0], query.shape[2], HIDDEN)

    def forward(
        self,
        states: Tensor,
        past: tuple[Tensor, Tensor] | None,
        nodes: tuple[Tensor, Tensor],
        biases: tuple[Tensor, Tensor],
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """`past` and `nodes` are (keys, values); `biases` for own steps and for nodes."""
        query, key, value = self.split(self.projection(self.norm(states)), 3)
        if past is not None:
            key, value = torch.cat([past[0], key], 2), torch.cat([past[1], value], 2)
        states = states + self.drop(self.attended(self.attend(query, key, value, biases[0])))
        (query,) = self.split(self.cross_query(self.cross_norm(states)), 1)
        mixed = self.attend(query, nodes[0], nodes[1], biases[1])
        states = states + self.drop(self.cross_attended(mixed))
        inner = self.down(functional.gelu(self.up(self.inner_norm(states))))
        return states + self.drop(inner), (key, value)


class Encoder(nn.Module):
    """Word vectors and features to node states, link logits and what the decoder needs of them."""

    def __init__(self, sizes: Sizes, minilm: MiniLm, dropout: float, frozen: int = 0) -> None:
        super().__init__()
        self.minilm = minilm
        self.frozen = frozen
        self.features = nn.Linear(sizes.features, HIDDEN, bias=False)
        nn.init.normal_(self.features.weight, std=0.02)
        self.node_features = nn.Linear(sizes.features, HIDDEN)
        nn.init.normal_(self.node_features.weight, std=0.02)
        self.node_norm = nn.LayerNorm(HIDDEN)
        self.layers = nn.ModuleList(NodeLayer(sizes, dropout) for _ in range(sizes.node_layers))
        self.out_norm = nn.LayerNorm(HIDDEN)
        self.link = nn.Linear(HIDDEN, 1)
        self.node_input = nn.Linear(HIDDEN, HIDDEN)
        self.node_key = nn.Linear(HIDDEN, HIDDEN)
        self.memory = nn.Linear(HIDDEN, sizes.decoder_layers * 2 * HIDDEN)
        self.drop = SharedDropout(dropout)

    def lower(self, words: Tensor, mask: Tensor) -> Tensor:
        """Piece states after the frozen layers."""
        bias = ((1.0 - mask) * NEGATIVE)[:, None, None, :].to(words.dtype)
        with torch.set_grad_enabled(self.training and self.frozen == 0 and torch.is_grad_enabled()):
            positions = self.minilm.positions[: words.shape[1]].to(words.dtype)
            states: Tensor = self.minilm.input_norm(words + positions)
            for layer in self.minilm.layers[: self.frozen]:
                states = layer(states, bias)
        return states

    def contextual(self, states: Tensor, features: Tensor, mask: Tensor) -> Tensor:
        """Piece states after MiniLM; the features come in above the frozen layers."""
        bias = ((1.0 - mask) * NEGATIVE)[:, None, None, :].to(states.dtype)
        states = states + self.drop(self.features(features))
        for layer in self.minilm.layers[self.frozen :]:
            states = self.drop(layer(states, bias))
        return states

    def forward(
        self,
        lower: Tensor,
        features: Tensor,
        mask: Tensor,
        pool: Tensor,
        node_features: Tensor,
        node_mask: Tensor,
        relations: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Link logits (B, N), inputs (B, N, 384), keys (B, N, 384), memory (B, N, 2·layers·384).

        `lower` (B, T, 384) comes from `lower`; `pool` (B, N, T) averages each node's pieces.
        """
        pieces = self.contextual(lower, features, mask)
        nodes = self.node_norm(pool.to(pieces.dtype) @ pieces + self.node_features(node_features))
        bias = ((1.0 - node_mask) * NEGATIVE)[:, None, None, :].to(nodes.dtype)
        related = relations[:, None]
        for layer in self.layers:
            nodes = layer(nodes, related, bias)
        nodes = self.drop(self.out_norm(nodes))
        return (
            self.link(nodes).squeeze(-1),
            self.node_input(nodes),
            self.node_key(nodes),
            self.memory(nodes),
        )


class Decoder(nn.Module):
    """Steps so far and nodes to the logits of every keyword and node."""

    def __init__(self, sizes: Sizes, dropout: float) -> None:
        super().__init__()
        self.sizes = sizes
        self.keywords = nn.Embedding(sizes.keywords, HIDDEN)
        nn.init.normal_(self.keywords.weight, std=0.05)
        self.positions = nn.Embedding(sizes.steps, HIDDEN)
        nn.init.normal_(self.positions.weight, std=0.02)
        self.in_norm = nn.LayerNorm(HIDDEN)
        self.layers = nn.ModuleList(
            DecoderLayer(sizes, dropout) for _ in range(sizes.decoder_layers)
        )
        self.out_norm = nn.LayerNorm(HIDDEN)
        self.keyword_query = nn.Linear(HIDDEN, HIDDEN)
        self.keyword_bias = nn.Parameter(torch.zeros(sizes.keywords))
        self.node_query = nn.Linear(HIDDEN, HIDDEN)

    def split_memory(self, memory: Tensor) -> list[tuple[Tensor, Tensor]]:
        """(B, N, 2·layers·384) to keys and values (B, heads, N, size) of each layer."""
        batch, length, _ = memory.shape
        heads, size = self.sizes.heads, HIDDEN // self.sizes.heads
        apart = memory.view(batch, length, self.sizes.decoder_layers, 2, heads, size)
        layers = apart.permute(2, 3, 0, 4, 1, 5).unbind(0)
        return [(layer[0], layer[1]) for layer in layers]

    def steps(
        self,
        states: Tensor,
        past: list[tuple[Tensor, Tensor]] | None,
        memory: list[tuple[Tensor, Tensor]],
        biases: tuple[Tensor, Tensor],
    ) -> tuple[Tensor, list[tuple[Tensor, Tensor]]]:
        kept = []
        for index, layer in enumerate(self.layers):
            before = past[index] if past is not None else None
            states, own = layer(states, before, memory[index], biases)
            kept.append(own)
        return self.out_norm(states), kept

    def logits(self, states: Tensor, node_keys: Tensor) -> Tensor:
        """(B, S, K + N)."""
        scale = HIDDEN**-0.5
        keywords = self.keywords.weight.to(states.dtype)
        to_keywords = self.keyword_query(states) @ keywords.transpose(0, 1)
        to_keywords = to_keywords + self.keyword_bias.to(states.dtype)
        to_nodes = self.node_query(states) @ node_keys.transpose(1, 2) * scale
        return torch.cat([to_keywords, to_nodes], -1)


class ParserModel(nn.Module):
    """Both halves, and the losses over a batch."""

    def __init__(
        self, sizes: Sizes, minilm: MiniLm, words: Tensor, dropout: float = 0.1, frozen: int = 0
    ) -> None:
        super().__init__()
        self.sizes = sizes
        self.encoder = Encoder(sizes, minilm, dropout, frozen)
        self.decoder = Decoder(sizes, dropout)
        self.register_buffer("words", words, persistent=False)
        self.drop = SharedDropout(dropout)

    def encode(self, batch: Batch, dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        nodes = batch.node_mask.shape[1]
        words = functional.embedding(batch.pieces, self.words).to(dtype)
        pool = functional.one_hot(batch.node_of_piece, nodes + 1)[..., :nodes].to(torch.float32)
        pool = pool.transpose(1, 2)
        pool = pool / pool.sum(-1, keepdim=True).clamp(min=1.0)
        outputs: tuple[Tensor, Tensor, Tensor, Tensor] = self.encoder(
            self.encoder.lower(words, batch.mask.to(dtype)),
            batch.features.to(dtype),
            batch.mask.to(dtype),
            pool.to(dtype),
            batch.node_features.to(dtype),
            batch.node_mask.to(dtype),
            batch.relations,
        )
        return outputs

    def forward(self, batch: Batch, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """Mean loss per target symbol, and mean link loss per node."""
        link, inputs, keys, memory = self.encode(batch, dtype)
        table = torch.cat(
            [self.decoder.keywords.weight.to(inputs.dtype).expand(inputs.shape[0], -1, -1), inputs],
            1,
        )
        chosen = batch.inputs[..., None].expand(-1, -1, HIDDEN)
        length = batch.inputs.shape[1]
        states = table.gather(1, chosen) + self.decoder.positions.weight[:length].to(inputs.dtype)
        states = self.drop(self.decoder.in_norm(states))
        square = (length, length)
        causal = torch.full(square, NEGATIVE, dtype=inputs.dtype, device=inputs.device).triu(1)
        bias = ((1.0 - batch.node_mask) * NEGATIVE)[:, None, None, :].to(inputs.dtype)
        states, _ = self.decoder.steps(
            states, None, self.decoder.split_memory(memory), (causal, bias)
        )
        logits = self.decoder.logits(states, keys).float()
        by_kind = batch.kind_mask.gather(2, batch.node_kind[:, None, :].expand(-1, length, -1)) & (
            batch.node_mask[:, None, :] > 0
        )
        allowed = torch.cat([batch.keyword_mask, by_kind], -1)
        logits = logits.masked_fill(~allowed, NEGATIVE)
        loss = functional.cross_entropy(
            logits.view(-1, logits.shape[-1]), batch.targets.view(-1), ignore_index=-100
        )
        weights = batch.node_mask.float()
        linked = functional.binary_cross_entropy_with_logits(
            link.float(), batch.used.float(), weight=weights, reduction="sum"
        )
        return loss, linked / weights.sum()
