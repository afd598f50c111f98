"""Shares and sums of money in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

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


def row_count(number: float) -> str:
    """A number of rows, large ones roughly."""
    for unit, name in ((1e9, "billion"), (1e6, "million")):
        if number >= unit:
            return f"{number / unit:,.{0 if number >= 100 * unit else 1}f} {name} rows"
    return f"{number:,.0f} row{'' if round(number) == 1 else 's'}"


def byte_count(size: float) -> str:
    """A number of bytes in decimal units."""
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= unit:
            return f"{size / unit:,.{0 if size >= 100 * unit else 1}f} {name}"
    return f"{size:,.0f} bytes"


def cost_to_dict(cost: QueryCost) -> dict[str, Any]:
    """An estimate as JSON types, without the plan."""
    return {
        "rows": cost.rows,
        "scanned_rows": cost.scanned_rows,
        "scanned_bytes": cost.scanned_bytes,
    }


def duration(seconds: float) -> str:
    """Seconds as a person would say them."""
    if seconds < 0.0995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{seconds // 60:.0f} min {seconds % 60:.0f} s"


def percent(share: float) -> str:
    """A share in whole percents, rounded down: only certainty is 100%."""
    return f"{int(share * 100 + 1e-6)}%"


def money(cost: float | None) -> str:
    """US dollars, small sums to two digits that count."""
    if cost is None:
        return "cost unknown"
    return f"${cost:.2f}" if cost >= 1 or not cost else f"${cost:.{2 - min(0, _magnitude(cost))}f}"


def counted(number: int, noun: str) -> str:
    """A number of things in words: 1 row, 1,200 rows."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _magnitude(number: float) -> int:
    """The power of ten below it, plus one: 0 for 0.1 to 0.99, -1 for 0.01 to 0.099."""
    return math.floor(math.log10(number)) + 1
