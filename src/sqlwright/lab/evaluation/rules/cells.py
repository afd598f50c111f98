"""Cells under rules with a tolerance: an order over cells of all types, and numbers that are near
enough."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal

from sqlwright.types import Cell

Place = tuple[int, Cell]


def place(cell: Cell) -> Place:
    """A key to sort by: NULL, then numbers by value, texts, bytes, all else by kind and text."""
    if cell is None:
        return (0, 0)
    if isinstance(cell, int | float | Decimal):
        return (1, cell)
    if isinstance(cell, bytes):
        return (3, cell)
    return (2, cell) if isinstance(cell, str) else (4, f"{type(cell).__name__} {cell}")


def near(one: Cell, other: Cell, *, relative: float, absolute: float) -> bool:
    """Equal, or two numbers within the tolerances."""
    if isinstance(one, int | float | Decimal) and isinstance(other, int | float | Decimal):
        return math.isclose(one, other, rel_tol=relative, abs_tol=absolute)
    return one == other


def column_near(
    one: Sequence[Cell], other: Sequence[Cell], *, relative: float, absolute: float
) -> bool:
    """Equal cell by cell, within the tolerances."""
    return len(one) == len(other) and all(
        near(a, b, relative=relative, absolute=absolute) for a, b in zip(one, other, strict=True)
    )
