"""Which requests fit into what is left of a budget now, and which have to wait or be cut down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlwright.llm.endpoint import Call
from sqlwright.llm.metering import largest_cost, prompt_tokens
from sqlwright.llm.prices import Price
from sqlwright.spending import Budget, Reservation, Spending

SHORTEST = 256
"""Reply tokens at least. With less room no request is made: a reply cut off is money lost."""


@dataclass(frozen=True)
class Part:
    """Neighbouring samples of a call that are still missing."""

    place: int
    """Of the call among those of its batch."""
    call: Call
    """The whole call."""
    first: int
    count: int

    def to_send(self) -> Call:
        """The call for these samples alone."""
        return replace(self.call, n=self.count, seed=self.call.seed + self.first)


@dataclass(frozen=True)
class Rule:
    """What the size of a request depends on."""

    many: bool
    """One request gives all samples of a call; otherwise each takes one."""
    price: Price | None


def missing_parts(place: int, call: Call, there: Sequence[bool]) -> list[Part]:
    """The runs of samples that aren't there."""
    parts: list[Part] = []
    for number, present in enumerate(there):
        if present:
            continue
        if parts and parts[-1].first + parts[-1].count == number:
            parts[-1] = replace(parts[-1], count=parts[-1].count + 1)
        else:
            parts.append(Part(place, call, number, 1))
    return parts


def next_batch(
    waiting: Sequence[Part], spending: Spending, rule: Rule
) -> tuple[list[Part], list[Part]]:
    """The parts that can be sent now, in order, and those that can't.

    The first that doesn't fit whole ends the wave with as many of its samples as fit. One that
    doesn't fit at all gets a lower limit of reply tokens, unless what is under way may still leave
    more room; an empty wave means that nothing fits."""
    if not spending.budget.limited:
        return list(waiting), []
    wave: list[Part] = []
    settled = not spending.held
    left = spending.left()
    for place, part in enumerate(waiting):
        fits = _how_many(part, left, rule)
        if fits:
            wave.append(replace(part, count=fits))
            left = _less(left, _needed(wave[-1].to_send(), rule))
        elif not wave and settled:
            shorter = _shortened(part, left, rule)
            if shorter is None:
                return [], list(waiting)
            wave.append(shorter)
            fits = 1
        if fits < part.count:
            rest = replace(part, first=part.first + fits, count=part.count - fits)
            return wave, [rest, *waiting[place + 1 :]]
    return wave, []


def _needed(call: Call, rule: Rule) -> Reservation:
    """The most that a call for some samples can cost."""
    if rule.many:
        return largest_cost(call, rule.price)
    one = largest_cost(replace(call, n=1), rule.price)
    cost = None if one.cost is None else one.cost * call.n
    return Reservation(call.n, one.tokens * call.n, cost)


def _how_many(part: Part, left: Budget, rule: Rule) -> int:
    counts = range(part.count, 0, -1)
    return next((n for n in counts if _fits(replace(part, count=n), left, rule)), 0)


def _fits(part: Part, left: Budget, rule: Rule) -> bool:
    needed = _needed(part.to_send(), rule)
    if left.calls is not None and needed.calls > left.calls:
        return False
    if left.tokens is not None and needed.tokens > left.tokens:
        return False
    return left.cost is None or (needed.cost is not None and needed.cost <= left.cost)


def _shortened(part: Part, left: Budget, rule: Rule) -> Part | None:
    """One sample with as long a reply as there is room for; None when that is too short."""
    if left.calls == 0:
        return None
    room = float(part.call.max_tokens)
    prompt = prompt_tokens(part.call)
    if left.tokens is not None:
        room = min(room, left.tokens - prompt)
    if left.cost is not None:
        if rule.price is None:
            return None
        least = rule.price.cost(prompt, 0)
        each = rule.price.cost(prompt, 1) - least
        if each > 0:
            room = min(room, (left.cost - least) / each * (1 - 1e-9))
        elif least > left.cost:
            return None
    if room < SHORTEST:
        return None
    return replace(part, count=1, call=replace(part.call, max_tokens=int(room)))


def _less(left: Budget, used: Reservation) -> Budget:
    return Budget(
        None if left.calls is None else left.calls - used.calls,
        None if left.tokens is None else left.tokens - used.tokens,
        None if left.cost is None or used.cost is None else left.cost - used.cost,
    )
