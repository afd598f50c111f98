"""Indexes of other kinds, made once of a workspace's values or schema and kept in memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from sqlwright.errors import ConfigError
from sqlwright.indexes.values.arrays import ColumnValues
from sqlwright.protocols import ValueIndex

S = TypeVar("S")
T = TypeVar("T")

KEPT = 2
"""Databases whose indexes are kept: the one that is asked, and the same one opened afresh."""


class DerivedIndexes(Generic[S, T]):
    """Indexes made of the value indexes or schemas seen last; thread-safe."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._made: OrderedDict[int, tuple[S, T]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, source: S, make: Callable[[S], T]) -> T:
        """The result of `make` for this very source, made the first time. Others wait meanwhile."""
        with self._lock:
            known = self._made.get(id(source))
            if known is None or known[0] is not source:
                known = self._made[id(source)] = (source, make(source))
            self._made.move_to_end(id(source))
            while len(self._made) > self._kept:
                self._made.popitem(last=False)
            return known[1]


def listed_values(index: ValueIndex, what: str, most: int | None = None) -> list[ColumnValues]:
    """The values of an index by column, of columns with at most `most` alone where that is given.

    Raises ConfigError, which says `what` it was for, for an index that can't list its values."""
    listed = getattr(index, "column_values", None)
    if listed is None:
        raise ConfigError(f"this value index can't be {what}")
    found: list[ColumnValues] = listed() if most is None else listed(most)
    return found
