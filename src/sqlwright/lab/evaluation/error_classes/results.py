"""The difference between two queries, as far as their results alone prove it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from sqlwright.candidates import cell_key
from sqlwright.lab.evaluation.error_classes.classes import Finding
from sqlwright.presentation.cells import plain_text
from sqlwright.types import Cell, ExecutionResult

Row = tuple[object, ...]
SHOWN = 8
"""Rows, and columns, that are kept of a result."""
CELL = 80
"""Characters that are kept of a text."""
LOOSE = 2
"""Digits after the point to which numbers that were rounded differently are still equal."""


def from_results(
    gold: ExecutionResult, query: ExecutionResult, *, in_order: bool
) -> Finding | None:
    """The one thing that differs, where the rows prove that all else is the same.

    The same rows in another order, the same ones more or less often, the same with columns more or
    less, the same but for rounding or type. None where the rows themselves differ, or where there
    are none.
    """
    ours, theirs = _rows(gold), _rows(query)
    if not ours or not theirs:
        return None
    width, other = len(gold.rows[0]), len(query.rows[0])
    if width == other:
        if Counter(ours) == Counter(theirs):
            return Finding("order", "the same rows in another order")
        if set(ours) == set(theirs):
            return Finding(
                "duplicates",
                f"the same rows, {len(ours):,} in gold's result, {len(theirs):,} in the query's",
            )
        turned = _arranged(theirs, ours)
        if turned and in_order:
            return Finding("shape", "the columns are the same in another order")
        if turned:
            return Finding("order", "the same rows in another order")
        return _nearly(gold.rows, query.rows)
    wide, narrow = (ours, theirs) if width > other else (theirs, ours)
    if len(wide) > 1 and len(wide) == len(narrow) and _arranged(wide, narrow):
        names = (gold if width > other else query).columns
        more = f"{max(width, other)} columns ({', '.join(names[:6])}) against {min(width, other)}"
        who = "the query shows fewer" if width > other else "the query shows more"
        return Finding("shape", f"the same rows, but {who}: {more}")
    return None


def preview(result: ExecutionResult) -> dict[str, Any]:
    """The beginning of a result as JSON types, for whoever looks at it later."""
    if result.error is not None:
        return {"error": result.error.message}
    rows = [[_short(cell) for cell in row[:SHOWN]] for row in result.rows[:SHOWN]]
    return {"columns": list(result.columns[:SHOWN]), "rows": rows, "count": len(result.rows)}


def _short(cell: Cell) -> str | int | float | None:
    if isinstance(cell, bytes):
        return f"x'{cell[:16].hex()}'"
    if cell is None or isinstance(cell, int | float):
        return cell
    text = plain_text(cell)
    return f"{text[:CELL]}…" if len(text) > CELL else text


def _rows(result: ExecutionResult) -> list[Row]:
    return [tuple(cell_key(cell) for cell in row) for row in result.rows]


def _arranged(wide: Sequence[Row], narrow: Sequence[Row]) -> bool:
    """True if some of the columns of one, each used once, give the rows of the other."""
    have = [Counter(column) for column in zip(*wide, strict=True)]
    want = [Counter(column) for column in zip(*narrow, strict=True)]
    chosen: list[int] = []
    for column in want:
        place = next((i for i, h in enumerate(have) if h == column and i not in chosen), None)
        if place is None:
            return False
        chosen.append(place)
    return Counter(tuple(row[i] for i in chosen) for row in wide) == Counter(narrow)


def _nearly(gold: Sequence[Row], query: Sequence[Row]) -> Finding | None:
    """Rows that only rounding or the type of their cells tells apart."""
    if Counter(_loosely(gold)) == Counter(_loosely(query)):
        return Finding("calculation", "the same rows but for rounding or the type of values")
    return None


def _loosely(rows: Sequence[Sequence[object]]) -> list[Row]:
    return [tuple(_loose(cell) for cell in row) for row in rows]


def _loose(cell: object) -> object:
    if isinstance(cell, str):
        try:
            cell = float(cell)
        except ValueError:
            return cell
    if isinstance(cell, int | float | Decimal):
        return round(float(cell), LOOSE) + 0.0
    return cell
