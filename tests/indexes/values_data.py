"""Stored values that the index tests share, and an embedder small enough for tests."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

from sqlwright.indexes.values.index import ColumnValues
from sqlwright.protocols import FloatArray
from sqlwright.schema import ColumnRef

CITY = ColumnRef("city", "name")
AIRPORT = ColumnRef("airport", "label")
CODE = ColumnRef("order", "code")
PERSON = ColumnRef("staff member", "full name")

COLUMNS = {
    CITY: [("Paris", 3), ("New York", 2), ("York", 7), ("San Francisco", 1), ("Łódź", 1),
           ("São Paulo", 4), ("東京都", 2), ("Zürich", 1), ("Newcastle upon Tyne", 5)],
    AIRPORT: [("Paris", 9), ("Zürich Airport", 1), ("John F. Kennedy International Airport", 1)],
    CODE: [("AB-123", 1), ("XY/9/2001", 2), ("C++", 4), ("C#", 2), ("+", 6), ("A", 1)],
    PERSON: [("Ann Smith", 1), ("Bob Smith", 1), ("Carla Smith", 1), ("Dora Smith", 1),
             ("O'Brien, Conor", 1)],
}  # fmt: skip


def columns() -> list[ColumnValues]:
    return [ColumnValues(column, list(values)) for column, values in COLUMNS.items()]


class LetterEmbedder:
    """Unit vectors of hashed letter pairs: near for texts that share letters."""

    dimension = 64

    def embed(self, texts: Sequence[str]) -> FloatArray:
        out = np.full((len(texts), self.dimension), 1e-3, np.float32)
        for row, text in zip(out, texts, strict=True):
            soft = f" {text.casefold()} "
            for at in range(len(soft) - 1):
                row[zlib.crc32(soft[at : at + 2].encode()) % self.dimension] += 1
        return out / np.linalg.norm(out, axis=1, keepdims=True)
