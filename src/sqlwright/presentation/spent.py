"""The words for what an answer took of a language model, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlwright.presentation.numbers import money, percent

if TYPE_CHECKING:
    from sqlwright.types import Answer, TierRecord

TOLD = 0.005
"""Expected gain from which a tier that wasn't entered is told with its price; chosen."""
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
    came, now = _CAME[tier.end][not first], ""
    if tier.end in {"agrees", "differs"} and tier.after is not None:
        came = "it wrote a query" if tier.before is None else came
        if not first and tier.end == "agrees" and tier.after < (tier.before or 0.0):
            came = "its queries disagree, none is likelier"
        now = f", {percent(tier.after)} now"
    if not first:
        return f"so asked it{times}{took}: {came}{now}"
    before = "nothing found" if tier.before is None else f"{percent(tier.before)} sure"
    return f"{before} locally, so asked {tier.model}{times}{took}: {came}{now}"


def _unasked(tier: TierRecord, answer: Answer) -> str:
    """The first tier, where it wasn't entered."""
    reason = _reason(tier, tier.model)
    if answer.status != "answered" or tier.before is None:
        return f"nothing was spent: {reason}"
    return f"answered locally at {percent(tier.before)}, nothing was spent: {reason}"


def _reason(tier: TierRecord, model: str) -> str:
    """The reason why a tier wasn't entered."""
    price = ", ".join([f"about {tier.tokens:,} tokens"] + ([money(tier.cost)] if tier.cost else []))
    if tier.end == "budget":
        return f"the budget doesn't reach for asking {model} ({price})"
    if tier.gain < TOLD:
        return f"asking {model} would hardly help"
    return (
        f"asking {model} ({price}) may gain {max(1, round(100 * tier.gain))} in 100, too little "
        f"where a right answer is worth {tier.worth}"
    )
