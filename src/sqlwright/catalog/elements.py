"""Columns of arrays by their elements: a question names one of them, not a whole array."""

from __future__ import annotations

from dataclasses import replace

from sqlwright.catalog.reading import OutOfTime, TimedReader, Unreadable
from sqlwright.catalog.scan import ColumnScan, TableScan, scan_of_counts
from sqlwright.catalog.statements.columns import family_of
from sqlwright.catalog.statements.sampling import Source
from sqlwright.schema import Column, Table
from sqlwright.sql.dialects import Dialect

MOST_ELEMENTS = 50_000
"""Different elements of a column that are counted at most."""
ELEMENT_SECONDS = 5.0
"""Seconds that counting those of one column may take."""
_DIALECTS = frozenset({"postgres", "duckdb"})


def with_elements(
    reading: TimedReader, table: Table, dialect: Dialect, scan: TableScan, rows: int | None
) -> TableScan:
    """A scan in which columns of arrays of texts hold their elements, of `rows` rows at most, as
    far as the engine counts them in time. Raises `Cancelled`."""
    if dialect.name not in _DIALECTS:
        return scan
    columns = [_with_elements(reading, table, dialect, one, rows) for one in scan.columns]
    return replace(scan, columns=columns)


def _with_elements(
    reading: TimedReader, table: Table, dialect: Dialect, scan: ColumnScan, rows: int | None
) -> ColumnScan:
    column = table.column(scan.ref.column)
    if column is None or not is_array_of_texts(column):
        return scan
    try:
        with reading.within(ELEMENT_SECONDS):
            counted = reading.all(counted_elements(table, dialect, column, rows))
    except (OutOfTime, Unreadable):
        return scan
    if not counted or len(counted) > MOST_ELEMENTS:
        return scan
    found = scan_of_counts(scan.ref, counted, MOST_ELEMENTS, sampled=scan.profile.sampled)
    nulls = scan.profile.nulls
    profile = replace(found.profile, nulls=nulls, rows=found.profile.rows + nulls)
    return replace(found, profile=profile)


def is_array_of_texts(column: Column) -> bool:
    """True of a column declared as an array of texts, of one dimension."""
    inner, bracket, _ = column.type.partition("[")
    return bool(bracket) and column.type.count("[") == 1 and family_of(inner) == "text"


def counted_elements(table: Table, dialect: Dialect, column: Column, rows: int | None) -> str:
    """A query of the elements of a column of arrays and how often each stands in one, in the
    first so many rows."""
    limit = "" if rows is None else f"LIMIT {rows}"
    arrays = Source(table, dialect, None).select([f"{dialect.quoted(column.name)} AS whole"], limit)
    parts = f"SELECT unnest(whole) AS part FROM ({arrays}) AS arrays"
    return (
        f"SELECT part, count(*) FROM ({parts}) AS parts WHERE part IS NOT NULL "
        f"GROUP BY part LIMIT {MOST_ELEMENTS + 1}"
    )
