"""Values made once for all steps of a question."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

R = TypeVar("R")


@dataclass
class _Made:
    """A value that is, or is being, made once."""

    inputs: tuple[object, ...]
    """Kept, because they are told apart by identity."""
    lock: threading.Lock = field(default_factory=threading.Lock)
    outcome: list[Any] = field(default_factory=list)
    """Empty until it is there."""


class Remembered:
    """Values made once for all steps of a question; safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: dict[Hashable, _Made] = {}

    def once(
        self, make: Callable[[], R], what: str, inputs: tuple[object, ...], options: Hashable = None
    ) -> R:
        """The value that `make` gave the first time for the same inputs; see `Run.once`."""
        key = (what, options, tuple(map(id, inputs)))
        with self._lock:
            made = self._made.setdefault(key, _Made(inputs))
        with made.lock:
            if not made.outcome:
                made.outcome.append(make())
            outcome: R = made.outcome[0]
            return outcome
