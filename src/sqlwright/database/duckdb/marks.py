"""Marks of the tables in a DuckDB file, by what they hold.

Where DuckDB keeps a table tells nothing: blocks that were freed are written again, and a value that
all rows share isn't in a block at all. So a mark is a digest of the rows themselves, in their
order: SHA-256 of each row, in which every value is written with its length before it and no value
as none, and SHA-256 over all of these. Two contents of one mark would be a collision of SHA-256.

A table whose digest could cost more than reading it again, since of large tables only a part is
read, has the mark of the whole file. So has one with types whose different values may read alike.
"""

from __future__ import annotations

import re
import time

from sqlwright.database.failures import READ_FAILURES, read_failure
from sqlwright.database.reader import DatabaseReader
from sqlwright.schema import Schema, Table, fold_name
from sqlwright.sql.dialects import DUCKDB
from sqlwright.sql.tree import StopReading

MOST_ROWS = 500_000
"""Rows of a table that has a digest, at most. Digests of so many take about a third of the time in
which the 200,000 are read that are read by default."""
MOST_SECONDS = 2.0
"""Seconds that one digest may take."""
ALL_SECONDS = 20.0
"""Seconds that all of them may take; after that the other tables have none."""
_SIZES = """
    SELECT schema_name, table_name, estimated_size FROM duckdb_tables()
    WHERE database_name = current_catalog() AND NOT internal AND NOT temporary
"""
_ALIKE = re.compile(r"\b(?:UNION|VARIANT|GEOMETRY|ANY|AGGREGATE_STATE)\b", re.IGNORECASE)
"""Types, or parts of them, whose text doesn't tell all. A field of such a name does no harm."""


def read_marks(
    reader: DatabaseReader, schema: Schema, whole: str, stop: StopReading
) -> dict[str, str]:
    """The mark of each table by its name; `whole` is the file's. Raises ReadFailed when the file
    can't be read, and whatever `stop` raises."""
    sizes = {
        str(own) if space == DUCKDB.namespace else f"{space!s}.{own!s}": size
        for space, own, size in reader.rows(_SIZES)
    }
    until = time.monotonic() + ALL_SECONDS
    marks = {}
    for table in schema.tables:
        stop()
        rows = sizes.get(table.name)
        small = isinstance(rows, int) and rows <= MOST_ROWS and time.monotonic() < until
        if table.kind == "table":
            marks[table.name] = (small and _digest(reader, table)) or whole
    return marks


def _digest(reader: DatabaseReader, table: Table) -> str:
    """Empty where there is none."""
    names = {fold_name(column.name) for column in table.columns}
    if "rowid" in names or any(_ALIKE.search(column.type) for column in table.columns):
        return ""
    texts = (f"CAST({DUCKDB.quoted(column.name)} AS VARCHAR)" for column in table.columns)
    row = " || ".join(f"coalesce(strlen({text}) || ':' || {text}, '-')" for text in texts)
    try:
        with reader.within(MOST_SECONDS):
            ((digest,),) = reader.rows(
                f"SELECT sha256(coalesce(string_agg(sha256({row}), '' ORDER BY rowid), ''))"
                f" FROM {DUCKDB.table(table)}"
            )
    except READ_FAILURES as error:
        if read_failure(error).kind == "unavailable":
            raise
        return ""
    return str(digest)
