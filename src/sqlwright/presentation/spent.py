"""What an answer took of a language model and why, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlwright.presentation.numbers import money, percent

if TYPE_CHECKING:
    from sqlwright.types import Answer, TierRecord

TOLD = 0.005
"""Expected gain from which a tier that wasn't entered is told with its price; chosen."""
_CAME = {
    "agrees": ("it agrees", "more of its queries bear it out"),
    "differs": ("it doesn't agree", "more of its queries don't bear it out"),
    "nothing": ("it wrote no query that runs", "no other query of it runs"),
}


def spent_words(answer: Answer) -> str:
    """What was asked of a language model and why, or why nothing was; empty for recipes that don't
    weigh it."""
    told = [_tier(tier, first=not place) for place, tier in enumerate(answer.tiers)]
    return "; ".join(told)


def _tier(tier: TierRecord, *, first: bool) -> str:
    if not tier.entered:
        return _stopped(tier, first=first)
    used = tier.usage
    times = {0: "", 1: "once "}.get(used.calls, f"{used.calls:,} times ")
    parts = []
    if used.calls:
        parts.append(f"{used.prompt_tokens + used.reply_tokens:,} tokens")
        parts += [] if used.cost is None else [money(used.cost)]
    if used.cached:
        parts.append(f"{used.cached:,} from the cache")
    took = f"({', '.join(parts)})" if parts else ""
    sure = ""
    if tier.after is not None and tier.end != "nothing":
        sure = f" ({_sure(tier.before)} before, {percent(tier.after)} now)"
    asked = f"asked {tier.model}" if first else "asked it"
    return f"{asked} {times}{took}".rstrip() + f": {_CAME[tier.end][not first]}{sure}"


def _stopped(tier: TierRecord, *, first: bool) -> str:
    at = "" if tier.before is None else f" at {percent(tier.before)}"
    sums = [f"about {tier.tokens:,} tokens"] + ([money(tier.cost)] if tier.cost else [])
    asking = f"asking {tier.model}" if first else "asking it for more"
    if tier.end == "budget":
        reason = f"the budget doesn't reach for {asking} ({', '.join(sums)})"
    elif tier.gain < TOLD:
        reason = "" if first else "more would hardly help"
    else:
        gain = f"may gain {round(100 * tier.gain)} in 100"
        reason = f"{asking} ({', '.join(sums)}) {gain}, too little at {tier.worth} an answer"
    if not first:
        return f"stopped{at}: {reason}"
    if tier.before is None:
        return reason or "nothing was asked"
    return f"answered locally{at}: nothing was spent" + (f", as {reason}" if reason else "")


def _sure(probability: float | None) -> str:
    return "nothing" if probability is None else percent(probability)
