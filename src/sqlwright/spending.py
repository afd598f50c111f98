"""Budget and cost of one question: calls, tokens, US dollars.

An account is thread-safe. A budget is hard. Before a request is sent, the most it can cost is
reserved; a reservation that doesn't fit isn't given, and the request isn't sent. Its actual cost is
settled afterwards.
"""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from sqlwright.boundary.arguments import Amount, Natural, checked_fields, shown
from sqlwright.errors import ConfigError
from sqlwright.types import Usage

_AMOUNT = re.compile(
    r"(?:\$\s*(?P<cost>[\d.]+)|(?P<number>[\d.]+)\s*(?P<scale>[km]?)\s*"
    r"(?P<unit>usd|calls?|tokens?))",
    re.IGNORECASE,
)
_SCALES = {"": 1, "k": 1_000, "m": 1_000_000}


@checked_fields
@dataclass(frozen=True, slots=True)
class Budget:
    """The most a question may cost; None is no limit."""

    calls: Natural | None = None
    tokens: Natural | None = None
    """Prompt and reply together."""
    cost: Amount | None = None
    """US dollars."""
    replies: Natural | None = None
    """Tokens of replies alone, reasoning included: a model that never stops makes those."""

    @property
    def limited(self) -> bool:
        return any(each is not None for each in (self.calls, self.tokens, self.cost, self.replies))

    def holds(self, used: Reservation) -> bool:
        """True if so much is within it; what isn't known can't be kept under a limit."""
        pairs = (
            (self.calls, used.calls),
            (self.tokens, used.tokens),
            (self.cost, used.cost),
            (self.replies, used.replies),
        )
        return all(most is None or (one is not None and one <= most) for most, one in pairs)

    def capped(self, replies: int) -> Budget:
        """The same with a limit for replies, unless it names tokens."""
        return self if self.tokens is not None or not replies else replace(self, replies=replies)

    def __str__(self) -> str:
        """As it is written: `$0.05, 20 calls, 50,000 tokens`."""
        parts = [f"${self.cost:.6g}"] if self.cost is not None else []
        for amount, unit in ((self.calls, "call"), (self.tokens, "token")):
            if amount is not None:
                parts.append(f"{amount:,} {unit}{'' if amount == 1 else 's'}")
        if self.replies is not None:
            parts.append(f"{self.replies:,} tokens of replies, unless --budget names tokens")
        return ", ".join(parts) or "no limit"


def parse_budget(text: str) -> Budget:
    """A budget from text: `$0.05`, `20 calls`, `50k tokens`, or several of them with commas. Raises
    ConfigError."""
    given: dict[str, float] = {}
    for part in re.split(r",(?!\d{3}\b)", text):
        match = _AMOUNT.fullmatch(part.strip().replace(",", ""))
        if match is None:
            raise _not_a_budget(text)
        unit = (match["unit"] or "usd").lower().removesuffix("s")
        try:
            number = float(match["cost"] or match["number"])
        except ValueError:
            raise _not_a_budget(text) from None
        amount = number * _SCALES[(match["scale"] or "").lower()]
        unit = "cost" if unit == "usd" else unit
        if unit in given or not math.isfinite(amount) or (unit != "cost" and amount != int(amount)):
            raise _not_a_budget(text)
        given[unit] = amount
    calls, tokens = (None if unit not in given else int(given[unit]) for unit in ("call", "token"))
    return Budget(calls, tokens, given.get("cost"))


def _not_a_budget(text: str) -> ConfigError:
    return ConfigError(
        f"{shown(text)} is not a budget",
        hint="Write an amount such as $0.05, 20 calls or 50k tokens, or several with commas.",
    )


@dataclass(frozen=True, slots=True)
class Reservation:
    """The most a request that is under way can cost."""

    calls: int = 1
    tokens: int = 0
    cost: float | None = 0.0
    replies: int = 0
    """The part of `tokens` that is replies."""


