"""Whole numbers in JSON that are too large for 64 bits: DuckDB's reader makes real numbers of them,
which keep 15 digits."""

from __future__ import annotations

from sqlwright.database.files.table import Columns
from sqlwright.database.reader import DatabaseReader
from sqlwright.sql.dialects import DUCKDB
from sqlwright.sql.tokens import quote_text

_KEPT = 15
"""Digits of a whole number that every real number keeps."""
_WHOLE_BYTES = 64 * 1024 * 1024
"""Bytes of files that are looked through; of larger ones only the first rows are."""
_FIRST_ROWS = 20_480
"""Rows of larger files that are looked at; as many as DuckDB guesses by."""
_HELD = 38
"""Digits that a HUGEINT holds."""


def whole_numbers(
    connection: DatabaseReader, call: str, columns: Columns, size: int
) -> tuple[Columns, tuple[str, ...]]:
    """The columns that a call of DuckDB's reader gives, those of whole numbers as HUGEINT, and
    notes on those with numbers that are rounded. Files (`size` in bytes) are read once where there
    are real numbers."""
    real = [name for name, kind in columns if kind == "DOUBLE"]
    if not real:
        return columns, ()
    told = ", ".join(f"{quote_text(name)}: 'JSON'" for name in real)
    asked = ", ".join(
        f"bool_and(regexp_full_match({name}, '-?[0-9]+')), "
        f"max(length(ltrim({name}, '-'))) FILTER (regexp_full_match({name}, '-?[0-9]+'))"
        for name in (f"CAST({DUCKDB.quoted(name)} AS VARCHAR)" for name in real)
    )
    all_rows = size <= _WHOLE_BYTES
    query = f"FROM {call.removesuffix(')')}, columns={{{told}}})"
    rows = query if all_rows else f"FROM ({query} LIMIT {_FIRST_ROWS})"
    (found,) = connection.rows(f"SELECT {asked} {rows}")
    kinds, notes = dict(columns), []
    for name, whole, digits in zip(real, found[::2], found[1::2], strict=True):
        if whole and all_rows and int(str(digits)) <= _HELD:
            kinds[name] = "HUGEINT"
        elif int(str(digits or 0)) > _KEPT:
            notes.append(f"{name}: whole numbers of more than {_KEPT} digits are rounded.")
    return tuple(kinds.items()), tuple(notes)
