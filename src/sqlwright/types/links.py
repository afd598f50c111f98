"""Columns and tables by their nearness to a question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sqlwright.schema import ColumnRef


@dataclass(frozen=True, slots=True)
class ColumnLink:
    """Probability that the question needs a column, in [0, 1]."""

    column: ColumnRef
    score: float


@dataclass(frozen=True, slots=True)
class TableLink:
    """Probability that the question needs a table, in [0, 1]."""

    table: str
    score: float


@dataclass(frozen=True, slots=True)
class DescriptionMatch:
    """Documentation of a column that resembles the question."""

    column: ColumnRef
    part: Literal["label", "description", "value_description"]
    text: str
    score: float
    """Cosine similarity, in [-1, 1]."""
