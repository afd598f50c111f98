"""Vectors of descriptions that an endpoint gives: in memory, and on disk beside what is prepared.

A file belongs to one embedder: its name and its header are a digest of the model's name, address,
revision and dimension. So vectors of two embedders never meet, and the embedded model's stay in
files of their own. Vectors are found by their texts, and none is forgotten: they were paid for.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from sqlwright.errors import NotEmbedded
from sqlwright.indexes.descriptions import LONGEST, Document
from sqlwright.indexes.text_vectors import file_content, open_file, text_keys
from sqlwright.llm.embedding import BoundEmbedder
from sqlwright.llm.keeping.cache import write_aside
from sqlwright.messages import Origin
from sqlwright.protocols import Context, Embedder, EmbedderGate, FloatArray, Run

FILE = "endpoint-{}.vectors"
POLL = 0.05
"""Seconds between looks at whether the run was cancelled while another question asks."""
ROUNDS = 2
"""The model behind an endpoint may be replaced between its first vector and the last, once."""


def embedder_of(context: Context, name: str, *, step: str, origin: Origin) -> Embedder:
    """The embedder for texts of one origin; the gate decides whether an endpoint may have them."""
    found = context.embedder(name)
    if isinstance(found, EmbedderGate):
        return found.bound(context.run, step=step, origin=origin)
    return found


def told_instead(error: NotEmbedded) -> str:
    """The warning of a step that went on without the endpoint."""
    return f"texts were compared with the embedded model: {error}"


class EndpointVectors:
    """Vectors of one schema's descriptions by any number of endpoints; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, dict[int, FloatArray]] = {}
        """Vectors by embedder and the text's hash."""
        self._last: tuple[str, Sequence[Document], FloatArray] | None = None
        """Put together last, of which embedder and documents: mostly it is all of them again."""

    def of(
        self,
        queries: Sequence[str],
        documents: Sequence[Document],
        embedder: BoundEmbedder,
        folder: Path | None,
    ) -> tuple[FloatArray, FloatArray]:
        """Unit vectors of queries and of documents; those not known yet are asked for, and kept in
        `folder` where that may be. Raises NotEmbedded and Cancelled."""
        for _ in range(ROUNDS):
            asked = embedder.embed(queries)
            identity = embedder.gate.identity
            found = self._documents(documents, embedder, identity, folder)
            if embedder.gate.identity == identity:
                return asked, found
        raise NotEmbedded(f"{embedder.gate.name} is another model each time")

    def _documents(
        self,
        documents: Sequence[Document],
        embedder: BoundEmbedder,
        identity: str,
        folder: Path | None,
    ) -> FloatArray:
        last = self._last
        if last is not None and last[0] == identity and last[1] is documents:
            return last[2]
        texts = [document.text[:LONGEST] for document in documents]
        keys = text_keys(texts).tolist()
        path = folder / FILE.format(identity[:32]) if folder and embedder.gate.keeps else None
        known = self._known.get(identity, {})
        if not known.keys() >= set(keys):
            with self._turn(embedder.run):
                known = self._known.get(identity) or _read(path, identity)
                missing = dict(zip(keys, texts, strict=True))
                missing = {key: text for key, text in missing.items() if key not in known}
                if missing:
                    of_schema = replace(embedder, origin="schema", keep=path is None)
                    vectors = of_schema.embed(list(missing.values()))
                    if embedder.gate.identity != identity:
                        return vectors
                    known = {**known, **dict(zip(missing, vectors, strict=True))}
                    if path is not None:
                        _write(path, known, identity)
                self._known[identity] = known
        found = np.stack([known[key] for key in keys])
        self._last = (identity, documents, found)
        return found

    @contextlib.contextmanager
    def _turn(self, run: Run) -> Iterator[None]:
        """One question at a time, so that nothing is asked for twice; in a wait that can end."""
        while not self._lock.acquire(timeout=POLL):
            run.check()
        try:
            yield
        finally:
            self._lock.release()


def _read(path: Path | None, identity: str) -> dict[int, FloatArray]:
    """Vectors of this embedder in a file; nothing where it is damaged or another's."""
    kept = None if path is None else open_file(path)
    if kept is None or kept.model != identity:
        return {}
    vectors = kept.vectors.astype(np.float32)
    return dict(zip(kept.keys.tolist(), vectors, strict=True))


def _write(path: Path, known: Mapping[int, FloatArray], identity: str) -> None:
    keys = np.array(list(known), dtype="<u8")
    vectors = np.stack(list(known.values()))
    content = file_content(keys, vectors, np.zeros(vectors.shape[1], np.float32), identity)
    with contextlib.suppress(OSError):  # a disk that can't be written costs time, not the answer
        write_aside(path, content)
