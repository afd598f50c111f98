"""A second process that adds its gradients to the training run's, when it has a core to spare.

The trainer never waits: at each step it takes the companion's gradient if one is ready (it was
computed on weights one or two steps old) and hands out fresh weights in return. So an idle core
adds examples to the batches, and a busy or dead companion costs nothing.

    python -m sqlwright.training.parser.companion PASSES OUT
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

IDLE, BUSY, READY, JOINING = range(4)
STATE, EXAMPLES = 0, 1


def trainable(model: nn.Module) -> list[Tensor]:
    """The weights that are exchanged, in a fixed order."""
    return [value for value in model.parameters() if value.requires_grad]


class Exchange:
    """Weights one way, gradients the other, through shared memory. One trainer, one companion."""

    def __init__(self, folder: Path, weights: list[Tensor]) -> None:
        size = sum(value.numel() for value in weights)
        self._weights = _shared(folder / "companion.weights", size, "f4")
        self._gradients = _shared(folder / "companion.gradients", size, "f4")
        self._flags = _shared(folder / "companion.flags", 2, "i8")

    @property
    def state(self) -> int:
        return int(self._flags[STATE])

    @state.setter
    def state(self, value: int) -> None:
        self._flags[STATE] = value

    def add_gradients(self, weights: list[Tensor], examples: int) -> int:
        """Average a waiting gradient into `weights`' own; how many examples it came from."""
        if self.state != READY:
            return 0
        extra = int(self._flags[EXAMPLES])
        share = extra / (examples + extra)
        for value, part in zip(weights, _parts(self._gradients, weights), strict=True):
            if value.grad is not None:
                value.grad.lerp_(part.to(value.grad.dtype), share)
        return extra

    def hand_out(self, weights: list[Tensor]) -> None:
        """Give the companion fresh weights, if it waits for them."""
        if self.state in (READY, JOINING):
            for value, part in zip(weights, _parts(self._weights, weights), strict=True):
                part.copy_(value.detach())
            self.state = IDLE

    def wait_for_weights(self, weights: list[Tensor]) -> None:
        """Companion's side: block until fresh weights are there, then take them."""
        while self.state != IDLE:
            time.sleep(0.002)
        self.state = BUSY
        with torch.no_grad():
            for value, part in zip(weights, _parts(self._weights, weights), strict=True):
                value.copy_(part)

    def offer_gradients(self, weights: list[Tensor], examples: int) -> None:
        """Companion's side: publish a gradient."""
        for value, part in zip(weights, _parts(self._gradients, weights), strict=True):
            if value.grad is None:
                part.zero_()
            else:
                part.copy_(value.grad)
        self._flags[EXAMPLES] = examples
        self.state = READY


def _shared(path: Path, size: int, kind: str) -> npt.NDArray[Any]:
    """A flat array in a file that both processes map."""
    if not path.exists() or path.stat().st_size != size * np.dtype(kind).itemsize:
        return np.memmap(path, kind, "w+", shape=(size,))
    return np.memmap(path, kind, "r+", shape=(size,))


def _parts(flat: npt.NDArray[Any], like: list[Tensor]) -> list[Tensor]:
    whole = torch.from_numpy(np.asarray(flat))
    return [
        part.view(value.shape)
        for part, value in zip(whole.split([v.numel() for v in like]), like, strict=True)
    ]


def main(arguments: Iterable[str] | None = None) -> None:
    """Compute gradients until killed."""
    from sqlwright.training.parser.train import Settings, make_model, mark_frozen, stream

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("passes", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--first", type=int, default=0, help="pass to begin with")
    options = parser.parse_args(None if arguments is None else list(arguments))
    torch.set_num_threads(1)
    settings = Settings()
    model = make_model(settings)
    mark_frozen(model, settings)
    model.train()
    # Another order of the same passes, and other dropout, than the trainer's.
    torch.manual_seed(time.time_ns() % 2**31)
    weights = trainable(model)
    exchange = Exchange(options.out, weights)
    exchange.state = JOINING
    for _, batch in stream(options.passes, settings, options.first, order=1):
        exchange.wait_for_weights(weights)
        with torch.autocast("cpu", torch.bfloat16):
            loss, link = model(batch)
        (loss + settings.link_weight * link).backward()
        exchange.offer_gradients(weights, len(batch.examples))
        model.zero_grad(set_to_none=True)


if __name__ == "__main__":
    main()
