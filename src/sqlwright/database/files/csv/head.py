"""The line of a CSV file that is its header, where titles above it have as many separators."""

from __future__ import annotations

import csv
from collections.abc import Sequence

LOOKED_AT = 60
"""Lines at the beginning in which the header has to be."""


def header_line(lines: Sequence[str | None], delimiter: str, quote: str) -> int | None:
    """The number of lines before the first that is about as wide as the widest, and says words
    alone; None where there is no such line."""
    if len(delimiter) != 1 or len(quote) != 1:
        return None
    rows = [_cells(line, delimiter, quote) for line in lines]
    counts = [sum(map(bool, row)) for row in rows]
    widest = max(counts, default=0)
    at = next((n for n, count in enumerate(counts) if 2 * count > widest), None)
    if at is None or widest < 2 or any(map(_is_number, rows[at])):
        return None
    return at


def _cells(line: str | None, delimiter: str, quote: str) -> list[str]:
    try:
        rows = list(csv.reader([line or ""], delimiter=delimiter, quotechar=quote))
    except csv.Error:
        return []
    return [cell.strip() for cell in rows[0]] if rows else []


def _is_number(cell: str) -> bool:
    return bool(cell) and not any(letter.isalpha() for letter in cell)
