"""The cost of language models in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlwright.presentation.numbers import money

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
