"""Descriptions of columns by their nearness in meaning to a text.

CHESS section 3.1 (retrieve_context) and appendix A.2: one document per description a column has
(its label, its description, what its values mean), embedded once. The paper asks a vector database;
a schema has at most some hundred thousand documents, and one product with their matrix is exact and
takes milliseconds. Larger collections are searched approximately with the extra `ann`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from sqlwright.protocols import Embedder, FloatArray
from sqlwright.schema import ColumnRef, Schema
from sqlwright.types import DescriptionMatch

EXACT = 300_000
"""Documents up to which search is always exact."""
LONGEST = 1_000
"""Characters of a document that are embedded."""
PROBE = "The embedder of an index is told by the vector it gives this sentence."
_SAME_EMBEDDER = 0.999
"""Cosine of a stored vector and the same text's new one at least, where the embedder is the same.
Rounding to half precision costs less."""
_BATCH = 256
"""Texts embedded at a time."""
_BLOCK = 50_000
"""Documents whose vectors are multiplied at once."""
_MAGIC = b"sqlwright descriptions 1\n"
_HASH = 32
"""Bytes of the SHA-256 at the end of the file."""

Part = Literal["label", "description", "value_description"]
_PARTS: tuple[Part, ...] = ("label", "description", "value_description")
_Vectors = npt.NDArray[np.float16] | FloatArray


class Document(NamedTuple):
    """One description of a column."""

    column: ColumnRef
    part: Part
    text: str


def documents_of(schema: Schema) -> tuple[Document, ...]:
    """Every description there is, in the schema's order."""
    return tuple(
        Document(ColumnRef(table.name, column.name), part, text.strip())
        for table in schema.tables
        for column in table.columns
        for part in _PARTS
        if (text := getattr(column, part)).strip()
    )


def documents_digest(documents: Sequence[Document]) -> str:
    """Changes when any document does."""
    content = "\0".join(
        f"{d.column.table}\1{d.column.column}\1{d.part}\1{d.text}" for d in documents
    )
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


def embedded(
    documents: Sequence[Document],
    embedder: Embedder,
    *,
    progress: Callable[[int], None] | None = None,
) -> FloatArray:
    """The documents' unit vectors, equal texts embedded once. `progress` is told how many of the
    different texts are done; what it raises ends the work."""
    texts = list(dict.fromkeys(document.text[:LONGEST] for document in documents))
    parts = [np.zeros((0, embedder.dimension), np.float32)]
    for start in range(0, len(texts), _BATCH):
        parts.append(embedder.embed(texts[start : start + _BATCH]))
        if progress is not None:
            progress(min(start + _BATCH, len(texts)))
    position = {text: number for number, text in enumerate(texts)}
    rows = [position[document.text[:LONGEST]] for document in documents]
    vectors: FloatArray = np.concatenate(parts)[rows]
    return vectors


@dataclass(frozen=True)
class StoredVectors:
    """Vectors of a schema's documents in a file. Nothing is read before it is asked for."""

    path: Path
    digest: str
    """Digest of the documents they belong to."""

    def load(self, embedder: Embedder) -> npt.NDArray[np.float16] | None:
        """The vectors, one for each document; None when the file is gone, damaged, of other
        documents or made by another embedder."""
        try:
            content = self.path.read_bytes()
        except OSError:
            return None
        body, found = content[:-_HASH], content[-_HASH:]
        if not body.startswith(_MAGIC) or hashlib.sha256(body).digest() != found:
            return None
        head, _, data = body[len(_MAGIC) :].partition(b"\n")
        try:
            header = json.loads(head)
            rows, dimension = int(header["rows"]), int(header["dimension"])
            numbers = np.frombuffer(data, "<f2").reshape(rows + 1, dimension)
        except (ValueError, KeyError, TypeError):
            return None
        if header.get("digest") != self.digest or dimension != embedder.dimension:
            return None
        # Which embedder made them is told by the vector it gives a certain sentence.
        probe = embedder.embed([PROBE])[0]
        same = float(probe @ numbers[0].astype(np.float32)) >= _SAME_EMBEDDER
        return numbers[1:] if same else None


