"""Estimates the time of preparing a database from its size.

It is estimated to decide whether a database is prepared without being asked, so it had better be
too high than too low: what takes longer all the same is stopped by a clock.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

from sqlwright.catalog.reading import TimedReader, Unreadable
from sqlwright.catalog.scan import estimated_rows
from sqlwright.catalog.statements.extent import bounded_count
from sqlwright.prepare.tables import VIEW_ROWS
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
