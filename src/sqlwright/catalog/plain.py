"""Cells of all engines as SQLite would hold them, as profiles and the value index have them.

A date is its ISO text, so that whatever reads a profile knows one way in which good dates are
written, whether the column holds dates or texts. Truth stays what it is: True and False are 1 and
0 to whatever counts, and are shown by their names.
"""

from __future__ import annotations

import datetime
import decimal
import json
import uuid
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlwright.types import Cell

STORAGE: dict[type, str] = {
    int: "integer", bool: "integer", float: "real", decimal.Decimal: "real", str: "text",
    bytes: "blob", datetime.date: "text", datetime.datetime: "text", datetime.time: "text",
    datetime.timedelta: "text", uuid.UUID: "text", tuple: "text",
}  # fmt: skip
"""The storage class that cells of a type are counted in."""
NUMBERS = (int, float, decimal.Decimal)
"""Types of numbers, bool included."""
ORDERED: frozenset[type] = frozenset(
    {datetime.date, datetime.datetime, datetime.time, datetime.timedelta}
)
"""Types besides numbers and texts that have a least and a greatest value worth knowing."""
_LARGEST = 2**63
"""Whole numbers up to this fit everywhere that numbers are kept."""


def plain_cell(cell: Cell) -> Cell:
    """A cell as None, bool, int, float, text or bytes."""
    if type(cell) in (str, int, float, bool, bytes, type(None)):
        return cell
    if isinstance(cell, decimal.Decimal):
        return plain_number(cell)
    return written_cell(cell)


def plain_number(number: decimal.Decimal) -> int | float:
    """A decimal number, whole where it is written without a fraction."""
    if is_whole(number):
        return int(number)
    return float(number)


def is_whole(number: decimal.Decimal) -> bool:
    """True if a number is written without a fraction, and not too large to be kept."""
    return number.is_finite() and int(number.as_tuple().exponent) >= 0 and abs(number) < _LARGEST


def written_cell(cell: Cell) -> str:
    """A cell that is neither number nor blob as text: dates and times as ISO 8601 with a blank
    between, arrays as JSON."""
    if isinstance(cell, datetime.datetime):
        return cell.isoformat(" ")
    if isinstance(cell, datetime.date | datetime.time):
        return cell.isoformat()
    if isinstance(cell, tuple):
        return json.dumps(cell, default=_written_part, ensure_ascii=False)
    return str(cell)


def indexable_text(cell: Cell) -> str | None:
    """The text by which a value is looked up in the index; None for what nobody types in a
    question, or a rule reads better."""
    if isinstance(cell, str):
        return cell
    # A moment is a date with a time, which is never asked for whole.
    return cell.isoformat() if type(cell) is datetime.date else None


def _written_part(cell: Any) -> Any:
    if isinstance(cell, bytes):
        return cell.hex()
    return plain_cell(cell)
