"""Readings of files kept in this process, and failures of reading: neither is worked out twice."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass

from sqlwright.database.files.table import TableFile
from sqlwright.errors import DatabaseUnavailable

_MOST = 32
"""Readings that are kept at most, the latest ones."""
_MORE = 2.0
"""Times the seconds that were too few, from which on it is tried again."""


@dataclass(frozen=True, slots=True)
class Guessed:
    """The outcome of looking through files."""

    sources: tuple[TableFile, ...] = ()
    notes: tuple[str, ...] = ()
    failure: DatabaseUnavailable | None = None
    seconds: float = 0.0
    """The time that was too short; 0 for another failure."""


class _Readings:
    """Outcomes by what was read and when it last changed. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str], Guessed] = OrderedDict()

    def of(self, name: str, token: str, seconds: float) -> Guessed | None:
        """The outcome for files that haven't changed since; None where there is none, or where so
        many seconds may be enough now."""
        with self._lock:
            found = self._kept.get((name, token))
        if found is None or (found.seconds and seconds > _MORE * found.seconds):
            return None
        return found

    def keep(self, name: str, token: str, guessed: Guessed) -> None:
        """Keep an outcome."""
        with self._lock:
            self._kept[name, token] = guessed
            self._kept.move_to_end((name, token))
            while len(self._kept) > _MOST:
                self._kept.popitem(last=False)


REMEMBERED = _Readings()
