"""Memory of training on one GPU, by its parts."""

from __future__ import annotations

from dataclasses import dataclass

from sqlwright.lab.finetuning.estimating.operations import Passes
from sqlwright.lab.finetuning.estimating.shape import ModelShape

GB = 1e9
"""Bytes; GPUs are sold by it, and have a little more."""
HALF = 2.0
"""Bytes of a number of 16 bits."""
QUARTER = 0.5 + 4 / 64
"""Bytes of a number of 4 bits, with a scale of 32 bits for each 64 (NF4 without double
quantization)."""
TRAINED = 16.0
"""Bytes of each trained parameter: itself, its gradient and Adam's two moments, 32 bits each."""
LOGIT = 10.0
"""Bytes of a token's score for a word: 16 bits, 32 bits for the loss, and a gradient."""
LIBRARIES = 1.0
"""GB of what CUDA and its libraries take, and of fragments."""


@dataclass(frozen=True, slots=True)
class Memory:
    """Gigabytes by what takes them, for one GPU that holds the whole model."""

    weights: float
    trained: float
    """Adapter or weights in training, with gradients and the optimizer's state."""
    activations: float
    logits: float
    libraries: float = LIBRARIES

    @property
    def total(self) -> float:
        """All together."""
        return self.weights + self.trained + self.activations + self.logits + self.libraries

    def fits(self, gigabytes: float) -> bool:
        """True if a GPU with so much memory holds it."""
        return self.total <= gigabytes


def training_memory(
    shape: ModelShape, passes: Passes, *, tokens: int, each: int = 1, copies: int = 1
) -> Memory:
    """The memory where the longest text has so many tokens, `each` are on the GPU at once, and the
    trained state is divided among so many `copies` of the model (1: not divided)."""
    matrix = QUARTER if passes.method == "qlora" else HALF
    weights = shape.linear * matrix + shape.tables * HALF
    full = passes.method == "full"
    trained = (shape.parameters if full else shape.adapter(passes.rank)) * TRAINED / copies
    read = tokens * each
    # Bytes that one layer keeps of a token for its backward pass.
    layer = HALF * (12 * shape.hidden + 4 * shape.intermediate)
    kept = shape.layers * shape.hidden * HALF + layer if passes.recomputed else shape.layers * layer
    logits = read * shape.vocabulary * LOGIT
    return Memory(weights / GB, trained / GB, read * kept / GB, logits / GB)
