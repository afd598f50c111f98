"""The cost of language models in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlwright.types import Usage


def usage_words(usage: Usage) -> str:
    """Calls, tokens and cost of language models, in words; empty when none was used."""
    if not (usage.calls or usage.cached):
        return ""
    calls = f"{usage.calls:,} model call{'' if usage.calls == 1 else 's'}"
    if usage.cached:
        calls += f" and {usage.cached:,} cached repl{'y' if usage.cached == 1 else 'ies'}"
    if not usage.calls:
        return calls
    tokens = f"{usage.prompt_tokens:,} tokens in, {usage.reply_tokens:,} out"
    if usage.reasoning_tokens:
        tokens += f" ({usage.reasoning_tokens:,} of them reasoning)"
    return f"{calls}, {tokens}, {money(usage.cost)}"


def money(cost: float | None) -> str:
    """US dollars, small sums to two digits that count."""
    if cost is None:
        return "cost unknown"
    return f"${cost:.2f}" if cost >= 1 or not cost else f"${cost:.{2 - min(0, _magnitude(cost))}f}"


def _magnitude(number: float) -> int:
    """The power of ten below it, plus one: 0 for 0.1 to 0.99, -1 for 0.01 to 0.099."""
    return math.floor(math.log10(number)) + 1
