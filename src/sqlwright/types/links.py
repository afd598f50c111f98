"""Columns and tables by their nearness to a question, its entities, and tables in a sentence."""

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
class Entity:
    """A thing that the question speaks of, in its words, and the columns that may hold it."""

    text: str
    columns: tuple[ColumnRef, ...]


@dataclass(frozen=True, slots=True)
class DescriptionMatch:
    """Documentation of a column that resembles the question."""

    column: ColumnRef
    part: Literal["label", "description", "value_description"]
    text: str
    score: float
    """Cosine similarity, in [-1, 1]."""


@dataclass(frozen=True, slots=True)
class TableSummary:
    """A table in a sentence that a model wrote."""

    table: str
    text: str
    from_values: bool = True
    """True if the model may have seen stored values."""
