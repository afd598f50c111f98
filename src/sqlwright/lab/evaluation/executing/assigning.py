"""The questions that wait, by database, and which of them a worker gets next."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from sqlwright.lab.datasets.example import Example
from sqlwright.lab.evaluation.shards import in_order

WORTH_OPENING = 4
"""Questions that must be waiting on a database that a worker has open already for another one to
open it, too; chosen, since opening takes about as long as a few questions."""


class Group:
    """One database: the questions that wait for it, and the workers that have it open."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self.db_id = examples[0].db_id
        self.waiting = deque(examples)
        self.holders = 0
        self.losses = 0
        """Workers that ended while they opened it."""


class Waiting:
    """All that waits. Each database is one worker's as long as there are others."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self._groups = [
            Group(list(asked))
            for _, asked in groupby(in_order(examples), key=lambda example: example.database)
        ]

    def next_group(self) -> Group | None:
        """The database that a worker without one should open; None where none is worth it."""
        free = next(self._those(lambda group: not group.holders), None)
        if free is not None:
            return free
        shared = self._those(lambda group: len(group.waiting) >= WORTH_OPENING)
        return max(shared, key=lambda group: len(group.waiting), default=None)

    def _those(self, wanted: Callable[[Group], bool]) -> Iterator[Group]:
        self._groups = [group for group in self._groups if group.waiting or group.holders]
        return (group for group in self._groups if group.waiting and wanted(group))
