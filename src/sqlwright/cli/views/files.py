"""Readings of files: in lines for people, and as lines to correct."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from sqlwright.errors import ConfigError

if TYPE_CHECKING:
    from sqlwright.database.guarded import Readings, TableReading

SHOWN = 40
"""Columns of a table that are listed at most."""


def reading_lines(readings: Readings, target: str) -> Iterator[str]:
    """The way in which each table was read, what was noticed, and how to put it right."""
    for one in readings.tables:
        yield table_line(one)
        yield from (f"  ! {note}" for note in one.notes)
        yield from (f"    {detail}" for detail in one.details)
    yield from readings.notes
    yield how_to_correct(readings, target)


def table_line(one: TableReading) -> str:
    """A table, its files with their settings, and its columns."""
    columns = ", ".join(f"{name} {kind}" for name, kind in one.columns[:SHOWN])
    more = f" and {len(one.columns) - SHOWN} more" if len(one.columns) > SHOWN else ""
    return f"{one.name}: {one.told} {columns}{more}"


def how_to_correct(readings: Readings, target: str) -> str:
    """The way to put a wrong guess right."""
    command = f"sqlwright doctor {shlex.quote(target)} --corrections"
    if readings.place.exists():
        return f"corrected by {readings.place}; what holds now: {command}"
    return f"a wrong guess is put right in {readings.place}; its lines: {command}"


def corrections_of(target: str | None) -> str:
    """All that was guessed of files, as a file of corrections. Raises ConfigError where nothing
    was."""
    from sqlwright.database import open_database

    if target is None:
        raise ConfigError("no files were named", hint="sqlwright doctor FOLDER --corrections")
    with open_database(target) as database:
        readings = database.readings()
    if readings is None:
        raise ConfigError(
            f"{target} says its columns and types itself; nothing is guessed",
            hint="Corrections are for CSV, JSON, Parquet and Excel files.",
        )
    return readings.corrections
