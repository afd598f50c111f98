"""The descriptions of schemas and their vectors, made when first needed and kept."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from sqlwright.english.words import readable
from sqlwright.indexes.descriptions import (
    DescriptionIndex,
    Document,
    documents_of,
    embedded,
)
from sqlwright.protocols import Embedder, FloatArray, KeptDescriptions, Run
from sqlwright.schema import ColumnRef, Schema
from sqlwright.steps.retrieval.shortlist import Shortlist
from sqlwright.types import DescriptionMatch


class SchemaDescriptions:
    """The descriptions of one schema, and the vectors of those that have been embedded."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.documents = documents_of(schema)
        self._indexes: dict[int, tuple[Embedder, DescriptionIndex | None]] = {}
        self._vectors: dict[int, tuple[Embedder, dict[str, FloatArray]]] = {}
        self._shortlist: Shortlist | None = None
        self._lock = threading.Lock()

    def prepared(
        self, stored: KeptDescriptions | None, embedder: Embedder
    ) -> DescriptionIndex | None:
        """The whole index, where one was prepared for these documents with this embedder."""
        if stored is None:
            return None
        with self._lock:
            if id(embedder) not in self._indexes:
                vectors = stored.load(embedder)
                fits = vectors is not None and len(vectors) == len(self.documents)
                index = (
                    DescriptionIndex(self.documents, vectors)
                    if fits and vectors is not None
                    else None
                )
                self._indexes[id(embedder)] = (embedder, index)
            return self._indexes[id(embedder)][1]

    def some(self, words: str, embedder: Embedder, most: int, run: Run) -> DescriptionIndex:
        """An index of the documents that share most words with a text, at most `most` of them."""
        documents = self.nearest(words, most)
        return DescriptionIndex(documents, self._embedded(documents, embedder, run))

    def nearest(self, words: str, most: int) -> Sequence[Document]:
        """The documents that share most words with a text, at most `most` of them."""
        if len(self.documents) <= most:
            return self.documents
        with self._lock:
            if self._shortlist is None:
                self._shortlist = Shortlist([_text(d) for d in self.documents])
        return [self.documents[number] for number in self._shortlist.nearest(words, most)]

    def _embedded(self, documents: Sequence[Document], embedder: Embedder, run: Run) -> FloatArray:
        _, known = self._vectors.setdefault(id(embedder), (embedder, {}))
        missing = [document for document in documents if document.text not in known]
        if missing:
            vectors = embedded(missing, embedder, progress=lambda _: run.check())
            with self._lock:
                known.update(zip((d.text for d in missing), vectors, strict=True))
        return np.stack([known[document.text] for document in documents])

    def others(self, found: Sequence[DescriptionMatch]) -> list[DescriptionMatch]:
        """The other descriptions of columns of which one was found, with its best score."""
        score: dict[ColumnRef, float] = {}
        for match in found:
            score[match.column] = max(score.get(match.column, -1.0), match.score)
        there = {(match.column, match.part) for match in found}
        return [
            DescriptionMatch(*document, score[document.column])
            for document in self.documents
            if document.column in score and (document.column, document.part) not in there
        ]


class DescribedSchemas:
    """Descriptions of the schemas seen last, made once for each schema object; thread-safe."""

    def __init__(self, kept: int = 4) -> None:
        self._kept = kept
        self._schemas: OrderedDict[int, SchemaDescriptions] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, schema: Schema) -> SchemaDescriptions:
        """The schema's descriptions."""
        with self._lock:
            known = self._schemas.get(id(schema))
            if known is None or known.schema is not schema:
                known = self._schemas[id(schema)] = SchemaDescriptions(schema)
            self._schemas.move_to_end(id(schema))
            while len(self._schemas) > self._kept:
                self._schemas.popitem(last=False)
            return known


def _text(document: Document) -> str:
    return f"{readable(document.column)} {document.text}"
