"""The protocol of a rule.

None of them is the rule by which sqlwright itself compares results (`candidates.py`), which asks
less of numbers (a relative tolerance) and lets order count only where both queries order their
rows. Published rules stay as they are published, so that figures compare with those of others;
nothing but evaluation and training uses them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlwright.types import Cell, ExecutionResult

Row = tuple[Cell, ...]

Agrees = Callable[[ExecutionResult, ExecutionResult, str], bool]
"""True if the first result, whole and without an error, is the second, given the gold query."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule by which a result is the gold result."""

    name: str
    about: str
    """Its source and the peculiar in a few words, as reports show it."""
    agrees: Agrees
    ordered: bool = False
    """True if the order of rows counts where the gold query orders."""
    columns_in_order: bool = False
    repeats_count: bool = True
    """True if how often a row comes counts."""
