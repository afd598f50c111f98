"""The few things that are kept open of many."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, Protocol, TypeVar


class Closable(Protocol):
    """Something that is open until it is closed."""

    def close(self) -> None:
        """Close it."""
        ...


K = TypeVar("K", bound=Hashable)
V = TypeVar("V", bound=Closable)


class KeptOpen(Generic[K, V]):
    """Opens what is asked for; beyond so many, closes what wasn't asked for longest."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: dict[K, V] = {}
        """The last one asked for is last."""

    def get(self, key: K, opened: Callable[[], V]) -> V:
        """The one that is open under a key, or else the one that `opened` opens. Raises what that
        raises."""
        one = self._open.pop(key, None) or opened()
        self._open[key] = one
        while len(self._open) > self._most:
            self._open.pop(next(iter(self._open))).close()
        return one

    def close(self) -> None:
        """Close all. Safe to call twice."""
        while self._open:
            self._open.popitem()[1].close()
