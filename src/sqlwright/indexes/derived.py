"""Indexes of other kinds, made once of a workspace's values or schema and kept in memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from sqlwright.errors import ConfigError
from sqlwright.indexes.values.arrays import ColumnValues
from sqlwright.protocols import ValueIndex
from sqlwright.schema import ColumnRef
from sqlwright.types import ValueMatch


class Holders:
    """Distinct texts in the order they were first seen, and the columns that hold each."""

    def __init__(self, columns: Iterable[ColumnValues]) -> None:
        self._columns: dict[str, list[tuple[ColumnRef, int]]] = {}
        for column in columns:
            for text, rows in column.values:
                if text:
                    self._columns.setdefault(text, []).append((column.column, rows))
        self.texts = list(self._columns)

    def matches(
        self, phrase: str, scored: Iterable[tuple[float, str]], k: int, per_column: int
    ) -> list[ValueMatch]:
        """At most `k` matches, best first and the longest of equals, at most `per_column` from
        any one column.
        """
        taken: dict[ColumnRef, int] = {}
        out: list[ValueMatch] = []
        for score, text in sorted(scored, key=lambda pair: (-pair[0], -len(pair[1]), pair[1])):
            for column, rows in self._columns[text]:
                if len(out) < k and taken.get(column, 0) < per_column:
                    taken[column] = taken.get(column, 0) + 1
                    out.append(ValueMatch(phrase, column, text, round(score, 4), rows))
        return out


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
