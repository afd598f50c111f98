"""Texts to unit vectors with the shipped encoder, by tokenizers, numpy and onnxruntime alone.

The encoder is all-MiniLM-L6-v2 (sentence-transformers; Wang et al. 2020, MiniLM) in int8: six
layers, 384 dimensions, mean of the pieces' states. Its input table and first layer stand in files
of their own, since the parser's encoder begins with the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sqlwright.errors import ModelUnavailable
from sqlwright.local.runtime import open_session
from sqlwright.protocols import FloatArray

if TYPE_CHECKING:
    import onnxruntime
    from tokenizers import Encoding, Tokenizer

LOWER = "minilm_lower.onnx"
FILES = ("embedder.onnx", LOWER, "word_embeddings.npy", "word_scales.npy", "tokenizer.json")
"""The files that `OnnxEmbedder.load` reads from the weights folder."""

MAX_PIECES = 256
"""Most word pieces of a text; longer texts are cut, as in the encoder's training."""

FEW = 64
"""Most texts that are cut into pieces one by one, without the threads of a batch; chosen."""

BATCH = 32
"""Texts of one run of the encoder; chosen, since larger batches gain nothing on a CPU."""


class WordTable:
    """Word embeddings kept as int8 rows with a scale each, memory-mapped and shared by models."""

    def __init__(self, rows: np.ndarray, scales: np.ndarray) -> None:
        self._rows = rows
        self._scales = scales

    @classmethod
    def load(cls, folder: Path) -> WordTable:
        """Open the table in `folder`. Raises ModelUnavailable when it is missing or damaged."""
        try:
            rows = np.load(folder / "word_embeddings.npy", mmap_mode="r", allow_pickle=False)
            scales = np.load(folder / "word_scales.npy", allow_pickle=False)
        except (OSError, ValueError) as error:
            raise _unavailable(folder, error) from error
        return cls(rows, scales)

    @property
    def dimension(self) -> int:
        return int(self._rows.shape[1])

    def __len__(self) -> int:
        return int(self._rows.shape[0])

    def look_up(self, ids: np.ndarray) -> FloatArray:
        """Vectors of word-piece ids; shape (*ids.shape, dimension), float32."""
        scaled = self._rows[ids].astype(np.float32) * self._scales[ids][..., None]
        return np.asarray(scaled, dtype=np.float32)


class LowerLayers:
    """Position embeddings and the first layer of MiniLM. Training the parser leaves them as they
    are, so one file serves both encoders."""

    def __init__(self, session: onnxruntime.InferenceSession) -> None:
        self._session = session

    @classmethod
    def load(cls, folder: Path) -> LowerLayers:
        """Read LOWER in `folder`. Raises ModelUnavailable when it is missing or damaged."""
        return cls(open_session(folder / LOWER))

    def __call__(self, words: FloatArray, mask: FloatArray) -> FloatArray:
        """Looked-up words (B, T, 384) and mask (B, T) to states (B, T, 384)."""
        feeds = {"words": words, "mask": mask}
        return np.asarray(self._session.run(["lower"], feeds)[0], dtype=np.float32)


@dataclass(frozen=True, eq=False)
class TextFront:
    """Tokenizer, word table and first layer, which all encoders of text share; loaded once."""

    lower: LowerLayers
    tokenizer: Tokenizer
    words: WordTable

    @classmethod
    def load(cls, folder: Path, *, words: WordTable | None = None) -> TextFront:
        """Read the files of `folder`. Raises ModelUnavailable when one is missing or damaged."""
        return cls(
            LowerLayers.load(folder),
            load_tokenizer(folder),
            words or WordTable.load(folder),
        )


class OnnxEmbedder:
    """The `Embedder` that ships with the package: all-MiniLM-L6-v2 in int8.

    One session serves many threads.
    """

    def __init__(self, front: TextFront, session: onnxruntime.InferenceSession) -> None:
        self.front = front
        self._session = session

    @classmethod
    def load(cls, folder: Path, *, words: WordTable | None = None) -> OnnxEmbedder:
        """Read the files named in FILES. Raises ModelUnavailable when one is missing or damaged."""
        front = TextFront.load(folder, words=words)
        return cls(front, open_session(folder / "embedder.onnx"))

    @property
    def dimension(self) -> int:
        return self.front.words.dimension

    def embed(self, texts: Sequence[str]) -> FloatArray:
        """Shape (len(texts), dimension), float32, unit length; the order of `texts` is kept."""
        out = np.zeros((len(texts), self.dimension), dtype=np.float32)
        if not texts:
            return out
        pieces = [code.ids for code in encode_texts(self.front.tokenizer, texts)]
        # The last piece closes the text and stays when the text is cut.
        pieces = [
            ids if len(ids) <= MAX_PIECES else [*ids[: MAX_PIECES - 1], ids[-1]] for ids in pieces
        ]
        # Texts of like length share a batch, since every text is padded to the longest beside it.
        order = sorted(range(len(texts)), key=lambda index: len(pieces[index]))
        start = 0
        while start < len(order):
            # Padding is wasted work, so a batch ends where texts become much longer.
            longest = len(pieces[order[start]]) * 5 // 4 + 1
            end = start + 1
            while end < min(start + BATCH, len(order)) and len(pieces[order[end]]) <= longest:
                end += 1
            rows = order[start:end]
            out[rows] = self._embed_batch([pieces[row] for row in rows])
            start = end
        return out

    def _embed_batch(self, pieces: Sequence[Sequence[int]]) -> FloatArray:
        length = max(len(ids) for ids in pieces)
        ids = np.zeros((len(pieces), length), dtype=np.int64)
        mask = np.zeros((len(pieces), length), dtype=np.float32)
        for row, found in enumerate(pieces):
            ids[row, : len(found)] = found
            mask[row, : len(found)] = 1.0
        lower = self.front.lower(self.front.words.look_up(ids), mask)
        feeds = {"lower": lower, "mask": mask}
        return np.asarray(self._session.run(["embedding"], feeds)[0], dtype=np.float32)


def load_tokenizer(folder: Path) -> Tokenizer:
    """The tokenizer in `folder`. Raises ModelUnavailable when it can't be read."""
    from tokenizers import Tokenizer

    try:
        text = (folder / "tokenizer.json").read_text(encoding="utf-8")
    except OSError as error:
        raise _unavailable(folder, error) from error
    return Tokenizer.from_str(text)


def encode_texts(
    tokenizer: Tokenizer, texts: Sequence[str], *, special: bool = True
) -> list[Encoding]:
    """Word pieces of each text. For a few short texts the batch call's threads cost more than
    they save."""
    if len(texts) <= FEW:
        return [tokenizer.encode(text, add_special_tokens=special) for text in texts]
    return list(tokenizer.encode_batch(list(texts), add_special_tokens=special))


def _unavailable(folder: Path, error: Exception) -> ModelUnavailable:
    return ModelUnavailable(
        f"the embedder's files in {folder} can't be read: {error}",
        hint="Reinstall sqlwright; its package brings the weights along.",
    )
