"""The place of the table in the cells of a sheet: its header, its rows, its columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, TypeGuard

from sqlwright.database.files.excel.kinds import written
from sqlwright.database.files.sums import LABEL, Row, totals

if TYPE_CHECKING:
    from sqlwright.database.files.excel.workbook import Found, Range

Cells = Sequence["Found | None"]
"""A row without what is empty: None stands there."""

_LOOKED_AT = 100
"""Rows at the beginning in which the header has to be."""
_YEARS = range(1900, 2101)
"""Whole numbers that may be names of columns."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The place of a table. Rows and columns are counted from 0, columns from the first in use."""

    header: int | None
    first: int
    """The first row of data."""
    end: int
    """The row after the last one of data."""
    columns: tuple[int, ...]
    names: tuple[str, ...]
    blank: tuple[bool, ...]
    """The columns whose names are made up."""
    again: tuple[str, ...]
    """Names with a number, since they come more than once."""
    above: int
    """Rows with something in them before the header."""
    below: int
    """The same after the last one of data."""


def without_blanks(row: Sequence[Found]) -> list[Found | None]:
    """The same with None for empty cells and those of blanks alone."""
    return [None if isinstance(cell, str) and not cell.strip() else cell for cell in row]


def filled_down(rows: list[list[Found | None]], merged: Sequence[Range], column: int) -> set[int]:
    """Give each cell of cells merged over several rows their value; the rows it went to."""
    given = set()
    for (top, left), (bottom, _) in merged:
        at = left - column
        if bottom == top or top >= len(rows) or not 0 <= at < len(rows[top]):
            continue
        for number in range(top + 1, min(bottom + 1, len(rows))):
            if rows[top][at] is not None and rows[number][at] is None:
                rows[number][at] = rows[top][at]
                given.add(number)
    return given


def found_layout(
    rows: Sequence[Cells], merged: Sequence[Range], column: int,
    *, header: bool | None = None, skip: int | None = None,
) -> Layout | None:  # fmt: skip
    """The table in these rows, if there is one; `header` and `skip` (rows before it) where the
    user has said them."""
    filled = [at for at, row in enumerate(rows) if any(cell is not None for cell in row)]
    if skip is not None:
        filled = [at for at in filled if at >= skip]
    if not filled:
        return None
    begins = filled[0] if skip is not None else _begins(rows, filled)
    within = [_moved(one, column) for one in merged]
    named = _is_header(rows, begins) if header is None else header
    if named and header is None and skip is None:
        begins = _below_groups(rows, begins, within)
    first = begins + 1 if named else begins
    data = [at for at in filled if at >= first]
    kept = _without_remarks(rows, data)
    width = len(rows[begins])
    titles = [_title(rows, begins, at, within) if named else "" for at in range(width)]
    used = [at for at in range(width) if titles[at] or any(rows[n][at] is not None for n in kept)]
    names = tuple(titles[at] for at in used)
    above = sum(at < begins for at in filled) - _grouping(rows, begins, within)
    distinct, again = _distinct(names)
    return Layout(
        begins if named else None, first, kept[-1] + 1 if kept else first, tuple(used),
        distinct, tuple(not name for name in names), again, above, len(data) - len(kept),
    )  # fmt: skip


