"""The shape of a decoder: what its parameters, operations and memory follow from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlwright.errors import ConfigError

FIELDS = ("num_hidden_layers", "hidden_size", "intermediate_size", "vocab_size")
"""Sizes that a configuration must tell."""


@dataclass(frozen=True, slots=True)
class ModelShape:
    """Sizes of a decoder with grouped-query attention and a gated network in each layer."""

    name: str
    layers: int
    hidden: int
    """Width of the stream between layers."""
    heads: int
    """Width of all queries together; of most models the same as `hidden`."""
    keys: int
    """Width of all keys together, and of all values."""
    intermediate: int
    """Width of the network in each layer."""
    vocabulary: int
    tied: bool = False
    """True if the last layer shares the table of embeddings."""

    @property
    def linear(self) -> int:
        """Parameters of the matrices in all layers: what is quantized, and what adapters stand
        beside."""
        attention = 2 * self.hidden * self.heads + 2 * self.hidden * self.keys
        return self.layers * (attention + 3 * self.hidden * self.intermediate)

    @property
    def tables(self) -> int:
        """Parameters of the embeddings and the last layer."""
        return self.vocabulary * self.hidden * (1 if self.tied else 2)

    @property
    def parameters(self) -> int:
        """All parameters, but for norms and biases, which are fewer than one in a thousand."""
        return self.linear + self.tables

    @property
    def multiplied(self) -> int:
        """Parameters that each token is multiplied by: embeddings are looked up."""
        return self.linear + self.vocabulary * self.hidden

    def adapter(self, rank: int) -> int:
        """Parameters of an adapter beside each matrix of each layer."""
        ends = 2 * (self.hidden + self.heads) + 2 * (self.hidden + self.keys)
        return rank * self.layers * (ends + 3 * (self.hidden + self.intermediate))


SHAPES: Mapping[str, ModelShape] = {
    "3B": ModelShape("3B", 36, 2048, 2048, 256, 11008, 151_936, tied=True),
    "7B": ModelShape("7B", 28, 3584, 3584, 512, 18944, 152_064),
    "32B": ModelShape("32B", 64, 5120, 5120, 1024, 27648, 152_064),
}
"""Models by size, for those who have none at hand: the sizes of Qwen2.5's configurations."""


def shape_of(model: str) -> ModelShape:
    """The shape of a model: a size by its name, or a folder with config.json. Raises
    ConfigError."""
    if model.upper() in SHAPES:
        return SHAPES[model.upper()]
    folder = Path(model).expanduser()
    path = folder / "config.json"
    try:
        told = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(
            f"{model} is neither a size nor a folder with a model: {path} can't be read ({error})",
            hint=f"Name a folder with config.json, or a size: {', '.join(SHAPES)}.",
        ) from None
    inner = told.get("text_config") if isinstance(told, dict) else None
    config = inner if isinstance(inner, dict) else told
    if not isinstance(config, dict) or not all(_size(config, name) for name in FIELDS):
        raise ConfigError(
            f"{path} doesn't tell a decoder's sizes ({', '.join(FIELDS)})",
            hint=f"Estimate with a size near it: {', '.join(SHAPES)}.",
        )
    return _shape(folder.name, config, tied=bool(told.get("tie_word_embeddings", False)))


def _shape(name: str, config: Mapping[str, Any], *, tied: bool) -> ModelShape:
    hidden = _size(config, "hidden_size")
    heads = _size(config, "num_attention_heads") or 1
    width = _size(config, "head_dim") or hidden // heads
    return ModelShape(
        name,
        _size(config, "num_hidden_layers"),
        hidden,
        heads * width,
        (_size(config, "num_key_value_heads") or heads) * width,
        _size(config, "intermediate_size"),
        _size(config, "vocab_size"),
        tied=tied or config.get("tie_word_embeddings") is True,
    )


def _size(config: Mapping[str, Any], name: str) -> int:
    found = config.get(name)
    return found if isinstance(found, int) and not isinstance(found, bool) and found > 0 else 0
