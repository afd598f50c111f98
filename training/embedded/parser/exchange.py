"""Shared memory between a training run and its companion: weights one way, gradients the other."""

from __future__ import annotations

import time
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
