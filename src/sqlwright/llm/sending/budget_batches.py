"""Splits requests into batches that fit into what is left of a budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlwright.llm.endpoint import Call
from sqlwright.llm.metering import largest_cost, prompt_tokens
from sqlwright.llm.prices import Price
from sqlwright.spending import Budget, Reservation, Spending

SHORTEST = 256
"""Reply tokens at least, and a quarter of those for reasoning. With less room no request is made: a
reply cut off is money lost."""


@dataclass(frozen=True)
class SampleRange:
    """Neighbouring samples of a call that are still missing."""

    index: int
    """Index of the call in the gate's list of calls."""
    call: Call
    """The whole call."""
    first: int
    count: int

    def to_send(self) -> Call:
        """The call for these samples alone."""
        return replace(self.call, n=self.count, seed=self.call.seed + self.first)


@dataclass(frozen=True)
class Rule:
    """Properties of an endpoint that the size of a request depends on."""

    many: bool
    """One request gives all samples of a call; otherwise each takes one."""
    price: Price | None


def missing_ranges(index: int, call: Call, there: Sequence[bool]) -> list[SampleRange]:
    """Runs of neighbouring samples of call `index` that aren't `there`."""
    ranges: list[SampleRange] = []
    for number, present in enumerate(there):
        if present:
            continue
        if ranges and ranges[-1].first + ranges[-1].count == number:
            ranges[-1] = replace(ranges[-1], count=ranges[-1].count + 1)
        else:
            ranges.append(SampleRange(index, call, number, 1))
    return ranges


def next_batch(
    waiting: Sequence[SampleRange], spending: Spending, rule: Rule
) -> tuple[list[SampleRange], list[SampleRange]]:
    """The batch of parts that can be sent now, in order, and those that can't.

    The first that doesn't fit whole ends the batch with as many of its samples as fit. One that
    doesn't fit at all gets a lower limit of reply tokens, unless what is under way may still leave
    more room; an empty batch means that nothing fits."""
    if not spending.budget.limited:
        return list(waiting), []
    batch: list[SampleRange] = []
    settled = not spending.held
    left = spending.left()
    for index, part in enumerate(waiting):
        fits = _how_many(part, left, rule)
        if fits:
            batch.append(replace(part, count=fits))
            left = _less(left, _needed(batch[-1].to_send(), rule))
        elif not batch and settled:
            shorter = _shortened(part, left, rule)
            if shorter is None:
                return [], list(waiting)
            batch.append(shorter)
            fits = 1
        if fits < part.count:
            rest = replace(part, first=part.first + fits, count=part.count - fits)
            return batch, [rest, *waiting[index + 1 :]]
    return batch, []


def _needed(call: Call, rule: Rule) -> Reservation:
    """The most that a call for some samples can cost."""
    if rule.many:
        return largest_cost(call, rule.price)
    single = largest_cost(replace(call, n=1), rule.price)
    cost = None if single.cost is None else single.cost * call.n
    return Reservation(call.n, single.tokens * call.n, cost, single.replies * call.n)


def _how_many(part: SampleRange, left: Budget, rule: Rule) -> int:
    counts = range(part.count, 0, -1)
    needed = ((n, _needed(replace(part, count=n).to_send(), rule)) for n in counts)
    return next((n for n, most in needed if left.holds(most)), 0)


def _shortened(part: SampleRange, left: Budget, rule: Rule) -> SampleRange | None:
    """One sample with as long a reply as there is room for; None when that is too short."""
    if left.calls == 0:
        return None
    room = float(part.call.limit)
    prompt = prompt_tokens(part.call)
    if left.tokens is not None:
        room = min(room, left.tokens - prompt)
    if left.replies is not None:
        room = min(room, left.replies)
    if left.cost is not None:
        if rule.price is None:
            return None
        least = rule.price.highest(prompt, 0)
        each = rule.price.highest(prompt, 1) - least
        if each > 0:
            room = min(room, (left.cost - least) / each * (1 - 1e-9))
        elif least > left.cost:
            return None
    if room < SHORTEST + part.call.reasoning_tokens // 4:
        return None
    shorter = replace(part.call, max_tokens=int(room), reasoning_tokens=0)
    return replace(part, count=1, call=shorter)


def _less(left: Budget, used: Reservation) -> Budget:
    return Budget(
        None if left.calls is None else left.calls - used.calls,
        None if left.tokens is None else left.tokens - used.tokens,
        None if left.cost is None or used.cost is None else left.cost - used.cost,
        None if left.replies is None else left.replies - used.replies,
    )
