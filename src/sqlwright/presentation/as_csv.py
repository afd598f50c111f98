"""The rows of an answer as CSV: exact, or so that a spreadsheet takes nothing in it for a formula.

The form is RFC 4180's with a line feed after each record, as programs in a pipe expect. Every text
is as it is stored; line ends, commas, quotes and blanks at an end stand in quotes. NULL is an empty
field and empty text is `""`, as PostgreSQL writes and reads them. Real numbers have as many digits
as tell them apart, decimals all of theirs; bytes are `base64:` and base64, an array is in brackets.

Exact text may hold what a terminal would act on: whoever prints it to one sees to that.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING

from sqlwright.boundary.text import readable, visible
from sqlwright.presentation.answer import plain
from sqlwright.presentation.cells import plain_text

if TYPE_CHECKING:
    from sqlwright.types import Answer, Cell

_FORMULA = re.compile(r"^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]|^sep=", re.IGNORECASE)
_QUOTED = re.compile(r"[\",\r\n]|^\s|\s$|^$")


def answer_to_csv(answer: Answer, *, safe: bool = False, rows: int | None = None) -> str:
    """A header line and a line for each row, at most `rows` of them.

    With `safe`, text a spreadsheet would take for a formula has an apostrophe before it, and
    controls are symbols; numbers are left alone.
    """
    written = _guarded if safe else readable
    records = [answer.columns, *answer.rows[:rows]]
    return "".join(",".join(_field(cell, written) for cell in one) + "\n" for one in records)


def _field(cell: Cell, written: Callable[[str], str]) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bytes):
        return "base64:" + base64.b64encode(cell).decode("ascii")
    if isinstance(cell, float):
        return str(plain(cell))
    if isinstance(cell, int | Decimal):
        return plain_text(cell)
    text = written(plain_text(cell))
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


def _guarded(text: str) -> str:
    return visible(f"'{text}" if _FORMULA.search(text) else text, lines=True)
