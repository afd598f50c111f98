"""Vectors of stored values: those that are prepared, and those embedded for a question, in memory.

Values are looked up column by column. An index of a column that is wholly known is kept for the
next question, as far as memory allows.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from sqlwright.indexes.text_vectors import (
    KeptVectors,
    PreparedVectors,
    Remembering,
    text_keys,
)
from sqlwright.indexes.values.arrays import ColumnValues
from sqlwright.indexes.vectors import VectorIndex
from sqlwright.protocols import Embedder, FloatArray, Run
from sqlwright.schema import ColumnRef
from sqlwright.steps.retrieval.shortlist import Shortlist

FILE = "values.vectors"
"""Left by preparing a database, beside its value index."""
KEPT = 50_000
"""Values whose vectors stay in memory; a third of it for those that aren't prepared."""
BATCH = 128
"""Texts embedded between two looks at whether the run was cancelled."""


@runtime_checkable
class Listing(Protocol):
    """A value index that tells the values of a column."""

    def frequent(self, column: ColumnRef, most: int) -> list[tuple[str, int]]:
        """The texts of a column that stand in most rows, with these."""
        ...

    @property
    def beside(self) -> Path | None:
        """The folder with all that is prepared of the database; None in memory."""
        ...


class Found(NamedTuple):
    """The nearest values of columns."""

    values: Mapping[ColumnRef, Sequence[str]]
    compared: int
    """Stored values whose vectors were compared."""
    of: int
    """Stored values there are to compare."""


class Wanted(NamedTuple):
    """A search: its text, its columns and its limits."""

    text: str
    per_column: int
    """Values of each column."""
    columns: Sequence[ColumnRef]
    most_values: int
    """Values of a column."""
    most_characters: int
    """Characters of a value that are embedded."""
    unprepared: int
    """Values embedded at most for one question."""


