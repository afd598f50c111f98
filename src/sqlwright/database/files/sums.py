"""Rows of totals and subtotals among the rows of a table: they would make every sum too large."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

LABEL = (
    r"(?i)^\W*(grand |overall |sub[- ]?|sous[- ])?(totals?|totaux|totales?|totaal|sum|summe|suma|"
    r"summa|somme|gesamt(summe)?|zwischensumme|insgesamt|razem|celkem|toplam|yhteensä|итого|всего|"
    r"合計|小計|총계)(\W.{0,60})?$|^.{1,60}\W(sub)?(total|summe|gesamt|totaal|totale)\W*$"
)
"""The cells that name such a row, as a regular expression of Python's and of DuckDB's."""
FEWEST = 3
"""Rows at least whose sums a row has that nothing calls so: of fewer it may be chance."""
_HALF_CENT = 0.006
"""Numbers are the same up to this: totals are written with two digits."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row that may have totals."""

    nth: int
    """Its place among all rows, from 1."""
    label: str
    """The cell that calls it so; may be empty."""
    lacks: bool
    """True if it lacks what most rows have."""
    last: bool
    numbers: tuple[float | None, ...]
    before: tuple[float, ...]
    """The sums of all rows before it."""


def totals(rows: Iterable[Row], whole: Sequence[float]) -> tuple[list[Row], list[Row]]:
    """The rows whose numbers are the sums of the rows above, or since another row of totals, or of
    all below the first; and those that are called so and aren't. `whole` has the sums of all."""
    found: list[Row] = []
    unsure: list[Row] = []
    base = [0.0] * len(whole)
    """Sums of the rows of totals so far."""
    starts: list[tuple[int, tuple[float, ...]]] = [(0, tuple(base))]
    """The places from which sums begin: rows of data before, and their sums."""
    for row in rows:
        data = row.nth - 1 - len(found)
        above = tuple(b - own for b, own in zip(row.before, base, strict=True))
        targets = [
            ([a - s for a, s in zip(above, start, strict=True)], data - count)
            for count, start in starts if data > count
        ]  # fmt: skip
        if not data and row.label:
            rest = [total - (n or 0.0) for total, n in zip(whole, row.numbers, strict=True)]
            targets = [(rest, 2)]
        if any(_is_total(row, sums, count) for sums, count in targets):
            found.append(row)
            base = [own + (n or 0.0) for own, n in zip(base, row.numbers, strict=True)]
            starts.append((data, above))
        elif row.label and (row.lacks or row.last) and any(row.numbers):
            unsure.append(row)
    return found, unsure


def _is_total(row: Row, sums: Sequence[float], count: int) -> bool:
    """True if a row has these sums of so many rows."""
    same = other = 0
    for number, total in zip(row.numbers, sums, strict=True):
        if number is None:
            continue
        if _near(number, total) or abs(number - total / count) <= _HALF_CENT:
            same += number != 0
        else:
            other += 1
    if row.label:
        return same > other or (same > 0 and row.lacks)
    return not other and count >= FEWEST and same > (0 if row.lacks else 1)


def _near(number: float, total: float) -> bool:
    return abs(number - total) <= max(1e-9 * abs(total), _HALF_CENT)


def left_out_totals(count: int) -> str:
    """The note on rows of totals."""
    if count == 1:
        return "1 row is left out: it has the sums of others."
    return f"{count:,} rows are left out: they have the sums of others."


def unsure_total(label: str) -> str:
    """The note on a row that is called so, and is kept."""
    return f"The row {label!r} isn't the sum of rows above and is counted: correct by total_row."
