"""Floating-point operations of training, by the usual formulas.

A multiplication and an addition for each parameter and token make 2 forward. Backward takes 2 for
the gradients of activations and 2 for those of weights, which frozen weights don't have: 6 for
training all, 4 for an adapter. An adapter's own 6 come besides. Recomputing activations, which
saves memory, is another forward pass: 8 and 6. Attention has no weights: for each token it costs
4 * layers * width * (tokens before it), half the length on average, and backward twice that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlwright.lab.finetuning.estimating.shape import ModelShape

Method = Literal["lora", "qlora", "full"]
"""An adapter beside weights of 16 bits, beside weights of 4 bits, or all weights."""
METHODS: tuple[Method, ...] = ("lora", "qlora", "full")


@dataclass(frozen=True, slots=True)
class Passes:
    """The weights that are trained, and whether activations are kept of a forward pass."""

    method: Method = "qlora"
    rank: int = 32
    recomputed: bool = True
    """True if activations are recomputed (gradient checkpointing)."""


def training_operations(shape: ModelShape, passes: Passes, lengths: Iterable[int]) -> float:
    """Operations of one epoch over texts of these lengths in tokens."""
    again = 2 if passes.recomputed else 0
    weights = (6 if passes.method == "full" else 4) + again
    adapter = 0 if passes.method == "full" else shape.adapter(passes.rank) * (6 + again)
    each = shape.multiplied * weights + adapter
    attention = shape.layers * shape.heads * (6 + again)
    return float(sum(length * each + length * length * attention for length in lengths))


def forward_operations(shape: ModelShape, lengths: Iterable[int]) -> float:
    """Operations of reading texts once, as a frozen reference does in training on preferences."""
    each, attention = 2 * shape.multiplied, 2 * shape.layers * shape.heads
    return float(sum(length * each + length * length * attention for length in lengths))


def preference_operations(shape: ModelShape, passes: Passes, lengths: Sequence[int]) -> float:
    """Operations of one epoch of DPO over right and wrong texts of these lengths: each is read by
    the reference, too."""
    return training_operations(shape, passes, lengths) + forward_operations(shape, lengths)
