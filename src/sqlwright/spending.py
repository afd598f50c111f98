"""What a question may cost and what it has cost: calls, tokens, money; thread-safe.

A budget is hard. Before a request is sent, the most it can cost is reserved; a reservation that
doesn't fit isn't given, and the request isn't sent. What it really cost is settled afterwards.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlwright.types import Usage


@dataclass(frozen=True, slots=True)
class Budget:
    """The most a question may cost; None is no limit."""

    calls: int | None = None
    tokens: int | None = None
    """Prompt and reply together."""
    cost: float | None = None
    """US dollars."""

    @property
    def limited(self) -> bool:
        return (self.calls, self.tokens, self.cost) != (None, None, None)


@dataclass(frozen=True, slots=True)
class Reservation:
    """The most a request that is under way can cost."""

    calls: int = 1
    tokens: int = 0
    cost: float | None = 0.0


class Spending:
    """One question's account. Shared by the branches of its run."""

    def __init__(self, budget: Budget | None = None) -> None:
        self.budget = budget or Budget()
        self._lock = threading.Lock()
        self._held = Usage()
        self._spent: dict[str, Usage] = {}

    def reserve(self, wanted: Reservation) -> bool:
        """Whether it fits into what is left; it then counts until it is settled."""
        with self._lock:
            if not self._fits(wanted):
                return False
            self._held = _plus(self._held, Usage(wanted.calls, wanted.tokens, 0, wanted.cost))
            return True

    def settle(self, step: str, reserved: Reservation, used: Usage) -> None:
        """Replace a reservation by what it came to, booked on a step."""
        with self._lock:
            held = self._held
            cost = None if held.cost is None or reserved.cost is None else held.cost - reserved.cost
            self._held = Usage(
                held.calls - reserved.calls, held.prompt_tokens - reserved.tokens, 0, cost
            )
            self._spent[step] = _plus(self._spent.get(step, Usage()), used)

    def affords(self, calls: int) -> bool:
        """Whether so many more calls are left, nothing else known about them."""
        with self._lock:
            return self._fits(Reservation(calls))

    @property
    def by_step(self) -> Mapping[str, Usage]:
        """What each step has cost, in the order of their names."""
        with self._lock:
            return dict(sorted(self._spent.items()))

    @property
    def total(self) -> Usage:
        """What all steps together have cost."""
        total = Usage()
        for used in self.by_step.values():
            total = _plus(total, used)
        return total

    def _fits(self, wanted: Reservation) -> bool:
        total = self._held
        for used in self._spent.values():
            total = _plus(total, used)
        limits = self.budget
        tokens = total.prompt_tokens + total.reply_tokens + wanted.tokens
        if limits.calls is not None and total.calls + wanted.calls > limits.calls:
            return False
        if limits.tokens is not None and tokens > limits.tokens:
            return False
        if limits.cost is None:
            return True
        if total.cost is None or wanted.cost is None:
            return False  # what isn't known can't be kept under a limit
        return total.cost + wanted.cost <= limits.cost


def _plus(first: Usage, second: Usage) -> Usage:
    known = first.cost is not None and second.cost is not None
    return replace(
        first,
        calls=first.calls + second.calls,
        prompt_tokens=first.prompt_tokens + second.prompt_tokens,
        reply_tokens=first.reply_tokens + second.reply_tokens,
        cost=(first.cost or 0.0) + (second.cost or 0.0) if known else None,
    )