def stored_content(documents: Sequence[Document], vectors: FloatArray, embedder: Embedder) -> bytes:
    """Content of a `StoredVectors` file, in half precision: no ranking changes."""
    header = {
        "digest": documents_digest(documents),
        "rows": len(documents),
        "dimension": embedder.dimension,
    }
    rows = np.concatenate([embedder.embed([PROBE]), vectors]).astype("<f2")
    body = _MAGIC + json.dumps(header, sort_keys=True).encode() + b"\n" + rows.tobytes()
    return body + hashlib.sha256(body).digest()


class DescriptionIndex:
    """Documents and their vectors. Safe to share between threads."""

    def __init__(
        self, documents: Sequence[Document], vectors: _Vectors, *, exact: int = EXACT
    ) -> None:
        """`vectors` has the shape (len(documents), dimension). More than `exact` documents are
        searched approximately where that is installed, exactly otherwise (`note` says so)."""
        self.documents = tuple(documents)
        self.note = ""
        # Multiplying half precision is slow; a large matrix is widened block by block instead.
        small = len(vectors) <= _BLOCK
        self._vectors: _Vectors = vectors.astype(np.float32, copy=False) if small else vectors
        self._search: Callable[[FloatArray, int], tuple[Any, Any]] = self._exactly
        if len(self.documents) > exact:
            approximate = _approximate(vectors)
            if approximate is None:
                self.note = (
                    f"{len(self.documents):,} descriptions are searched one by one; "
                    "pip install 'sqlwright[ann]' makes that faster."
                )
            else:
                self._search = approximate

    def search(self, queries: FloatArray, k: int) -> list[list[DescriptionMatch]]:
        """For each query's unit vector its `k` nearest documents, nearest first."""
        if not self.documents or not len(queries) or k <= 0:
            return [[] for _ in queries]
        numbers, cosines = self._search(queries, min(k, len(self.documents)))
        return [
            [
                DescriptionMatch(*self.documents[int(number)], round(float(cosine), 6))
                for number, cosine in zip(row, near, strict=True)
            ]
            for row, near in zip(numbers, cosines, strict=True)
        ]

    def _exactly(self, queries: FloatArray, k: int) -> tuple[Any, Any]:
        parts = [
            queries @ self._vectors[start : start + _BLOCK].T.astype(np.float32, copy=False)
            for start in range(0, len(self._vectors), _BLOCK)
        ]
        cosines = np.concatenate(parts, axis=1)
        if k < cosines.shape[1]:
            # The nearest of equals is the first document, so that a run can be repeated.
            least = np.partition(cosines, -k, axis=1)[:, -k]
        else:
            least = cosines.min(axis=1)
        numbers = []
        for row, bound in zip(cosines, least, strict=True):
            near = np.flatnonzero(row >= bound)
            numbers.append(near[np.argsort(-row[near], kind="stable")][:k])
        found = np.stack(numbers)
        return found, np.take_along_axis(cosines, found, axis=1)


def _approximate(vectors: _Vectors) -> Callable[[FloatArray, int], tuple[Any, Any]] | None:
    """A graph index over the vectors; None where the extra isn't installed."""
    try:
        from usearch.index import Index
    except ImportError:
        return None
    index = Index(ndim=vectors.shape[1], metric="ip", dtype="f16")
    index.add(np.arange(len(vectors)), vectors.astype(np.float32))

    def search(queries: FloatArray, k: int) -> tuple[Any, Any]:
        found = index.search(np.atleast_2d(queries), k)
        keys = cast("npt.NDArray[np.int64]", np.atleast_2d(found.keys))
        return keys, 1.0 - np.atleast_2d(found.distances)

    return search
