"""Shapes of texts in columns, counted by DuckDB over all rows: every digit a 9, the rest as it is.

A column of any length has few of them where it holds numbers or days, and they say how it is
written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlwright.database.reader import DatabaseReader
from sqlwright.sql.tokens import quote_text

MISSING = frozenset({
    "-", "--", "–", "—", ".", "?", "n/a", "#n/a", "na", "n.a.", "nan", "null", "nil", "none",
    "#null!", "#value!", "#ref!", "#div/0!", "#name?", "#num!", "\\n", "(null)", "(blank)",
    "missing", "unknown",
})  # fmt: skip
"""In small letters. A text alone is no proof: the column's other values are."""


WHOLE, BOOLEAN, OTHER, MARK = "i", "b", "x", "m"
"""Shapes of: whole numbers without leading zeros, true and false, texts that are neither number nor
day, and (before the text itself) texts that may stand for no value."""
BLANKS = "' \t\r\n' || chr(160) || chr(8239)"
"""Characters around a text that count for nothing, as DuckDB's SQL."""
_MOST = 300
"""Shapes of a column that are brought over; the others are rare, and are no numbers then."""
_NUMBER = r"[^0-9]{0,20}[0-9][0-9.,''’ \x{a0}\x{202f}]*([eE][+-]?[0-9]+)?[^0-9]{0,20}"
_DAY = r"([0-9]{1,4}[-./ ]+[0-9A-Za-z]{1,9}|[A-Za-z]{3,9}\.? [0-9]{1,2})[-./, ]+[0-9]{1,4}"
_TIME = r"[0-9]{1,2}:[0-9]{2}.*"
_SHAPE = rf"""CASE
WHEN regexp_full_match(t, '-?(0|[1-9][0-9]{{0,17}})') THEN '{WHOLE}'
WHEN lower(t) IN (MARKS) THEN '{MARK}' || t
WHEN lower(t) IN ('true', 'false') THEN '{BOOLEAN}'
WHEN length(t) <= 40 AND regexp_full_match(t, '{_NUMBER}|({_DAY}|{_TIME}).{{0,24}}')
THEN replace(regexp_replace(translate(t, '12345678', '99999999'),
  '^([^0-9]*)0([0-9])', '\18\2'), '0', '9')
ELSE '{OTHER}' END"""
"""A leading zero is an 8."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The cells of one shape."""

    count: int
    example: str


Shapes = Mapping[str, Seen]


def shapes_of(
    connection: DatabaseReader, query: str, rows: int | None = None
) -> dict[str, dict[str, Seen]]:
    """The shapes of each column of a query that gives texts, by the columns' names, of all rows or
    the first ones; the commonest first. Empty cells aren't counted."""
    limit = f" LIMIT {rows}" if rows else ""
    shape = _SHAPE.replace("MARKS", ", ".join(map(quote_text, sorted(MISSING))))
    told = connection.rows(
        f"SELECT c, s, count(*) AS n, min(t) FROM (SELECT c, t, {shape} AS s FROM "
        f"(SELECT c, trim(v, {BLANKS}) AS t FROM (UNPIVOT (FROM ({query}){limit}) ON COLUMNS(*) "
        "INTO NAME c VALUE v)) WHERE t <> '') GROUP BY c, s "
        f"QUALIFY row_number() OVER (PARTITION BY c ORDER BY n DESC, s) <= {_MOST} ORDER BY n DESC"
    )
    found: dict[str, dict[str, Seen]] = {}
    for name, own, count, example in told:
        found.setdefault(str(name), {})[str(own)] = Seen(int(str(count)), str(example))
    return found
