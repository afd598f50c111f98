"""Spending, and the estimated cost of a query, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlwright.boundary.text import byte_count, money, row_count

if TYPE_CHECKING:
    from sqlwright.types import Usage
    from sqlwright.types.plans import QueryCost


def usage_words(usage: Usage) -> str:
    """Calls, tokens and cost of language models, in words; empty when none was used."""
    if not (usage.calls or usage.cached):
        return ""
    calls = f"{usage.calls:,} model call{'' if usage.calls == 1 else 's'}"
    if usage.unanswered:
        answered = usage.calls - usage.unanswered
        calls += f", {answered:,} answered" if answered else ", none answered"
    if usage.cached:
        calls += f" and {usage.cached:,} cached repl{'y' if usage.cached == 1 else 'ies'}"
        if usage.kept_calls:
            took = usage.kept_prompt_tokens + usage.kept_reply_tokens
            calls += f" ({usage.kept_calls:,} calls and {took:,} tokens when made)"
    if not usage.calls:
        return calls
    tokens = f"{usage.prompt_tokens:,} tokens in, {usage.reply_tokens:,} out"
    if usage.reasoning_tokens:
        tokens += f" ({usage.reasoning_tokens:,} of them reasoning)"
    return f"{calls}, {tokens}, {money(usage.cost)}"


def cost_words(cost: QueryCost) -> str:
    """The rows and bytes that a query reads, in words; empty where the engine doesn't tell."""
    rows = "" if cost.scanned_rows is None else row_count(cost.scanned_rows)
    size = byte_count(cost.scanned_bytes) if cost.scanned_bytes else ""
    return f"{rows} ({size})" if rows and size else rows or size


def cost_to_dict(cost: QueryCost) -> dict[str, Any]:
    """An estimate as JSON types, without the plan."""
    return {
        "rows": cost.rows,
        "scanned_rows": cost.scanned_rows,
        "scanned_bytes": cost.scanned_bytes,
    }
