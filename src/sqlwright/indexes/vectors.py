"""The stored values of each column whose embeddings are nearest to a text.

MSc-SQL, section 3.2 (contextual retrieval through few-shot examples): a fixed number of distinct
values of every text column is embedded offline, and those nearest to the question (and its
evidence) are shown for each column. The authors take the first 2,000 values of a column, cut to
200 characters. Search is exact: one product with the whole matrix.

Deviation: the score of a value that equals the text but for case and accents is 1, that of any
other below 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import islice

import numpy as np
import numpy.typing as npt

from sqlwright.indexes.derived import Holders
from sqlwright.indexes.folding import soften
from sqlwright.indexes.values.arrays import ColumnValues
from sqlwright.protocols import Embedder, FloatArray, Run
from sqlwright.schema import ColumnRef
from sqlwright.types import ValueMatch

MOST_VALUES = 2_000
"""Values of a column that are embedded, as published."""
MOST_CHARACTERS = 200
"""Characters of a value that are embedded, likewise."""
_ALMOST = 0.999
"""Score of a vector search at most: 1 is for equal texts."""


class VectorIndex:
    """Nearest values by embedding, in memory; building it embeds every value once, and raises
    Cancelled when the `run` is."""

    def __init__(
        self,
        columns: Iterable[ColumnValues],
        embedder: Embedder,
        *,
        most_values: int = MOST_VALUES,
        most_characters: int = MOST_CHARACTERS,
        batch: int = 256,
        run: Run | None = None,
    ) -> None:
        self._embedder = embedder
        stored = [
            ColumnValues(one.column, list(islice(one.values, most_values))) for one in columns
        ]
        self._holders = Holders(stored)
        place = {text: number for number, text in enumerate(self._holders.texts)}
        self._columns: dict[ColumnRef, npt.NDArray[np.int64]] = {
            one.column: np.array([place[text] for text, _ in one.values if text], np.int64)
            for one in stored
        }
        cut = [text[:most_characters] for text in self._holders.texts]
        parts = [np.empty((0, embedder.dimension), np.float32)]
        for at in range(0, len(cut), batch):
            if run is not None:
                run.check()
            parts.append(embedder.embed(cut[at : at + batch]))
        self._vectors: FloatArray = np.concatenate(parts)

    def __len__(self) -> int:
        """Number of distinct texts."""
        return len(self._holders.texts)

    @cached_property
    def _soft(self) -> list[str]:
        return [soften(text) for text in self._holders.texts]

    def nearest(self, vector: FloatArray, per_column: int = 3) -> dict[ColumnRef, list[str]]:
        """The values of each column that are nearest to a unit vector of (dimension,), the nearest
        first and those that stand first of equals; never mind how near they are."""
        # Rounded, so that the order doesn't depend on a processor's last digit.
        cosines = np.round(self._vectors @ vector, 4)
        texts = self._holders.texts
        return {
            column: [
                texts[number]
                for number in numbers[np.argsort(-cosines[numbers], kind="stable")[:per_column]]
            ]
            for column, numbers in self._columns.items()
        }

    def search(self, phrase: str, k: int = 10, *, per_column: int = 3) -> list[ValueMatch]:
        """At most `k` matches, best first, at most `per_column` from any one column."""
        return self.search_many([phrase], k, per_column=per_column)[0]

    def search_many(
        self, phrases: Sequence[str], k: int = 10, *, per_column: int = 3
    ) -> list[list[ValueMatch]]:
        """`search` for each phrase; all are embedded together."""
        if not phrases or k <= 0:
            return [[] for _ in phrases]
        embedded = self._embedder.embed(list(phrases))
        return [
            self._nearest(phrase, self._vectors @ vector, k, per_column)
            for phrase, vector in zip(phrases, embedded, strict=True)
        ]

    def _nearest(
        self, phrase: str, cosines: FloatArray, k: int, per_column: int
    ) -> list[ValueMatch]:
        soft = soften(phrase)
        if not soft:
            return []
        scores = np.clip(cosines, 0, _ALMOST)
        scored = [
            (1.0 if self._soft[at] == soft else float(scores[at]), self._holders.texts[at])
            for at in range(len(scores))
            if scores[at] > 0 or self._soft[at] == soft
        ]
        return self._holders.matches(phrase, scored, k, per_column)
