"""Columns that hold a text, for the indexes that keep their values in memory."""

from __future__ import annotations

from collections.abc import Iterable

from sqlwright.indexes.values.arrays import ColumnValues
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
