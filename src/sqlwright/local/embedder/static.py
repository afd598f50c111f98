"""Word vectors without running a model: the encoder's own input table, centred.

Far weaker than the encoder, but a thousand words cost a millisecond, so it ranks the columns of a
never-seen schema of thousands before the encoder looks at the best of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sqlwright.local.embedder.onnx import WordTable, encode_texts, load_tokenizer
from sqlwright.protocols import FloatArray

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_FIRST_WORD = 1996
"""Id of the first word in BERT's uncased vocabulary, after control and single-character pieces."""
_SAMPLE = 8000
"""Number of words, the first of the vocabulary, whose mean is taken away from each; chosen."""
_AT_ONCE = 500
"""Words that are looked up together for the mean; chosen, to keep memory small."""


class StaticEmbedder:
    """An `Embedder`: the mean of a text's centred word-piece vectors, unit length."""

    def __init__(self, tokenizer: Tokenizer, words: WordTable) -> None:
        self._tokenizer = tokenizer
        self._words = words

    @classmethod
    def load(cls, folder: Path, *, words: WordTable | None = None) -> StaticEmbedder:
        """Read tokenizer and word table. Raises ModelUnavailable when one is missing."""
        return cls(load_tokenizer(folder), words or WordTable.load(folder))

    @cached_property
    def _centre(self) -> FloatArray:
        """The mean of common words; (dimension,). Summed row by row, as numpy sums a column, but
        some rows at a time: all of them would take 25 MB."""
        end = min(_FIRST_WORD + _SAMPLE, len(self._words))
        total = np.zeros((1, self.dimension), dtype=np.float32)
        for start in range(_FIRST_WORD, end, _AT_ONCE):
            rows = self._words.look_up(np.arange(start, min(start + _AT_ONCE, end)))
            total = np.concatenate([total, rows]).sum(axis=0, keepdims=True)
        return np.asarray(total[0] / (end - _FIRST_WORD), dtype=np.float32)

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
