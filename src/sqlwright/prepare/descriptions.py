"""Vectors of a schema's descriptions, kept beside what else is prepared.

The file is named for the documents it belongs to, so it stays as long as they do, whatever happens
to the data, and needs no mention in the manifest.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sqlwright.errors import ModelUnavailable
from sqlwright.indexes.descriptions import (
    StoredVectors,
    documents_digest,
    documents_of,
    embedded,
    stored_content,
)
from sqlwright.prepare.storage.paths import write_private
from sqlwright.prepare.texts import remembering
from sqlwright.protocols.embedded import embedded_embedder
from sqlwright.schema import Schema

_NAME = "descriptions-{}"


def stored_vectors(folder: Path, schema: Schema) -> StoredVectors | None:
    """The vectors of a schema's descriptions; None when it has none, or none are prepared."""
    stored = _place(folder, schema)
    return stored if stored is not None and stored.path.exists() else None


def embed_descriptions(
    folder: Path, schema: Schema, progress: Callable[[int], None]
) -> StoredVectors | None:
    """Embed a schema's descriptions with the embedded model unless that is done already.

    None when there are none, or the model is missing: then they are embedded when they are needed.
    Raises WorkspaceError, and what `progress` raises.
    """
    stored = _place(folder, schema)
    if stored is None:
        return None
    try:
        embedder = embedded_embedder()
    except ModelUnavailable:
        return None
    if stored.load(embedder) is None:
        documents = documents_of(schema)
        # Most of them are among the texts that the linker needs.
        vectors = embedded(documents, remembering(folder, embedder), progress=progress)
        write_private(stored.path, stored_content(documents, vectors, embedder))
    return stored


def _place(folder: Path, schema: Schema) -> StoredVectors | None:
    documents = documents_of(schema)
    if not documents:
        return None
    digest = documents_digest(documents)
    return StoredVectors(folder / _NAME.format(digest[:24]), digest)
