"""Word vectors without running a model: the encoder's own input table, centred.

Far weaker than the encoder, but a thousand words cost a millisecond, so it ranks the columns of a
never-seen schema of thousands before the encoder looks at the best of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sqlwright.local.embedder.onnx import WordTable, encode_texts, load_tokenizer
from sqlwright.protocols import FloatArray

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_FIRST_WORD = 1996
"""Where BERT's uncased vocabulary turns from control and single-character pieces to words."""


class StaticEmbedder:
    """An `Embedder`: the mean of a text's centred word-piece vectors, unit length."""

    def __init__(self, tokenizer: Tokenizer, words: WordTable) -> None:
        self._tokenizer = tokenizer
        self._words = words
        sample = np.arange(_FIRST_WORD, min(_FIRST_WORD + 8000, len(words)))
        self._centre = words.look_up(sample).mean(axis=0)

    @classmethod
    def load(cls, folder: Path, *, words: WordTable | None = None) -> StaticEmbedder:
        """Read tokenizer and word table. Raises ModelUnavailable when one is missing."""
        return cls(load_tokenizer(folder), words or WordTable.load(folder))

    @property
    def dimension(self) -> int:
        return self._words.dimension

    def embed(self, texts: Sequence[str]) -> FloatArray:
        """Shape (len(texts), dimension), float32, unit length; a text without pieces is zero."""
        out = np.zeros((len(texts), self.dimension), dtype=np.float32)
        if not texts:
            return out
        coded = encode_texts(self._tokenizer, texts, special=False)
        lengths = np.array([len(code.ids) for code in coded])
        ids = np.array([piece for code in coded for piece in code.ids], dtype=np.int64)
        if len(ids):
            rows = np.repeat(np.arange(len(texts)), lengths)
            np.add.at(out, rows, self._words.look_up(ids) - self._centre)
        return np.asarray(
            out / np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-9), dtype=np.float32
        )
