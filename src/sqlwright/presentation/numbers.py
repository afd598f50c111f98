"""Shares and sums of money in words."""

from __future__ import annotations

import math


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
