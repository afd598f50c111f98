"""Preparing a database without being asked, where that takes next to no time.

The time is estimated from the size, rather too high than too low: what takes longer all the same
is stopped by a clock. It is done while a database is opened, so nothing about it may fail an
opening: where the folder can't be written, or the time is up, opening goes on without it. What was
done by then is kept, and an explicit `prepare` goes on from there.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sqlwright.catalog.reading import OutOfTime, TimedReader, Unreadable
from sqlwright.catalog.scan import estimated_rows
from sqlwright.catalog.statements.sampling import bounded_count
from sqlwright.database import open_database
from sqlwright.database.address import shown_address
from sqlwright.errors import Cancelled, DatabaseUnavailable, WorkspaceError
from sqlwright.events import PreparationEnded, PreparationStarted, no_events
from sqlwright.prepare.build import prepare
from sqlwright.prepare.storage.manifest import read_catalog, read_manifest
from sqlwright.prepare.storage.paths import LATE, MANIFEST, is_trustworthy, write_private
from sqlwright.prepare.tables import VIEW_ROWS
from sqlwright.protocols import Run
from sqlwright.schema import ColumnRef, Schema, Table
from sqlwright.sql.dialects import Dialect, dialect_of

# Fitted to the processor time of `prepare` on 48 databases of 0.02 to 44 MB, 1 to 60 tables and 3
# to 1,040 columns: samples, Spider's, and made ones of numbers, names or long texts; on one core of
# a virtual AMD EPYC. An expectile of 0.99, rounded up, so that 19 of 20 took less; the number of
# tables told nothing more. `python benchmarks/prepare.py --cost FILES` fits them anew.
FIXED = 0.25
PER_COLUMN = 3e-4
"""Seconds for each column, fitted as said above; likewise those below."""
PER_NEW_COLUMN = 1.1e-3
"""Seconds on top for each column whose name is embedded for the first time."""
PER_CELL = 1.2e-6
"""Seconds for each cell."""
PER_BYTE = 1e-8
"""Seconds for each byte of the file."""
CELL_BYTES = 3
"""Bytes of the file that a cell takes on average, at least: where row numbers have gaps there are
fewer rows than they say."""
COUNTED = 100_000
"""Rows that are counted where there are no row numbers."""


@dataclass(frozen=True, slots=True)
class Work:
    """Size of a preparation: columns, cells, bytes."""

    size: int
    """Bytes of the file."""
    columns: int
    new: int
    """Columns whose names and descriptions were not embedded before."""
    cells: float
    """Rows times columns, about."""

    @property
    def seconds(self) -> float:
        """Estimated seconds; rather too many."""
        return (
            FIXED
            + PER_COLUMN * self.columns
            + PER_NEW_COLUMN * self.new
            + PER_CELL * self.cells
            + PER_BYTE * self.size
        )


def _rows(reading: TimedReader, table: Table, dialect: Dialect) -> int | None:
    """About how many rows a table has; None for a large one without row numbers."""
    try:
        rows = estimated_rows(reading, table, dialect)
        if rows is not None:
            return rows
        (counted,) = reading.single_row(bounded_count(table, dialect, COUNTED))
    except Unreadable:
        return 0  # nor can it be read later
    return counted if isinstance(counted, int) and counted < COUNTED else None


def work_on(
    reading: TimedReader, schema: Schema, size: int | None, known: Collection[ColumnRef] = ()
) -> Work:
    """The size of the preparation of a database of `size` bytes some columns of which are `known`.

    A view is taken to be as long as the longest table, and a table whose rows can't be told to
    fill the file, or to have no end where nobody knows the `size` either. Raises `OutOfTime`,
    `Cancelled` and `DatabaseUnavailable`.
    """
    most = math.inf if size is None else size / CELL_BYTES
    longest, stored, shown = 0.0, 0.0, 0
    for table in schema.tables:
        if table.kind == "view":
            shown += len(table.columns)
            continue
        rows = _rows(reading, table, dialect_of(schema))
        cells = most if rows is None else min(float(rows * len(table.columns)), most)
        longest = max(longest, cells / max(len(table.columns), 1))
        stored += cells
    new = sum(ref not in known for ref in schema.columns)
    cells = min(stored, most) + shown * min(longest, VIEW_ROWS)
    return Work(size or 0, schema.column_count, new, cells)


MOST_SECONDS = 2.0
"""Seconds. A preparation estimated to take longer waits for `sqlwright prepare`."""
DEADLINE = 4.0
"""Seconds. A preparation that takes longer is stopped, however short the estimate was."""
SHARE = 0.5
"""Part of a question's time that may go into it at most."""
ESTIMATING = 1.0
"""Seconds that the estimate itself may take at most."""
LATE_SECONDS = 3_600.0
"""Time after which what was stopped is tried again."""
LONGER = "This database isn't prepared: that takes longer than a question should wait."


def prepare_unasked(url: str, folder: Path, descriptions: Path | None, run: Run) -> str | None:
    """Prepare a database if it is small enough; None once it is prepared, else why it isn't, in
    words. They are empty where something else says so, or nothing can be done about it.

    The run's events are `PreparationStarted` before and `PreparationEnded` after. Raises
    `Cancelled` when the run ends.
    """
    seconds = min(DEADLINE, run.remaining() * SHARE)
    if _was_late(folder):
        return LONGER
    if folder.exists() and not is_trustworthy(folder):
        return ""
    try:
        if _estimate(url, folder, run) > min(MOST_SECONDS, seconds):
            return ""
        first = not (folder / MANIFEST).exists()
        run.events(PreparationStarted(shown_address(url)))
        made = prepare(
            url,
            folder=folder,
            descriptions=descriptions,
            settle=False,  # what is told late is noticed by the next question
            run=run.fork(no_events, seconds=seconds),
        )
    except Cancelled:
        run.check()
        if seconds >= DEADLINE:
            with suppress(WorkspaceError):
                write_private(folder / LATE, b"")
        return LONGER
    except OutOfTime:
        return LONGER
    except (WorkspaceError, DatabaseUnavailable):
        return ""  # nothing can be kept there; or opening it says so
    logging.getLogger("sqlwright").info(
        "prepared %s in %.1f s, kept in %s", shown_address(url), made.seconds, made.folder
    )
    run.events(
        PreparationEnded(
            shown_address(url), made.folder, made.seconds, made.values, first and bool(made.read)
        )
    )
    return None


def _was_late(folder: Path) -> bool:
    """True if it was stopped not long ago: it would be again."""
    try:
        return abs(time.time() - (folder / LATE).stat().st_mtime) < LATE_SECONDS
    except OSError:
        return False


def _estimate(url: str, folder: Path, run: Run) -> float:
    """About how many seconds it takes."""
    with open_database(url, run=run) as whole:
        size = whole.size()
        if size is not None and size * PER_BYTE > MOST_SECONDS:
            return size * PER_BYTE
        with whole.reader() as reader, TimedReader(reader, run, ESTIMATING) as reading:
            return work_on(reading, whole.schema(), size, _known(folder)).seconds


def _known(folder: Path) -> Collection[ColumnRef]:
    """The columns that were prepared before."""
    try:
        manifest = read_manifest(folder)
        return () if manifest is None else set(read_catalog(folder, manifest).schema.columns)
    except WorkspaceError:
        return ()
