"""A stored value that a question names."""

from __future__ import annotations

from dataclasses import dataclass

from sqlwright.schema import ColumnRef

WITHIN = 0.955
"""Similarity given to a value of which a phrase is the end or an inner part; chosen."""


@dataclass(frozen=True, slots=True)
class ValueMatch:
    """A stored value that resembles a phrase of the question."""

    phrase: str
    column: ColumnRef
    value: str
    """The exact stored spelling, usable as a literal."""
    score: float
    """Similarity in [0, 1]; 1 is equality after folding case and accents."""
    row_count: int | None = None
    """Rows that hold the value; None when not counted."""
    span: tuple[int, int] | None = None
    """Character range of the phrase in the question; None when it wasn't taken from there."""
