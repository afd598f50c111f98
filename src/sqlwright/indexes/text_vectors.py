"""Unit vectors of a schema's texts: from the file that preparing a database leaves, else embedded.

The file, all numbers little-endian: a magic line; a JSON header in one line, padded with blanks to
a multiple of 64 bytes with what goes before; for each text 8 bytes of its BLAKE2b hash as a number,
ascending; the vector of PROBE and then one for each text, in half precision; a SHA-256 over all of
it. It is mapped, not read, so that processes share it, and a file that isn't exactly so counts as
absent. Texts are found by their hashes: a schema that has changed since, or part of one, still
finds what it has in common with the prepared one.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sqlwright.protocols import Embedder, FloatArray, KeptTexts

IntArray = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]

PROBE = "Which embedder made these vectors is told by the one of this sentence."
_SAME_EMBEDDER = 0.999
"""Least cosine of PROBE's stored and new vector for which they are the same embedder's. Chosen:
leaves room for half precision and for another processor's rounding."""
_MAGIC = b"sqlwright text vectors 1\n"
_HASH = 32
"""Bytes of a SHA-256."""
_ALIGNED = 64
"""Bytes to a multiple of which the header is padded, so that the mapped numbers are aligned."""


def text_keys(texts: Iterable[str]) -> Keys:
    """(len(texts),) the key of each text: 8 bytes of its BLAKE2b hash as a number."""
    return np.frombuffer(
        b"".join(
            hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
            for text in texts
        ),
        "<u8",
    )


@dataclass(frozen=True, eq=False)
class KeptVectors:
    """Vectors by the hashes of their texts."""

    keys: Keys
    """Ascending."""
    vectors: npt.NDArray[np.float16]
    """(len(keys), dimension)"""
    probe: FloatArray
    """(dimension,) PROBE's vector by the embedder that made the others."""
    model: str
    """Digest of the weights of that embedder, as whoever wrote the file knew it."""

    def find(self, keys: Keys) -> IntArray:
        """(len(keys),) the row of each key; -1 for one that isn't there."""
        if not len(self.keys):
            return np.full(len(keys), -1, dtype=np.int64)
        places = np.searchsorted(self.keys, keys).clip(max=len(self.keys) - 1)
        return np.where(self.keys[places] == keys, places, -1).astype(np.int64)

    def fits(self, embedder: Embedder) -> bool:
        """True if this embedder made the vectors."""
        if self.vectors.shape[1] != embedder.dimension:
            return False
        return float(embedder.embed([PROBE])[0] @ self.probe) >= _SAME_EMBEDDER


def file_content(keys: Keys, vectors: FloatArray, probe: FloatArray, model: str) -> bytes:
    """The bytes of the file for these vectors; of equal keys the first counts."""
    keys, first = np.unique(keys, return_index=True)
    header = {"model": model, "rows": len(keys), "dimension": int(probe.shape[-1])}
    head = _MAGIC + json.dumps(header, sort_keys=True).encode()
    head += b" " * (-(len(head) + 1) % _ALIGNED) + b"\n"
    rows = np.concatenate([probe.reshape(1, -1), vectors[first]]).astype("<f2")
    body = b"".join([head, keys.astype("<u8").tobytes(), rows.tobytes()])
    return body + hashlib.sha256(body).digest()


def open_file(path: Path) -> KeptVectors | None:
    """The vectors in a file; None when there is none, or it is damaged."""
    try:
        content = np.memmap(path, np.uint8, "r")
    except (OSError, ValueError):  # the latter for an empty one
        return None
    body, found = content.data[:-_HASH], bytes(content.data[-_HASH:])
    if bytes(body[: len(_MAGIC)]) != _MAGIC or hashlib.sha256(body).digest() != found:
        return None
    start = len(_MAGIC)
    head, ended, _ = bytes(body[start : start + 4096]).partition(b"\n")
    try:
        header = json.loads(head)
        rows, dimension = int(header["rows"]), int(header["dimension"])
        model = str(header["model"])
    except (ValueError, KeyError, TypeError):
        return None
    start += len(head) + len(ended)
    middle = start + 8 * rows
    if rows < 0 or dimension <= 0 or middle + 2 * dimension * (rows + 1) != len(body):
        return None
    keys = content[start:middle].view("<u8")
    vectors = content[middle : len(body)].view("<f2").reshape(rows + 1, dimension)
    if np.any(keys[1:] <= keys[:-1]):
        return None
    return KeptVectors(keys, vectors[1:], vectors[0].astype(np.float32), model)


