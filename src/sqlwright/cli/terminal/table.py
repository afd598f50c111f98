"""A result as a table: numbers to the right, NULL dim, long cells shortened, nothing interpreted.

A table that is too wide for the terminal drops columns at the right and says which; with three
rows or fewer it stands on its side instead, one line per column.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from rich.cells import cell_len
from rich.text import Text

from sqlwright.cli.terminal.console import UNLIMITED, Glyphs
from sqlwright.cli.terminal.layout import shorten, wrapped
from sqlwright.cli.terminal.text import clean
from sqlwright.presentation.cells import decimal_text, plain_text
from sqlwright.types import Cell

SHOWN_ROWS = 20
"""Rows shown on a terminal where nothing else was asked for."""
GAP = 2
"""Blanks between two columns."""
LEAST_WIDTH = 6
"""Characters that a column is narrowed to at least."""
SIDEWAYS_ROWS = 3
"""Rows at most that are shown a line per column where a table is too wide."""


@dataclass(frozen=True, slots=True)
class _TableColumn:
    header: str
    cells: tuple[Text, ...]
    right: bool

    @property
    def natural(self) -> int:
        return max([cell_len(self.header), *(cell_len(cell.plain) for cell in self.cells), 1])


def table_lines(
    columns: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    *,
    width: int,
    glyphs: Glyphs,
) -> Iterator[Text]:
    """The lines of a table of all `rows` in at most `width` cells."""
    if not columns:
        return
    shaped = [_column(columns, rows, index) for index in range(len(columns))]
    widths = _fitted([column.natural for column in shaped], width)
    if widths is None and len(rows) <= SIDEWAYS_ROWS:
        yield from _sideways(shaped, len(rows), width, glyphs)
        return
    left_out: list[_TableColumn] = []
    while widths is None:
        left_out.insert(0, shaped.pop())
        widths = _fitted([column.natural for column in shaped], width)
    yield _row(
        [
            Text(shorten(c.header, w, glyphs), style="header")
            for c, w in zip(shaped, widths, strict=True)
        ],
        shaped,
        widths,
    )
    yield Text((" " * GAP).join(glyphs.rule * w for w in widths), style="rule")
    for index in range(len(rows)):
        cells = [_cell(c.cells[index], w, glyphs) for c, w in zip(shaped, widths, strict=True)]
        yield _row(cells, shaped, widths)
    if left_out:
        names = ", ".join(column.header for column in left_out)
        many = "column" if len(left_out) == 1 else "columns"
        yield from wrapped(
            Text(f"{len(left_out)} more {many}: {shorten(names, 160, glyphs)}", style="quiet"),
            width,
        )


def cell_text(value: Cell, decimals: int | None = None) -> Text:
    """One stored value as it is shown. `decimals` lines up the real numbers of a column."""
    match value:
        case None:
            return Text("NULL", style="null")
        case bool() | int():
            return Text(plain_text(value), style="number")
        case Decimal():
            return Text(_decimal(value, decimals), style="number")
        case float():
            return Text(_real(value, decimals), style="number")
        case bytes():
            head = value[:16].hex()
            dots = "..." if len(value) > 16 else ""
            return Text(f"x'{head}{dots}' ({len(value):,} bytes)", style="quiet")
        case "":
            return Text("''", style="null")
        case _:
            return Text(clean(plain_text(value)))


def shape(columns: int, rows: int, truncated: bool = False) -> str:
    """A result's size in words: '12 rows × 3 columns'."""
    count = f"{rows:,}{'+' if truncated else ''} row{'' if rows == 1 and not truncated else 's'}"
    return count if columns <= 1 else f"{count}, {columns} columns"


def _column(columns: Sequence[str], rows: Sequence[Sequence[Cell]], index: int) -> _TableColumn:
    values = [row[index] for row in rows]
    reals = [value for value in values if isinstance(value, float | Decimal)]
    decimals = max(map(_decimals, reals), default=None)
    present = [value for value in values if value is not None]
    return _TableColumn(
        clean(columns[index], 200),
        tuple(cell_text(value, decimals) for value in values),
        bool(present) and all(isinstance(value, int | float | Decimal) for value in present),
    )


def _fitted(natural: Sequence[int], width: int) -> list[int] | None:
    """Widths within `width` in all, the widest columns giving way first; None if hopeless."""
    if width >= UNLIMITED // 2:
        return list(natural)
    room = width - GAP * (len(natural) - 1)
    least = [min(n, LEAST_WIDTH if len(natural) > 1 else n and 1) for n in natural]
    if sum(least) > room:
        return None if len(natural) > 1 else [max(room, 1)]
    low, high = 1, max(natural)
    while low < high:  # the largest cap under which everything fits
        middle = (low + high + 1) // 2
        if sum(max(min(n, middle), floor) for n, floor in zip(natural, least, strict=True)) <= room:
            low = middle
        else:
            high = middle - 1
    return [max(min(n, low), floor) for n, floor in zip(natural, least, strict=True)]


def _cell(cell: Text, width: int, glyphs: Glyphs) -> Text:
    if cell_len(cell.plain) <= width:
        return cell
    return Text(shorten(cell.plain, width, glyphs), style=cell.style)


def _row(cells: Sequence[Text], columns: Sequence[_TableColumn], widths: Sequence[int]) -> Text:
    line = Text()
    for position, (cell, column, width) in enumerate(zip(cells, columns, widths, strict=True)):
        if position:
            line.append(" " * GAP)
        padding = " " * (width - cell_len(cell.plain))
        line.append(padding if column.right else "")
        line.append_text(cell)
        if not column.right and position < len(cells) - 1:
            line.append(padding)
    return line


def _sideways(
    columns: Sequence[_TableColumn], rows: int, width: int, glyphs: Glyphs
) -> Iterator[Text]:
    name_width = min(max(cell_len(column.header) for column in columns), width // 3)
    for index in range(rows):
        if index:
            yield Text()
        for column in columns:
            name = shorten(column.header, name_width, glyphs)
            line = Text.assemble((name + " " * (name_width - cell_len(name) + GAP), "label"))
            line.append_text(_cell(column.cells[index], width - name_width - GAP, glyphs))
            yield line


def _real(value: float, decimals: int | None) -> str:
    if not math.isfinite(value):
        return str(value)
    if abs(value) >= 1e15 or (value and abs(value) < 1e-4):
        return f"{value:.6g}"
    return f"{value:.{_decimals(value) if decimals is None else decimals}f}"


def _decimal(value: Decimal, decimals: int | None) -> str:
    """All digits of a decimal, with zeros that line it up with the others of its column."""
    places = _decimals(value)
    text = decimal_text(value)
    if decimals is None or decimals <= places or not value.is_finite() or "E" in text:
        return text
    return text + "." * (places == 0) + "0" * (decimals - places)


def _decimals(value: float | Decimal) -> int:
    """Digits after the point that a number needs: those of a decimal, of a real number six at most
    and one at least."""
    if isinstance(value, Decimal):
        exponent = value.as_tuple().exponent
        return max(0, -exponent) if isinstance(exponent, int) else 0
    digits = f"{value:.6f}".rstrip("0")
    return max(1, len(digits) - digits.index(".") - 1) if "." in digits else 1
