"""The order of day, month and year in dates of a CSV file, which a format alone may leave open."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sqlwright.database.files.table import TableFile
from sqlwright.database.reader import DatabaseReader
from sqlwright.sql.dialects import DUCKDB
from sqlwright.sql.tokens import quote_text

_PARTS = re.compile(r"%([dmyY])(\W)%([dmyY])\2%([dmyY])")
_ORDERS = {"dmY": "day first", "mdY": "month first", "dmy": "day first", "mdy": "month first",
           "ymd": "year first"}  # fmt: skip
"""The orders in which people write dates of numbers, and what they are called."""
FORMATS = {"dateformat": "DATE", "timestampformat": "TIMESTAMP"}
"""DuckDB's options of formats, and the type whose texts they are of."""


@dataclass(frozen=True, slots=True)
class Open:
    """Columns whose values don't say the order of their dates."""

    option: str
    format: str
    columns: tuple[str, ...]
    others: tuple[str, ...]
    """The other formats that all of their values have, too."""

    @property
    def note(self) -> str:
        """A note for people."""
        orders = " or ".join(dict.fromkeys(map(order_of, sorted((self.format, *self.others)))))
        return (
            f"Dates of {', '.join(self.columns)} could be {orders}; read as {self.format}: "
            f"correct by {self.option} in sqlwright-files.yaml."
        )


def undecided(connection: DatabaseReader, made: TableFile, rows: int | None) -> Iterator[Open]:
    """The formats of which no column says the order, by all rows or the first ones."""
    for option, kind in FORMATS.items():
        written = made.options.get(option)
        names = [name for name, found in made.columns if found == kind]
        others = list(_others(str(written))) if written else []
        if not names or not others:
            continue
        told = ", ".join(_fits(name, str(written), other) for name in names for other in others)
        limit = f" LIMIT {rows}" if rows else ""
        (cells,) = connection.rows(f"SELECT {told} FROM ({made.query()}{limit})")
        count = len(others)
        by_name = [cells[at * count : (at + 1) * count] for at in range(len(names))]
        # NULL: the column has no value, or each is the same day in either order.
        asked = [(n, fit) for n, fit in zip(names, by_name, strict=True) if {*fit} != {None}]
        left = [at for at in range(count) if {fit[at] for _, fit in asked} - {None} == {True}]
        if left:
            columns = tuple(name for name, _ in asked)
            yield Open(option, str(written), columns, tuple(others[at] for at in left))


def order_of(written: str) -> str:
    """The words for the order of a format."""
    found = _PARTS.search(written)
    return _ORDERS.get("".join(found.group(1, 3, 4)), "") if found else ""


def _others(written: str) -> Iterator[str]:
    """The same format with its date in other orders."""
    found = _PARTS.search(written)
    own = "".join(found.group(1, 3, 4)) if found else ""
    if found is None or own not in _ORDERS:
        return
    for order in _ORDERS:
        if order != own and set(order) == set(own):
            date = found[2].join(f"%{letter}" for letter in order)
            yield written[: found.start()] + date + written[found.end() :]


def _fits(name: str, written: str, other: str) -> str:
    """True if all values of a column could be written in another format, NULL if that would make
    no other days of them."""
    column = DUCKDB.quoted(name)
    read = f"try_strptime(strftime({column}, {quote_text(written)}), {quote_text(other)})"
    return (
        f"CASE WHEN count(*) FILTER ({column} IS NOT NULL AND {read} IS DISTINCT FROM "
        f"CAST({column} AS TIMESTAMP)) > 0 THEN count({read}) = count({column}) END"
    )
