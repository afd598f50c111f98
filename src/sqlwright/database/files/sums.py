"""Numbers that are the sum of others: the row of totals that people put below a table."""

from __future__ import annotations

FEWEST = 3
"""Rows above it at least: of fewer a sum may be chance."""
_HALF_CENT = 0.006
"""Numbers are the same up to this: totals are written with two digits."""


def is_sum(number: float, total: float, count: int) -> bool:
    """True if a number is the sum of others, or their mean, as it would be written."""
    return _near(number, total) or abs(number - total / count) <= _HALF_CENT


def _near(number: float, total: float) -> bool:
    return abs(number - total) <= max(1e-9 * abs(total), _HALF_CENT)
