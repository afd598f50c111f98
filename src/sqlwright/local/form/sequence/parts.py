"""The parts of an unfinished query, and the limits on how deep they nest."""

from __future__ import annotations

from typing import Literal as OneOf
from typing import NamedTuple

MAX_DEPTH = 5
"""Queries within queries."""
MAX_LEVEL = 12
"""Operators within operators; a query within a query counts as two. Keeps what is written within
the hundred entries of SQLite's parser stack."""
MAX_ITEMS = 24
"""Items of one SELECT; derived tables have at most as many as there are item keywords."""

COLUMN, TABLE, VALUE = "<column>", "<table>", "<value>"
INSTANCES = ("second", "third")


class Place(NamedTuple):
    """Surroundings of an expression or condition."""

    aggregate: bool
    """Aggregates may be used."""
    outer: bool
    """Columns of the enclosing query may be used."""
    subquery: bool
    depth: int
    level: int
    derived: tuple[int, ...]
    """Number of items of each derived table."""
    window: bool = False
    """Windows may be used."""

    def deeper(self) -> Place:
        return self._replace(level=self.level + 1)

    def aggregated(self) -> Place:
        level = self.level + 1
        return self._replace(aggregate=False, outer=False, window=False, level=level)

    def windowed(self) -> Place:
        """Within a window: aggregates of the group may be ranked, other windows may not."""
        level = self.level + 1
        return self._replace(outer=False, subquery=False, window=False, level=level)


class Frame(NamedTuple):
    """An unfinished part other than a query."""

    kind: str
    place: Place
    number: int = 0


class Scope(NamedTuple):
    """An unfinished query."""

    kind: OneOf["top", "value", "exists", "derived"]
    phase: str
    depth: int
    items: int = 0
    required: int = 0
    """Items it must have; 0 is any number."""
    star: bool = False
    derived: tuple[int, ...] = ()
    level: int = 0
    grouped: bool = False
    """Its rows are groups, so ORDER BY may use aggregates."""
    arm: bool = False
    """It is the right side of a set operation."""
    constant: bool = False
    """Some item is a bare constant."""

    def place(self, *, aggregate: bool, outer: bool = True, subquery: bool = True) -> Place:
        outer = outer and self.kind in {"value", "exists"}
        return Place(aggregate, outer, subquery, self.depth, self.level, self.derived)


Part = Frame | Scope
Moves = dict[str, tuple[Part, ...]]
"""Parts that replace the top of the stack, by symbol."""
