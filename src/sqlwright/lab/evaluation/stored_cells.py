"""A stored result beside one of an engine. A file holds numbers and texts where the engine gives
decimals, dates, moments, UUIDs or arrays."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import cast

from sqlwright.presentation.cells import TYPED, decimal_text, plain_text, typed_to_json
from sqlwright.types import Cell, ExecutionResult

_DAY = 10
"""Characters of a date; a text that is longer may be a moment."""


def as_given(stored: ExecutionResult, found: ExecutionResult) -> ExecutionResult:
    """The stored result with the engine's own values where it says the same as these: a text
    "2024-01-31" becomes the date that stands in the same column, else in another one."""
    if not any(isinstance(cell, TYPED) for row in found.rows for cell in row):
        return stored
    columns: list[dict[Hashable, Cell]] = [{} for _ in found.columns]
    everywhere: dict[Hashable, Cell] = {}
    for row in found.rows:
        for own, cell in zip(columns, row, strict=True):
            for key in _keys(cell):
                own.setdefault(key, cell)
                if isinstance(cell, TYPED):
                    everywhere.setdefault(key, cell)

    def given(place: int, cell: Cell) -> Cell:
        key = next(_keys(cell))
        own = columns[place] if place < len(columns) else {}
        return own[key] if key in own else everywhere.get(key, cell)

    rows = (tuple(given(*one) for one in enumerate(row)) for row in stored.rows)
    return replace(stored, rows=tuple(rows))


def _keys(cell: Cell) -> Iterator[Hashable]:
    """Keys of the values that may stand for one in a file; the first is that of a file's own."""
    match cell:
        case tuple():
            members = cast("tuple[Cell, ...]", cell)
            yield tuple(next(_keys(one)) for one in members)
            yield tuple(next(_keys(_in_a_file(one))) for one in members)
        case float() if not math.isfinite(cell):
            yield str(cell)
        case int() | float():
            yield Decimal(repr(cell + 0))
        case Decimal():
            yield from (cell, decimal_text(cell), str(cell))
        case datetime():
            yield _moment(cell)
            if cell.time() == time():
                yield cell.date().isoformat()
        case date() | time():
            yield cell.isoformat()
        case timedelta():
            yield from (str(typed_to_json(cell, str)), plain_text(cell))
        case str() if len(cell) > _DAY and cell[:4].isdigit():
            yield _moment_read(cell)
        case _:
            yield str(cell) if isinstance(cell, TYPED) else cell


def _in_a_file(cell: Cell) -> Cell:
    """A member of an array as a file has it: a long decimal is a text there."""
    if isinstance(cell, tuple):
        return tuple(map(_in_a_file, cast("tuple[Cell, ...]", cell)))
    if not isinstance(cell, Decimal | timedelta):
        return cell
    kept: Cell = typed_to_json(cell, str)
    return kept


def _moment(moment: datetime) -> datetime:
    try:
        return moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)
    except OverflowError:  # within a day of the first or last moment that there is
        return moment.replace(tzinfo=None)


def _moment_read(text: str) -> Hashable:
    try:
        return _moment(datetime.fromisoformat(text))
    except ValueError:
        return text
