"""Types of columns by the cells they hold, and cells as DuckDB takes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, Literal

from sqlwright.database.files.cells.missing import MISSING

if TYPE_CHECKING:
    from sqlwright.database.files.excel.workbook import Found

    Kind = Literal["bool", "int", "float", "date", "datetime", "time", "span", "text"]

_MOST_WHOLE = 2**53
"""From here on not every whole number is a number of a spreadsheet's."""
_TYPES: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset({"bool"}), "BOOLEAN"),
    (frozenset({"int"}), "BIGINT"),
    (frozenset({"int", "float"}), "DOUBLE"),
    (frozenset({"date"}), "DATE"),
    (frozenset({"date", "datetime"}), "TIMESTAMP"),
    (frozenset({"time"}), "TIME"),
    (frozenset({"time", "span"}), "INTERVAL"),
)
"""The narrowest type that holds cells of these kinds comes first."""


@dataclass(frozen=True, slots=True)
class ColumnKind:
    """The type of a column, and how it was found."""

    type: str
    """DuckDB's name of it."""
    filled: int
    """Cells that hold a value."""
    missing: tuple[str, ...] = ()
    """Texts that stand for no value."""
    mixed: bool = False
    """True if it is text since nothing else holds all of it."""


def kind_of_column(cells: Iterable[Found | None]) -> ColumnKind:
    """The narrowest type that holds all cells; None are empty ones."""
    kinds: set[str] = set()
    texts: set[str] = set()
    filled = missing = 0
    for cell in cells:
        if cell is None:
            continue
        filled += 1
        kind = _kind(cell)
        if kind == "text":
            texts.add(str(cell).strip())
            missing += str(cell).strip().lower() in MISSING
        else:
            kinds.add(kind)
    others = {text for text in texts if text.lower() not in MISSING}
    found = _narrowest(kinds) if kinds else None
    if found is None or others:
        return ColumnKind("VARCHAR", filled, mixed=bool(kinds))
    return ColumnKind(found, filled - missing, tuple(sorted(texts)))


def written(cell: Found) -> str:
    """A cell as text."""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < _MOST_WHOLE:
        return str(int(cell))
    if isinstance(cell, datetime):
        return cell.isoformat(" ")
    return cell.isoformat() if isinstance(cell, (date, time)) else str(cell)


def for_type(kind: str, cells: Sequence[Found | None]) -> list[Found | None]:
    """Cells of one Python type each, that cast to a type of DuckDB's."""
    if kind == "VARCHAR" or any(isinstance(cell, str) for cell in cells):
        return [None if cell is None else written(cell) for cell in cells]
    if kind == "BIGINT":
        return [int(c) if isinstance(c, float) and c.is_integer() else c for c in cells]
    if kind == "INTERVAL":
        return [_span(cell) for cell in cells]
    if kind == "TIMESTAMP":
        return [_moment(cell) for cell in cells]
    if len({type(cell) for cell in cells if cell is not None}) > 1:
        return [None if cell is None else written(cell) for cell in cells]
    return list(cells)


def _kind(cell: Found) -> Kind:
    if isinstance(cell, bool):
        return "bool"
    if isinstance(cell, (int, float)):
        whole = float(cell).is_integer() and abs(cell) < _MOST_WHOLE
        return "int" if whole else "float"
    if isinstance(cell, datetime):
        return "datetime" if cell.time() != time() else "date"
    if isinstance(cell, date):
        return "date"
    if isinstance(cell, time):
        return "time"
    return "span" if isinstance(cell, timedelta) else "text"


def _narrowest(kinds: set[str]) -> str | None:
    return next((name for held, name in _TYPES if kinds <= held), None)


def _span(cell: Found | None) -> Found | None:
    if isinstance(cell, time):
        return timedelta(
            hours=cell.hour, minutes=cell.minute, seconds=cell.second, microseconds=cell.microsecond
        )
    return cell


def _moment(cell: Found | None) -> Found | None:
    if isinstance(cell, date) and not isinstance(cell, datetime):
        return datetime(cell.year, cell.month, cell.day)
    return cell
