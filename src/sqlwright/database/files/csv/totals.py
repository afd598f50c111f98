"""The row of totals that people put below a table: left out, or every sum would be twice as
large."""

from __future__ import annotations

from collections.abc import Sequence

from sqlwright.database.files.sums import FEWEST, is_sum
from sqlwright.database.reader import DatabaseReader
from sqlwright.sql.dialects import DUCKDB
from sqlwright.sql.tokens import quote_text

_SIGNS = "[$€£¥%,\\s]"
"""Signs within numbers that are kept as text."""


def total_row(
    connection: DatabaseReader, query: str, names: Sequence[str], *, said: bool
) -> str | None:
    """The condition that only the last row of a query meets, if its numbers are the sums of those
    above and it lacks what every other row has, or is called by a name of its own; and if the user
    has `said` that it has the totals."""
    quoted = [DUCKDB.quoted(name) for name in names]
    plain = ", ".join(f"CAST({name} AS VARCHAR) AS c{at}" for at, name in enumerate(quoted))
    numbered = f"SELECT *, row_number() OVER () AS nth FROM (SELECT {plain} FROM ({query}))"
    number = f"TRY_CAST(regexp_replace({{0}}, '{_SIGNS}', '', 'g') AS DOUBLE)"
    told = ", ".join(
        f"max(CASE WHEN nth = last THEN c{at} END), "
        f"sum(CASE WHEN nth < last THEN {number.format(f'c{at}')} END), "
        f"max(CASE WHEN nth = last THEN {number.format(f'c{at}')} END), "
        f"count(CASE WHEN nth < last THEN c{at} END), "
        f"count(CASE WHEN nth < last THEN {number.format(f'c{at}')} END)"
        for at in range(len(names))
    )
    rows = list(
        connection.rows(
            f"SELECT max(last) - 1, {told} FROM "
            f"(SELECT *, max(nth) OVER () AS last FROM ({numbered}))"
        )
    )
    above, cells = int(str(rows[0][0] or 0)), rows[0][1:]
    columns = [cells[start : start + 5] for start in range(0, len(cells), 5)]
    if not said and (above < FEWEST or not _is_total(above, columns)):
        return None
    conditions = (
        f"CAST({name} AS VARCHAR) IS NOT DISTINCT FROM "
        f"{'NULL' if last is None else quote_text(str(last))}"
        for name, (last, *_) in zip(quoted, columns, strict=True)
    )
    return " AND ".join(conditions)


def _is_total(above: int, columns: Sequence[Sequence[object]]) -> bool:
    """`columns` have the last cell, the sum above, the last number, and how many cells and numbers
    are above."""
    sums = 0
    lacks = label = False
    for last, total, number, filled, numbers in columns:
        lacks |= last is None and filled == above
        label |= last is not None and number is None
        if number is None or not numbers:
            continue
        if not is_sum(float(str(number)), float(str(total)), int(str(numbers))):
            return False
        sums += float(str(number)) != 0
    return sums > 0 and (lacks or label)