def total_rows(
    rows: Sequence[Cells], columns: Sequence[int]
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The places of rows that have the sums of others, and the names of those that are called so
    and haven't."""
    numeric = [at for at in columns if any(_is_plain(row[at]) for row in rows)]
    full = [at for at in columns if 2 * sum(row[at] is not None for row in rows) > len(rows)]
    looked: list[Row] = []
    sums = [0.0] * len(numeric)
    for nth, row in enumerate(rows, 1):
        numbers = tuple(
            float(cell) if _is_plain(cell) else None for cell in (row[at] for at in numeric)
        )
        label = next((cell for cell in row if isinstance(cell, str) and re.search(LABEL, cell)), "")
        lacks, last = any(row[at] is None for at in full), nth == len(rows)
        if label or lacks or last:
            looked.append(Row(nth, label, lacks, last, numbers, tuple(sums)))
        sums = [own + (number or 0.0) for own, number in zip(sums, numbers, strict=True)]
    taken, unsure = totals(looked, sums)
    return tuple(one.nth - 1 for one in taken), tuple(one.label for one in unsure)


def _is_plain(cell: Found | None) -> TypeGuard[int | float]:
    return isinstance(cell, (int, float)) and not isinstance(cell, bool)


def _begins(rows: Sequence[Cells], filled: Sequence[int]) -> int:
    """The first row that is about as wide as the widest: titles and remarks above are narrower."""
    looked = filled[:_LOOKED_AT]
    widest = max(_count(rows[at]) for at in looked)
    return next(at for at in looked if 2 * _count(rows[at]) > widest)


def _count(row: Cells) -> int:
    return sum(cell is not None for cell in row)


def _is_header(rows: Sequence[Cells], at: int) -> bool:
    """True if a row holds texts, or years and days that those below aren't like."""
    row = rows[at]
    below = next((one for one in rows[at + 1 :] if _count(one)), None)
    if not any(isinstance(cell, str) for cell in row):
        return False
    for column, cell in enumerate(row):
        if cell is None or isinstance(cell, str):
            continue
        if not _may_name(cell) or (below is not None and _may_name(below[column])):
            return False
    return True


def _may_name(cell: Found | None) -> bool:
    if isinstance(cell, bool) or cell is None:
        return False
    return isinstance(cell, date) or (isinstance(cell, (int, float)) and cell in _YEARS)


def _below_groups(rows: Sequence[Cells], at: int, merged: Sequence[Range]) -> int:
    """The row of names proper, where the one above puts some of them together."""
    following = at + 1
    if following >= len(rows) or not _grouping(rows, following, merged):
        return at
    texts = [cell for cell in rows[following] if cell is not None]
    return following if texts and all(isinstance(cell, str) for cell in texts) else at


def _grouping(rows: Sequence[Cells], header: int, merged: Sequence[Range]) -> bool:
    """True if the row before a header names groups of its columns."""
    width = len(rows[header])
    return any(
        bottom == top == header - 1 and 0 < right - left < width - 1
        for (top, left), (bottom, right) in merged
    )


def _title(rows: Sequence[Cells], header: int, column: int, merged: Sequence[Range]) -> str:
    """The name of a column, after that of its group if it has one."""
    name = _words(rows[header][column])
    for (top, left), (bottom, right) in merged:
        if not left <= column <= right:
            continue
        if not name and top < header <= bottom:
            name = _words(rows[top][left])
        if bottom == top == header - 1 and 0 < right - left < len(rows[header]) - 1 and name:
            name = f"{_words(rows[top][left])} {name}".strip()
    return name


def _words(cell: Found | None) -> str:
    return "" if cell is None else " ".join(written(cell).split())


def _distinct(names: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names, those that are missing or come again made as for CSV files, and the latter."""
    taken: set[str] = set()
    made, again = [], []
    for at, name in enumerate(names):
        tried, number = name or f"column{at}", 0
        while tried.lower() in taken:
            number += 1
            tried = f"{name or f'column{at}'}_{number}"
        taken.add(tried.lower())
        made.append(tried)
        if number:
            again.append(tried)
    return tuple(made), tuple(again)


def _without_remarks(rows: Sequence[Cells], data: Sequence[int]) -> Sequence[int]:
    """The rows but for remarks below them: single cells after an empty row."""
    kept = list(data)
    widest = max((_count(rows[at]) for at in data), default=0)
    while widest > 1:
        gap = max((n for n in range(1, len(kept)) if kept[n] > kept[n - 1] + 1), default=0)
        if not gap or any(_count(rows[at]) > 1 for at in kept[gap:]):
            return kept
        kept = kept[:gap]
    return kept


def _moved(one: Range, column: int) -> Range:
    (top, left), (bottom, right) = one
    return (top, left - column), (bottom, right - column)
