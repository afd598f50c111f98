"""The rows of totals that people put among and below the rows of a CSV file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlwright.database.files.cells.reading import ColumnReading, lenient
from sqlwright.database.files.sums import LABEL, Row, totals
from sqlwright.database.reader import DatabaseReader
from sqlwright.sql.dialects import DUCKDB
from sqlwright.sql.tokens import quote_text

_MOST = 1_000
"""Rows without what most have that are looked at; where there are more, it says nothing."""


def total_rows(
    connection: DatabaseReader, query: str, readings: Mapping[str, ColumnReading], *, said: bool
) -> tuple[str, int, list[str]]:
    """The condition of the rows of totals in a query that gives texts, how many there are, and the
    names of those that have other numbers. The last row is one if the user has `said` so."""
    quoted = [DUCKDB.quoted(name) for name in readings]
    numbers = [
        one.nearly.replace("{c}", name) or lenient(one.sql(name))
        for name, one in zip(quoted, readings.values(), strict=True)
        if one.nearly or one.kind in {"BIGINT", "HUGEINT", "DOUBLE"}
    ]
    if not (numbers or said):
        return "", 0, []
    most = max((one.filled for one in readings.values()), default=0)
    full = [name for name, one in zip(quoted, readings.values(), strict=True)
            if 2 * one.filled > most]  # fmt: skip
    label = " ".join(
        f"WHEN regexp_matches({name}, {quote_text(LABEL)}) THEN {name}" for name in quoted
    )
    lacks = " OR ".join(f"{name} IS NULL" for name in full) or "false"
    cells = [f"{name} AS c{at}" for at, name in enumerate(quoted)]
    made = [f"CAST({number} AS DOUBLE) AS n{at}" for at, number in enumerate(numbers)]
    told = [f"c{at}" for at in range(len(cells))] + [
        f"n{at}, coalesce(sum(n{at}) OVER above, 0), coalesce(sum(n{at}) OVER (), 0)"
        for at in range(len(numbers))
    ]
    rows = connection.rows(
        "SELECT nth, label, lacks, nth = count(*) OVER () AS last, "
        f"{', '.join(told)} FROM (SELECT row_number() OVER () AS nth, CASE {label} END AS label, "
        f"{lacks} AS lacks, {', '.join([*cells, *made])} FROM ({query})) WINDOW above AS "
        "(ORDER BY nth ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) QUALIFY label IS NOT NULL "
        f"OR nth = count(*) OVER () OR (lacks AND count(*) FILTER (lacks) OVER () < {_MOST}) "
        f"ORDER BY nth LIMIT {2 * _MOST}"
    )
    texts: dict[int, tuple[object, ...]] = {}
    looked: list[Row] = []
    whole: list[float] = []
    for nth, named, lacking, last, *rest in rows:
        found = [None if cell is None else float(str(cell)) for cell in rest[len(cells) :]]
        texts[int(str(nth))] = tuple(rest[: len(cells)])
        whole = [cell or 0.0 for cell in found[2::3]]
        before = tuple(cell or 0.0 for cell in found[1::3])
        looked.append(
            Row(
                int(str(nth)),
                str(named or ""),
                bool(lacking),
                bool(last),
                tuple(found[::3]),
                before,
            )
        )
    taken, unsure = totals(looked, whole)
    if said:
        taken, unsure = looked[-1:], []
    conditions = {" AND ".join(_same(quoted, texts[one.nth])) for one in taken}
    return " OR ".join(f"({one})" for one in conditions), len(taken), [one.label for one in unsure]


def _same(quoted: list[str], cells: tuple[object, ...]) -> Iterator[str]:
    for name, cell in zip(quoted, cells, strict=True):
        yield f"{name} IS NOT DISTINCT FROM {'NULL' if cell is None else quote_text(str(cell))}"
