"""The decoder of a search, with what it remembers of every live hypothesis.

Weights know the keywords there were when they were trained: the first ones. Those that came later
are never chosen, and the numbers of all that comes behind the keywords are translated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sqlwright.local.form.sequence.symbols import KEYWORDS
from sqlwright.local.parser.pointers import BEGIN, FIRST_NODE

if TYPE_CHECKING:
    import onnxruntime

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Memory:
    """The encoder's outputs for an input, for the decoder. N nodes."""

    inputs: Floats
    """(1, N, 384)"""
    keys: Floats
    """(1, N, 384)"""
    memory: Floats
    """(1, N, 2 · layers · 384)"""


class Decoder:
    """An exported decoder. Raises ValueError where it knows more keywords than there are."""

    def __init__(self, session: onnxruntime.InferenceSession) -> None:
        self.session = session
        shapes = {given.name: given.shape for given in session.get_inputs()}
        layers, _, heads, _, size = shapes["past"]
        self._nothing = np.zeros((layers, 1, heads, 0, size), dtype=np.float32)
        self.known = self._count()
        if self.known > len(KEYWORDS):
            raise ValueError(f"the parser's weights know {self.known} keywords of {len(KEYWORDS)}")

    def _count(self) -> int:
        """The number of keywords that it gives a logit, beside the start and the one node."""
        shapes = {given.name: given.shape for given in self.session.get_inputs()}
        width, inner = shapes["inputs"][-1], shapes["memory"][-1]
        one = Memory(*(np.zeros((1, 1, size), dtype=np.float32) for size in (width, width, inner)))
        logits, _ = self.step(one, np.zeros(1, dtype=np.int64), self._nothing)
        return int(logits.shape[1]) - 2

    def step(
        self, reading: Memory, tokens: npt.NDArray[np.int64], past: Floats
    ) -> tuple[Floats, Floats]:
        """Logits in the weights' own numbers, and what to remember."""
        feeds = {
            "inputs": reading.inputs,
            "keys": reading.keys,
            "memory": reading.memory,
            "tokens": tokens,
            "past": np.ascontiguousarray(past),
        }
        logits, present = self.session.run(["logits", "present"], feeds)
        return np.asarray(logits, dtype=np.float32), present

    def search(self, reading: Memory) -> Decoding:
        """A decoder that remembers one search."""
        return Decoding(self, reading, self._nothing)


class Decoding:
    """The decoder's memory of the live hypotheses of one search."""

    def __init__(self, decoder: Decoder, reading: Memory, past: Floats) -> None:
        self._decoder = decoder
        self._reading = reading
        # (layers · 2, hypotheses, heads, steps, size)
        self._past = past

    def __call__(self, tokens: Sequence[int], parents: Sequence[int]) -> Floats:
        """See `search.Steps`. The keys and values of earlier steps are kept, by parent."""
        known = self._decoder.known
        own = np.array(tokens, dtype=np.int64)
        own[own >= BEGIN] -= BEGIN - known
        logits, self._past = self._decoder.step(self._reading, own, self._past[:, list(parents)])
        if known == len(KEYWORDS):
            return logits
        width = FIRST_NODE + logits.shape[1] - known - 1
        widened = np.full((len(logits), width), -np.inf, dtype=np.float32)
        widened[:, :known] = logits[:, :known]
        widened[:, BEGIN:] = logits[:, known:]
        return widened