class ValueVectors:
    """Vectors of the values of the databases seen last; thread-safe."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._lock = threading.Lock()
        self._prepared: OrderedDict[Path, PreparedVectors] = OrderedDict()
        self._indexes: OrderedDict[tuple[object, ...], tuple[object, object, VectorIndex]] = (
            OrderedDict()
        )
        self._embedded: OrderedDict[str, FloatArray] = OrderedDict()
        self._embedder: Embedder | None = None

    def nearest(self, wanted: Wanted, listing: Listing, embedder: Embedder, run: Run) -> Found:
        """The values of each column that are nearest to a text.

        Where more values than `wanted.unprepared` would have to be embedded, each column has its
        share: those that have words of the text, then the most frequent. Which these are depends on
        nothing that was asked before. Raises WorkspaceError and Cancelled.
        """
        asked = embedder.embed([wanted.text])[0]
        source = self._source(listing, embedder)
        found: dict[ColumnRef, Sequence[str]] = {}
        open_columns: dict[ColumnRef, list[str]] = {}
        compared = of = 0
        for column in wanted.columns:
            run.check()
            index = self._index(column, listing, wanted, source)
            if isinstance(index, VectorIndex):
                found |= index.nearest(asked, wanted.per_column)
                compared, of = compared + len(index), of + len(index)
            elif index:
                open_columns[column] = index
        rest = self._some(open_columns, wanted, source)
        self._learn(rest, wanted.most_characters, source, run)
        for column, texts in rest.items():
            index = VectorIndex(
                [ColumnValues(column, [(one, 1) for one in texts])],
                source,
                most_characters=wanted.most_characters,
                run=run,
            )
            found |= index.nearest(asked, wanted.per_column)
            compared, of = compared + len(texts), of + len(open_columns[column])
        return Found(found, compared, of)

    def _source(self, listing: Listing, embedder: Embedder) -> _Known:
        """The embedder with what it needn't embed."""
        with self._lock:
            if self._embedder is not embedder:
                self._embedder = embedder
                self._embedded.clear()
            place = None if listing.beside is None else listing.beside / FILE
            prepared = None
            if place is not None and place.exists():
                prepared = self._prepared.setdefault(place, PreparedVectors(place))
                while len(self._prepared) > 4:
                    self._prepared.popitem(last=False)
            known = dict(self._embedded)
        return _Known(embedder, None if prepared is None else prepared.open(embedder), known)

    def _index(
        self, column: ColumnRef, listing: Listing, wanted: Wanted, source: _Known
    ) -> VectorIndex | list[str]:
        """The index of a column whose values are all prepared, else its values."""
        key = (id(listing), column, wanted.most_values, wanted.most_characters, id(source.kept))
        with self._lock:
            known = self._indexes.get(key)
            if known is not None and known[0] is listing and known[1] is source.kept:
                self._indexes.move_to_end(key)
                return known[2]
        values = listing.frequent(column, wanted.most_values)
        texts = [text for text, _ in values]
        if not texts or not source.has([text[: wanted.most_characters] for text in texts]).all():
            return texts
        index = VectorIndex(
            [ColumnValues(column, values)],
            source,
            most_values=wanted.most_values,
            most_characters=wanted.most_characters,
        )
        with self._lock:
            self._indexes[key] = (listing, source.kept, index)
            while sum(len(one) for *_, one in self._indexes.values()) > self._kept:
                self._indexes.popitem(last=False)
        return index

    def _some(
        self,
        columns: Mapping[ColumnRef, Sequence[str]],
        wanted: Wanted,
        source: _Known,
    ) -> Mapping[ColumnRef, Sequence[str]]:
        """The values that are compared of columns that aren't wholly prepared."""
        prepared = {
            column: source.has([one[: wanted.most_characters] for one in texts])
            for column, texts in columns.items()
        }
        if sum(int((~known).sum()) for known in prepared.values()) <= wanted.unprepared:
            return columns
        share = max(wanted.unprepared // len(columns), wanted.per_column)
        chosen = {}
        for column, texts in columns.items():
            known = prepared[column]
            unknown = [one for one, is_known in zip(texts, known, strict=True) if not is_known]
            near = {unknown[number] for number in Shortlist(unknown).nearest(wanted.text, share)}
            chosen[column] = [
                one for one, is_known in zip(texts, known, strict=True) if is_known or one in near
            ]
        return chosen

    def _learn(
        self,
        columns: Mapping[ColumnRef, Sequence[str]],
        most_characters: int,
        source: _Known,
        run: Run,
    ) -> None:
        """Embed what isn't known of these values."""
        texts = [one[:most_characters] for values in columns.values() for one in values]
        known = source.has(texts)
        missing = [
            one
            for one in dict.fromkeys(
                text for text, is_known in zip(texts, known, strict=True) if not is_known
            )
            if one not in source.embedded
        ]
        fresh: dict[str, FloatArray] = {}
        for at in range(0, len(missing), BATCH):
            run.check()
            batch = missing[at : at + BATCH]
            fresh |= dict(zip(batch, source.embedder.embed(batch), strict=True))
        source.embedded |= fresh
        with self._lock:
            if self._embedder is source.embedder:
                self._embedded |= fresh
                while len(self._embedded) > self._kept // 3:
                    self._embedded.popitem(last=False)


class _Known:
    """An `Embedder` with the vectors at hand: prepared ones, and those of `embedded`."""

    def __init__(
        self, embedder: Embedder, kept: KeptVectors | None, embedded: dict[str, FloatArray]
    ) -> None:
        self.embedder = embedder
        self.kept = kept
        self.embedded = embedded

    @property
    def dimension(self) -> int:
        return self.embedder.dimension

    def has(self, texts: Sequence[str]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """(len(texts),) whether each is prepared."""
        if self.kept is None:
            return np.zeros(len(texts), np.bool_)
        return self.kept.find(text_keys(texts)) >= 0

    def embed(self, texts: Sequence[str]) -> FloatArray:
        """Shape (len(texts), dimension)."""
        known = [self.embedded.get(text) for text in texts]
        rest = [text for text, vector in zip(texts, known, strict=True) if vector is None]
        embedder = self.embedder
        if self.kept is not None:
            embedder = Remembering(embedder, self.kept)
        found = iter(embedder.embed(rest)) if rest else iter(())
        rows = [next(found) if vector is None else vector for vector in known]
        return np.stack(rows) if rows else np.zeros((0, self.dimension), np.float32)