class PreparedVectors:
    """The prepared vectors of a database's texts, opened when first asked for. Safe to share
    between threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._asked: Embedder | None = None
        self._found: KeptVectors | None = None

    def open(self, embedder: Embedder) -> KeptVectors | None:
        """The vectors; None when there are none, they are damaged, or another embedder's."""
        with self._lock:
            if self._asked is not embedder:
                found = open_file(self.path)
                self._found = found if found is not None and found.fits(embedder) else None
                self._asked = embedder
            return self._found


class Remembering:
    """An `Embedder` with the vectors of some texts at hand."""

    def __init__(self, embedder: Embedder, kept: KeptVectors) -> None:
        self._embedder = embedder
        self._kept = kept

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    def embed(self, texts: Sequence[str]) -> FloatArray:
        """Shape (len(texts), dimension), unit length to half precision."""
        places = self._kept.find(text_keys(texts))
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        vectors[places >= 0] = self._kept.vectors[places[places >= 0]]
        unknown = np.flatnonzero(places < 0)
        vectors[unknown] = self._embedder.embed([texts[number] for number in unknown.tolist()])
        return vectors


class TextVectors:
    """The vectors of certain texts, by their numbers. Texts that aren't prepared are embedded when
    they are first asked for, and then kept. Safe to share between threads."""

    def __init__(
        self, texts: Sequence[str], embedder: Embedder, prepared: KeptTexts | None = None
    ) -> None:
        self.texts = tuple(texts)
        self._embedder = embedder
        self._kept = prepared.open(embedder) if prepared is not None else None
        self._place = (
            np.full(len(self.texts), -1, dtype=np.int64)
            if self._kept is None
            else self._kept.find(text_keys(self.texts))
        )
        self.unprepared = int((self._place < 0).sum())
        """Number of texts that aren't prepared, whatever has been embedded since."""
        # Rows that nobody has asked for take no memory.
        self._rows = np.zeros((len(self.texts), embedder.dimension), dtype=np.float32)
        self._known = np.zeros(len(self.texts), dtype=np.bool_)
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str]) -> FloatArray:
        """Vectors of other texts, shape (len(texts), dimension), not kept."""
        return self._embedder.embed(texts)

    def rows(self, numbers: IntArray) -> FloatArray:
        """Vectors of the texts of these numbers, shape (len(numbers), dimension)."""
        self._learn(numbers)
        return self._rows[numbers]

    def cosines(self, queries: FloatArray, numbers: IntArray) -> FloatArray:
        """Cosines of unit vectors and the texts of these numbers: (len(queries), len(numbers))."""
        different, where = np.unique(numbers, return_inverse=True)
        self._learn(different)
        every = len(different) == len(self.texts)
        vectors = self._rows if every else self._rows[different]
        return np.asarray((queries @ vectors.T)[:, where], dtype=np.float32)

    def _learn(self, numbers: IntArray) -> None:
        unknown = np.unique(numbers[~self._known[numbers]])
        if not len(unknown):
            return
        places = self._place[unknown]
        found = np.zeros((len(unknown), self._rows.shape[1]), dtype=np.float32)
        if self._kept is not None:
            found[places >= 0] = self._kept.vectors[places[places >= 0]]
        missing = [self.texts[number] for number in unknown[places < 0].tolist()]
        # Outside of the lock: two threads may embed the same text, but none waits for the other.
        if missing:
            found[places < 0] = self._embedder.embed(missing)
        with self._lock:
            self._rows[unknown] = found
            self._known[unknown] = True
