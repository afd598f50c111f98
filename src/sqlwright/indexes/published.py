"""The value index that CHESS published, over the values of our own."""

from __future__ import annotations

import threading
from collections import OrderedDict

from sqlwright.errors import ConfigError
from sqlwright.indexes.minhash import Library, MinHashIndex
from sqlwright.protocols import ValueIndex


class PublishedIndexes:
    """MinHash indexes of the value indexes seen last, built when first asked for; thread-safe.

    Without the thresholds of similarity, which the step that asks them has itself."""

    def __init__(self, kept: int = 2) -> None:
        self._kept = kept
        self._made: OrderedDict[int, tuple[ValueIndex, MinHashIndex]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, index: ValueIndex, library: Library = "datasketch") -> MinHashIndex:
        """The published index over the same values. Raises ConfigError without the `lsh` extra, and
        for an index that can't list its values."""
        with self._lock:
            known = self._made.get(id(index))
            if known is None or known[0] is not index:
                listed = getattr(index, "column_values", None)
                if listed is None:
                    raise ConfigError("this value index can't be searched by MinHash signatures")
                built = MinHashIndex(listed(), library=library, least_edit=0.0)
                known = self._made[id(index)] = (index, built)
            self._made.move_to_end(id(index))
            while len(self._made) > self._kept:
                self._made.popitem(last=False)
            return known[1]
