"""Stored values that show what a column holds."""

from __future__ import annotations

from dataclasses import dataclass

from sqlwright.schema import ColumnRef
from sqlwright.types.results import Cell


@dataclass(frozen=True, slots=True)
class ColumnExamples:
    """Stored values that prompts show as examples of a column."""

    column: ColumnRef
    values: tuple[Cell, ...]
    """The most telling first."""
    characters: int = 50
    """Characters shown of one; a mark tells where it is longer."""
