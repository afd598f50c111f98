"""Vectors of what names and describes a schema's tables and columns, for the embedded linker, and
of stored values, for `retrieval.nearest_values`.

They are kept by text, so whatever happens to data and schema, only texts that weren't there before
are embedded. No file needs a mention in the manifest: it says itself which weights made it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from sqlwright.errors import ModelUnavailable
from sqlwright.indexes.text_vectors import (
    PROBE,
    KeptVectors,
    Keys,
    PreparedVectors,
    Remembering,
    file_content,
    open_file,
    text_keys,
)
from sqlwright.indexes.values.index import open_value_index
from sqlwright.indexes.vectors import MOST_CHARACTERS, MOST_VALUES
from sqlwright.prepare.storage.manifest import read_manifest
from sqlwright.prepare.storage.paths import (
    STAGES,
    TEXTS,
    VALUES,
    make_private,
    remove,
    write_private,
)
from sqlwright.protocols import Embedder, FloatArray
from sqlwright.protocols.embedded import embedded_embedder, embedder_digest, schema_texts
from sqlwright.schema import Schema

CHUNK = 1_024
"""Texts after which what is embedded is saved, about a second's work."""
MOST_VECTORS = 200_000
"""Stored values embedded in all; with more columns than that has room for, fewer of each. Chosen:
some minutes' work and 150 MB."""
_BATCH = 128
"""Texts embedded at a time: progress is told after each batch."""


def prepared_texts(folder: Path) -> PreparedVectors | None:
    """The vectors prepared for a database's texts; None when there are none."""
    path = folder / TEXTS
    return PreparedVectors(path) if path.exists() else None


def remembering(folder: Path, embedder: Embedder) -> Embedder:
    """The embedder, sparing it the texts whose vectors it has left in `folder`."""
    kept = open_file(folder / TEXTS)
    return Remembering(embedder, kept) if kept is not None and kept.fits(embedder) else embedder


def embed_texts(folder: Path, schema: Schema, progress: Callable[[int, int], None]) -> None:
    """Embed a schema's texts with the embedded model, as far as that isn't done already.

    `progress` is told how many texts there are to embed and how many of them are done; what it
    raises ends the work, and the next call goes on from there. Without the model nothing is done:
    then texts are embedded when they are needed. Raises WorkspaceError.
    """
    _keep(folder, TEXTS, schema_texts(schema), progress)


def embed_values(folder: Path, asked: bool, progress: Callable[[int, int], None]) -> None:
    """Likewise the values of what is prepared in `folder`, the most frequent of each column, where
    that is asked for now or was before."""
    manifest = read_manifest(folder) if asked or (folder / VALUES).exists() else None
    if manifest is None:
        return
    index = open_value_index(folder / manifest.values_folder)
    most = min(MOST_VALUES, MOST_VECTORS // max(len(index.columns), 1))
    values = (text for column in index.columns for text, _ in index.frequent(column, most))
    texts = list(dict.fromkeys(text[:MOST_CHARACTERS] for text in values))
    _keep(folder, VALUES, texts, progress)


def _keep(
    folder: Path, name: str, texts: Sequence[str], progress: Callable[[int, int], None]
) -> None:
    """Have exactly the vectors of these texts in a file."""
    keys, model = text_keys(texts), embedder_digest()
    kept = open_file(folder / name)
    if kept is not None and kept.model != model:
        kept = None
    if kept is not None and np.array_equal(kept.keys, np.unique(keys)):
        return
    try:
        embedder = embedded_embedder()
    except ModelUnavailable:
        return
    make_private(folder / STAGES)
    work = _Embedding(folder / STAGES, embedder, model, progress)
    vectors = work.vectors(texts, keys, kept)
    write_private(folder / name, file_content(keys, vectors, work.probe, model))
    for part in work.parts:
        remove(part)


class _Embedding:
    """The work under way, saved chunk by chunk."""

    def __init__(
        self, stages: Path, embedder: Embedder, model: str, progress: Callable[[int, int], None]
    ) -> None:
        self.parts: list[Path] = []
        self.probe = embedder.embed([PROBE])[0]
        self._stages = stages
        self._embedder = embedder
        self._model = model
        self._progress = progress

    def vectors(self, texts: Sequence[str], keys: Keys, kept: KeptVectors | None) -> FloatArray:
        """A vector for each text, those that are kept from there."""
        found = np.zeros((len(texts), self._embedder.dimension), dtype=np.float32)
        rows = np.full(len(texts), -1) if kept is None else kept.find(keys)
        if kept is not None:
            found[rows >= 0] = kept.vectors[rows[rows >= 0]]
        # Texts of like length go together: what shorter ones are padded with is wasted work.
        unknown = np.flatnonzero(rows < 0)
        sizes = np.array([len(texts[number]) for number in unknown.tolist()], dtype=np.int64)
        missing = unknown[np.argsort(sizes, kind="stable")]
        self._progress(0, len(missing))
        for start in range(0, len(missing), CHUNK):
            chunk = missing[start : start + CHUNK]
            done = (start, len(missing))
            found[chunk] = self._chunk(
                [texts[number] for number in chunk.tolist()], keys[chunk], done
            )
        return found

    def _chunk(self, texts: Sequence[str], keys: Keys, done: tuple[int, int]) -> FloatArray:
        """Vectors of some texts, from an earlier call that was stopped if it came so far."""
        name = hashlib.sha256(self._model.encode() + keys.tobytes()).hexdigest()[:32]
        path = self._stages / f"texts-{name}"
        self.parts.append(path)
        saved = open_file(path)
        if saved is not None and saved.model == self._model:
            rows = saved.find(keys)
            if np.all(rows >= 0):
                return saved.vectors[rows].astype(np.float32)
        before, total = done
        vectors = np.zeros((len(texts), self._embedder.dimension), dtype=np.float32)
        for start in range(0, len(texts), _BATCH):
            vectors[start : start + _BATCH] = self._embedder.embed(texts[start : start + _BATCH])
            self._progress(before + min(start + _BATCH, len(texts)), total)
        if total > CHUNK:
            write_private(path, file_content(keys, vectors, self.probe, self._model))
        return vectors
