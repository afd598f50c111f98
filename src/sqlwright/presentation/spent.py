"""The words for what an answer took of a language model, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlwright.presentation.numbers import money, percent

if TYPE_CHECKING:
    from sqlwright.types import Answer, TierRecord

_CAME = {
    "agrees": ("it agrees", "more of its queries bear it out"),
    "differs": ("it doesn't agree", "more of its queries speak for another result"),
    "nothing": ("it wrote no query that runs", "no other query of it runs"),
    "cut_short": ("cut short before it wrote a query", "cut short before it wrote another query"),
}
"""By the end of a tier: what came of the first one, and of a later one."""


def spent_words(answer: Answer) -> str:
    """The words for what was asked of a language model and why, or why nothing was; empty for
    recipes that don't weigh it."""
    if not answer.tiers:
        return ""
    first, *later = answer.tiers
    told = [_asked(first, first=True) if first.entered else _unasked(first, answer)]
    told += [_asked(tier) if tier.entered else f"stopped: {_reason(tier, 'it')}" for tier in later]
    return "; ".join(told)


def _asked(tier: TierRecord, *, first: bool = False) -> str:
    """A tier that was entered."""
    used = tier.usage
    times = {0: "", 1: " once"}.get(used.calls, f" {used.calls:,} times")
    parts = []
    if used.calls:
        parts.append(f"{used.prompt_tokens + used.reply_tokens:,} tokens")
        parts += [] if used.cost is None else [money(used.cost)]
    if used.cached:
        parts.append(f"{used.cached:,} from the cache")
    took = f" ({', '.join(parts)})" if parts else ""
    came = _CAME[tier.end][not first]
    if not first:
        return f"so asked it{times}{took}: {came}"
    if tier.end == "differs" and tier.before is None:
        came = "it wrote a query"
    before = "nothing found" if tier.before is None else f"{percent(tier.before)} sure"
    return f"{before} locally, so asked {tier.model}{times}{took}: {came}"


def _unasked(tier: TierRecord, answer: Answer) -> str:
    """The first tier, where it wasn't entered."""
    reason = _reason(tier, tier.model)
    if answer.status != "answered" or tier.before is None:
        return f"nothing was spent: {reason}"
    return f"answered locally at {percent(tier.before)}, nothing was spent: {reason}"


def _reason(tier: TierRecord, model: str) -> str:
    """The reason why a tier wasn't entered."""
    if tier.end == "budget":
        return f"the budget doesn't reach for asking {model}"
    return "that is sure enough"