class Spending:
    """The account of one question: what is spent and what is reserved. Shared by the branches of
    its run. It may be within the account of many questions, where everything must fit, too."""

    def __init__(self, budget: Budget | None = None, within: Spending | None = None) -> None:
        self.budget = budget or Budget()
        self.exhausted = False
        """True once a request was given up for which its budget had no room."""
        self._within, self._short = within, self
        """`_short` is the account that last had no room."""
        self._changed = threading.Condition()
        self._held: list[Reservation] = []
        self._spent: dict[str, Usage] = {}

    @property
    def limited(self) -> bool:
        """True if there is any limit to it."""
        return self.budget.limited or (self._within is not None and self._within.limited)

    def reserve(self, wanted: Reservation) -> bool:
        """Reserve if it fits into what is left; True if it did. It counts until it is settled."""
        with self._changed:
            self._short = self
            if not self._fits(wanted):
                return False
            if self._within is not None and not self._within.reserve(wanted):
                self._short = self._within
                return False
            self._held.append(wanted)
            return True

    def give_up(self) -> Budget:
        """The budget that had no room for what was wanted last; that it is exhausted is noted."""
        self._short.exhausted = True
        return self._short.budget

    def settle(self, step: str, reserved: Reservation, used: Usage) -> None:
        """Replace a reservation by its actual cost, booked on a step."""
        with self._changed:
            self._held.remove(reserved)
            self._spent[step] = plus(self._spent.get(step, Usage()), used)
            self._changed.notify_all()
        if self._within is not None:
            self._within.settle(step, reserved, used)

    def book(self, step: str, used: Usage) -> None:
        """Book a cost that nothing was reserved for, such as replies from the cache."""
        with self._changed:
            self._spent[step] = plus(self._spent.get(step, Usage()), used)

    def affords(self, calls: int) -> bool:
        """True if `calls` more calls fit; their tokens and cost, which aren't known, count as 0."""
        with self._changed:
            return self._fits(Reservation(calls))

    def left(self) -> Budget:
        """The budget less what is spent and reserved; None where there is no limit, never negative.
        No money is left once the cost of a call isn't known."""
        with self._changed:
            total, limits = self._total(), self.budget
            tokens = total.prompt_tokens + total.reply_tokens
            spent = float("inf") if total.cost is None else total.cost
            return Budget(
                None if limits.calls is None else max(limits.calls - total.calls, 0),
                None if limits.tokens is None else max(limits.tokens - tokens, 0),
                None if limits.cost is None else max(limits.cost - spent, 0.0),
                None if limits.replies is None else max(limits.replies - total.reply_tokens, 0),
            )

    @property
    def held(self) -> bool:
        """True if anything is reserved and not settled yet."""
        with self._changed:
            return bool(self._held)

    def wait(self, seconds: float) -> bool:
        """Wait at most `seconds` for a reservation to settle. False, at once, if none is open: what
        is left now won't grow."""
        if self._short is not self:
            return self._short.wait(seconds)
        with self._changed:
            if not self._held:
                return False
            self._changed.wait(seconds)
            return True

    @property
    def by_step(self) -> Mapping[str, Usage]:
        """The cost of each step, in the order of their names."""
        with self._changed:
            return dict(sorted(self._spent.items()))

    @property
    def total(self) -> Usage:
        """The cost of all steps together; reservations don't count."""
        total = Usage()
        for used in self.by_step.values():
            total = plus(total, used)
        return total

    def _total(self) -> Usage:
        """Spent and reserved together."""
        total = Usage()
        for used in self._spent.values():
            total = plus(total, used)
        for held in self._held:
            prompt = held.tokens - held.replies
            total = plus(total, Usage(held.calls, prompt, held.replies, held.cost))
        return total

    def _fits(self, wanted: Reservation) -> bool:
        if not self.budget.limited:
            return True
        total = self._total()
        known = total.cost is not None and wanted.cost is not None
        together = Reservation(
            total.calls + wanted.calls,
            total.prompt_tokens + total.reply_tokens + wanted.tokens,
            (total.cost or 0.0) + (wanted.cost or 0.0) if known else None,
            total.reply_tokens + wanted.replies,
        )
        return self.budget.holds(together)


def plus(first: Usage, second: Usage) -> Usage:
    """The sum of both; a cost is None (unknown) if one of theirs is."""
    return _by_field(first, second, lambda one, two: one + two)


def minus(later: Usage, earlier: Usage) -> Usage:
    """The usage on top of `earlier`; a cost is None (unknown) if one of theirs is."""
    return _by_field(later, earlier, lambda one, two: max(one - two, 0))


def _by_field(first: Usage, second: Usage, of: Callable[[float, float], float]) -> Usage:
    made: dict[str, Any] = {}
    for name in _NAMES:
        one, two = getattr(first, name), getattr(second, name)
        # Rounded, so that a sum doesn't depend on the order in which branches end.
        made[name] = None if one is None or two is None else round(of(one, two), 12)
    return Usage(**made)


_NAMES = tuple(one.name for one in fields(Usage))
