"""Lines of CSV files that don't fit their columns, counted."""

from __future__ import annotations

from collections.abc import Iterator

from sqlwright.database.files.table import TableFile
from sqlwright.database.reader import DatabaseReader


def left_out(connection: DatabaseReader, made: TableFile) -> Iterator[str]:
    """A note of the lines that are left out, if any are."""
    read = made.query(store_rejects=True, rejects_table="left_out")
    list(connection.rows(f"SELECT count(COLUMNS(*)) FROM ({read})"))
    ((count, first),) = connection.rows(
        "SELECT count(DISTINCT (file_id, line)), min(line) FROM left_out"
    )
    lines = int(str(count))
    if lines == 1:
        yield f"1 line that doesn't fit its columns is left out: line {int(str(first))}."
    elif lines:
        yield (
            f"{lines:,} lines that don't fit its columns are left out, "
            f"the first is line {int(str(first))}."
        )
