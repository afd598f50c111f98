"""Conversions of each stored format to dates and numbers, and the parts of dates."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import get_args

from sqlwright.local.form import nodes as f
from sqlwright.schema import Column, ColumnRef, Schema, Table
from sqlwright.sql.declared_types import type_class
from sqlwright.types.periods import period_of
from sqlwright.types.stored import Formats, Stored

EXTREMES = frozenset({"min", "max"})
_KEPT = frozenset({"lag", "lead", "first_value"})
"""Windows that give a value as it is."""
_VALUES = get_args(f.Expression)


def as_meant(schema: Schema, formats: Formats, dates: Mapping[ColumnRef, bool]) -> Schema:
    """The schema with the types that columns would be declared as if they held dates and numbers
    that SQLite reads. `dates` says which hold dates, whatever they are declared as."""

    def meant(table: Table, column: Column) -> Column:
        ref = ColumnRef(table.name, column.name)
        way = formats.get(ref)
        if way is not None:
            return replace(column, type="DATE" if way.is_date else "REAL")
        is_plain = type_class(column.type) != "date" and dates.get(ref, False)
        return replace(column, type="DATE") if is_plain else column

    tables = tuple(
        replace(table, columns=tuple(meant(table, column) for column in table.columns))
        for table in schema.tables
    )
    return replace(schema, tables=tables)


class Ways:
    """The dressed expressions of one SELECT; `derived` are the queries of its FROM clause,
    dressed."""

    def __init__(self, formats: Formats, derived: Sequence[f.Query]) -> None:
        self._formats = formats
        self._derived = derived

    def way(self, node: object) -> Stored | None:
        """The way in which a dressed expression is written; None: as they seem."""
        match node:
            case f.Column(ref):
                return self._formats.get(ref)
            case f.DerivedColumn(table, item):
                return self._item(self._derived[table - 1], item)
            case f.Subquery(query):
                return self._item(query, 1)
            case f.Aggregate(function, operand) if function in EXTREMES:
                return self.way(operand)
            case f.Window(function, operand) if function in _KEPT | EXTREMES:
                return self.way(operand)
            case f.Conditional(_, then, otherwise):
                way = self.way(then)
                return way if otherwise is None or self.way(otherwise) == way else None
        return None

    def _item(self, query: f.Query, item: int) -> Stored | None:
        while isinstance(query, f.SetOperation):
            query = query.left
        if item > len(query.items):
            return None
        return Ways(self._formats, query.derived).way(query.items[item - 1])

    def meant(self, node: f.Expression, *, timed: bool = True) -> f.Expression:
        """A dressed expression as what it means."""
        way = self.way(node)
        if way is None:
            return node
        match node:
            case f.Aggregate(_, operand) | f.Window(_, operand) if isinstance(operand, _VALUES):
                return replace(node, operand=self.meant(operand, timed=timed))
            case f.Conditional(_, then, otherwise):
                rest = None if otherwise is None else self.meant(otherwise, timed=timed)
                return replace(node, then=self.meant(then, timed=timed), otherwise=rest)
            case f.Subquery(f.Select() as query):
                inner = Ways(self._formats, query.derived)
                item = query.items[0]
                assert not isinstance(item, f.Star)
                return f.Subquery(replace(query, items=(inner.meant(item, timed=timed),)))
        return converted(node, way, timed=timed)


_COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})\Z")


def stored_day(day: str, stored: Stored) -> f.Literal:
    """An ISO day as a column without times of day stores it."""
    year, month, last = day.split("-")
    if stored.way == "compact":
        return f.Literal(int(year + month + last) if stored.number else year + month + last)
    ends = (last, month) if stored.way == "dmy" else (month, last)
    return f.Literal(stored.mark.join((*ends, year)))


def day_of(value: str | float) -> str | None:
    """The ISO day of one without marks, such as 20240131; None for others."""
    found = _COMPACT.match(str(value)) if isinstance(value, str | int) else None
    iso = "-".join(found.groups()) if found else ""
    return iso if iso and period_of(iso) else None


def iso_of(value: str | float, stored: Stored) -> str | None:
    """The ISO day that a constant is which a column is compared with; None for others."""
    if isinstance(value, str) and len(value) == 10 and period_of(value):
        return value
    if stored.way == "compact":
        return day_of(value)
    if stored.way in {"dmy", "mdy"} and isinstance(value, str) and len(value) == 10:
        first, second, year = value[:2], value[3:5], value[6:]
        iso = f"{year}-{second}-{first}" if stored.way == "dmy" else f"{year}-{first}-{second}"
        return iso if stored.mark and value[2] == stored.mark and period_of(iso) else None
    return None


TIMED = frozenset({"hour", "minute", "time", "datetime", "julianday", "days_between",
                   "seconds_between"})  # fmt: skip
"""Functions of dates that go by the time of day, too."""
MOMENTS = TIMED | {
    "year", "month", "day", "date", "strftime", "weekday", "week", "year_month", "quarter",
    "start_of_month", "start_of_year", "days_after", "days_before", "months_after",
    "months_before", "years_after", "years_before",
}  # fmt: skip
"""Functions that take dates."""
_TIME_CODES = re.compile(r"%[HMSfIlkpPRTs]")
_FROM = {
    "dmy": "from_dmy",
    "mdy": "from_mdy",
    "compact": "from_compact",
    "seconds": "from_seconds",
    "milliseconds": "from_milliseconds",
    "amount": "amount",
    "amount_comma": "amount_comma",
}
_SLICES = {
    "compact": {"year": (1, 4), "month": (5, 2), "day": (7, 2)},
    "year_month": {"year": (1, 4), "month": (6, 2)},
}
"""First character and length of the parts of a date, by way."""


def moment_of(name: str, pattern: str) -> bool:
    """True if a function needs the time of day; `pattern` is what `strftime` writes."""
    return name in TIMED or (name == "strftime" and bool(_TIME_CODES.search(pattern)))


def converted(node: f.Expression, way: Stored, *, timed: bool = True) -> f.Expression:
    """A stored value as SQLite reads it; without its time of day unless that is wanted."""
    for sign, instead in way.signs:
        node = f.Function("replace", (node, f.Literal(sign), f.Literal(instead)))
    if way.way == "year_month":
        return f.Arithmetic("||", node, f.Literal("-01"))
    read = f.Function(_FROM[way.way], (node,))
    if way.timed and timed and way.way in {"dmy", "mdy"}:
        return f.Arithmetic("||", read, f.Function("substr", (node, f.Literal(11))))
    return read


def day(node: f.Expression, way: Stored) -> f.Expression:
    """A stored value read as a day."""
    return f.Function("date", (node,)) if way.way in {"seconds", "milliseconds"} else node


def date_part(name: str, node: f.Expression, way: Stored) -> f.Expression | None:
    """A part of a stored date where it can be had without reading the whole; None elsewhere."""
    if name == "date" and way.way in {"dmy", "mdy", "compact"}:
        return converted(node, way, timed=False)
    if way.way == "year_month" and name == "year_month":
        return node
    if way.way == "year_month" or (way.way == "compact" and not way.number):
        places = _SLICES[way.way].get(name)
        return f.Function("substr_to", (node, *map(f.Literal, places))) if places else None
    if way.way != "compact":
        return None
    by = {size: f.Literal(size) for size in (100, 10_000)}
    month = f.Arithmetic("%", f.Arithmetic("/", node, by[100]), by[100])
    match name:
        case "year":
            return f.Arithmetic("/", node, by[10_000])
        case "month":
            return month
        case "day":
            return f.Arithmetic("%", node, by[100])
        case "quarter":
            return f.Arithmetic("/", f.Arithmetic("+", month, f.Literal(2)), f.Literal(3))
    return None
