"""The values that columns of texts say, guessed by all of their cells and checked by DuckDB."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from sqlwright.database.failures import Failure, ReadFailed
from sqlwright.database.files.shapes import (
    BLANKS,
    BOOLEAN,
    MARK,
    Number,
    Seen,
    expression,
    number_of,
    shapes_of,
    signs_of,
    unit_of,
)
from sqlwright.database.reader import DatabaseReader
from sqlwright.sql.dialects import DUCKDB
from sqlwright.sql.tokens import quote_text

ORDERS = {"dmY": "day first", "mdY": "month first", "dmy": "day first", "mdy": "month first",
          "ymd": "year first", "Ymd": "year first"}  # fmt: skip
"""The orders in which people write dates of numbers, and what they are called."""
_DIGITS = re.compile("[89]")
_DATE = re.compile(r"(9{1,4})([-./ ])(9{1,2})\2(9{1,4})")
_NAMED = re.compile(r"(?:9{1,2}([-. /]|\. )([A-Za-z]{3,9})(\.?,?[-. /])(9{4}|9{2})|"
                    r"([A-Za-z]{3,9}) 9{1,2}(,? )9{4})")  # fmt: skip
_TIME = re.compile(r"(T|,? +)9{1,2}:9{2}(:9{2})?([.,]9+)?( ?[AaPp][Mm])?")
_CLOCK = re.compile(r"9{1,2}:9{2}(:9{2})?([.,]9+)?( ?[AaPp][Mm])?")
_ZONE = re.compile(r"9999-99-99[T ]99:99(:99)?(\.9+)?( ?Z|[+-]99(:?99)?)")


@dataclass(frozen=True, slots=True)
class Day:
    """The way in which the cells of one shape write a day, a moment or a time."""

    kind: str
    """DATE, TIMESTAMP, TIMESTAMP WITH TIME ZONE or TIME."""
    formats: Mapping[str, str]
    """Formats that it may have, by the order of their parts."""
    plain: bool = False
    """True if DuckDB reads it without a format."""


def day_of(shape: str) -> Day | None:
    """The day that a shape is; None for another thing."""
    shape = _DIGITS.sub("9", shape)
    if _ZONE.fullmatch(shape):
        return Day("TIMESTAMP WITH TIME ZONE", {"": "%Y-%m-%d %H:%M:%S%z"}, plain=True)
    if clock := _CLOCK.fullmatch(shape):
        written = _clock(*clock.groups())
        return Day("TIME", {"": written}, plain=shape == "99:99:99")
    for pattern, orders in ((_DATE, _numbered), (_NAMED, _named)):
        found = pattern.match(shape)
        formats = orders(found) if found else {}
        if not formats:
            continue
        assert found is not None
        rest = shape[found.end() :]
        time = _TIME.fullmatch(rest)
        plain = "Ymd" in formats and found[2] == "-" and len(found[0]) == 10
        if not rest:
            return Day("DATE", formats, plain=plain)
        if time:
            after = time[1] + _clock(*time.groups()[1:])
            told = {order: one + after for order, one in formats.items()}
            return Day("TIMESTAMP", told, plain=plain and not time[4] and "," not in rest)
    return None


def _numbered(found: re.Match[str]) -> dict[str, str]:
    first, sep, _, last = found.groups()
    if len(first) == 4 and len(last) <= 2:
        orders = ["Ymd"]
    elif len(first) <= 2 and len(last) == 4:
        orders = ["dmY"] if sep == "." else ["dmY", "mdY"]
    elif len(first) <= 2 and len(last) == 2:
        orders = ["dmy"] if sep == "." else ["ymd", "dmy", "mdy"]
    else:
        return {}
    return {order: sep.join(f"%{part}" for part in order) for order in orders}


def _named(found: re.Match[str]) -> dict[str, str]:
    day, month, sep, year, first, after = found.groups()
    name = "%b" if len(month or first) == 3 else "%B"
    if first:
        return {"": f"{name} %d{after}%Y"}
    return {"": f"%d{day}{name}{sep}{'%y' if len(year) == 2 else '%Y'}"}


def _clock(seconds: str | None, parts: str | None, noon: str | None) -> str:
    written = ("%I" if noon else "%H") + ":%M" + (":%S" if seconds else "")
    written += f"{parts[0]}%f" if parts else ""
    return written + (noon[:-2] + "%p" if noon else "")


Unfit = Literal["text", "empty", "leave_out", "stop"]
"""The fate of a cell that doesn't fit its column: the column becomes text, the cell is empty, its
row is left out, or the file isn't read."""
NEARLY = 0.5
"""Share of a column's cells above which it is said to hold numbers or days, whatever the rest."""
_NUMBERS = frozenset({
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER",
    "UBIGINT", "UHUGEINT", "FLOAT", "DOUBLE", "REAL", "DECIMAL",
})  # fmt: skip
_BROKEN = frozenset({"FLOAT", "DOUBLE", "REAL"})
_MOST_DIGITS = 18
"""Digits of a BIGINT."""
_OPEN = "{0} of {1} could be {2}; read as {3}: correct by {4} in sqlwright-files.yaml."


@dataclass(frozen=True, slots=True)
class Said:
    """The user's word on the columns, by the names they have in the file."""

    types: Mapping[str, str] = field(default_factory=dict)
    nulls: tuple[str, ...] | Mapping[str, tuple[str, ...]] | None = None
    decimal: str | None = None
    thousands: str | None = None
    dateformat: str | None = None
    timestampformat: str | None = None
    unfit: Unfit = "text"
    separated: str = ","
    """The sign between columns: a comma leaves none for decimals."""

    def marks(self, name: str) -> tuple[str, ...]:
        """Texts of a column that stand for no value."""
        if isinstance(self.nulls, Mapping):
            return self.nulls.get(name, ())
        return self.nulls or ()


@dataclass(frozen=True, slots=True)
class ColumnReading:
    """The values of one column."""

    kind: str = "VARCHAR"
    value: str = ""
    """The SQL of a cell, written {c}, as a value; empty for texts as they are."""
    plain: bool = True
    """True if DuckDB reads all cells as that type without being told how."""
    marks: tuple[str, ...] = ()
    """Texts that stand for no value."""
    unused: tuple[str, ...] = ()
    """Texts that might, in a column of texts."""
    formats: tuple[str, ...] = ()
    decimal: str = ""
    thousands: str = ""
    fits: str = ""
    """The condition of the rows that are kept, if not all are."""
    filled: int = 0
    """Cells with a value."""
    details: tuple[str, ...] = ()
    """The guesses, and how many cells each concerns."""
    doubts: tuple[str, ...] = ()
    """Reasons why an answer over the column may be wrong."""
    nearly: str = ""
    """Of a column of texts that are mostly numbers, the SQL of those."""

    def sql(self, column: str) -> str:
        """The expression of a column of texts as values."""
        if not self.value and not self.marks:
            return column
        cell = f"trim({column}, {BLANKS})"
        value = self.value.replace("{c}", cell) or column
        return f"CASE WHEN {cell} NOT IN ({self._empty()}) THEN {value} END"

    def kept(self, column: str) -> str:
        """The condition of rows that aren't left out, where some are."""
        cell = f"trim({column}, {BLANKS})"
        fit = self.fits.replace("{c}", cell)
        return f"({cell} IS NULL OR {cell} IN ({self._empty()}) OR {fit})"

    def _empty(self) -> str:
        return ", ".join(map(quote_text, ("", *self.marks)))


@dataclass(frozen=True, slots=True)
class _Try:
    """A way to read a column, whose cells DuckDB counts."""

    made: ColumnReading
    label: str = ""
    """The order of day, month and year, or the decimal sign, where another might be meant."""


@dataclass(slots=True)
class _Column:
    """A column while it is looked at."""

    name: str
    numbers: list[Number] = field(default_factory=list)
    days: dict[tuple[tuple[str, str], ...], tuple[Day, int]] = field(default_factory=dict)
    marks: dict[str, int] = field(default_factory=dict)
    booleans: int = 0
    odd: list[str] = field(default_factory=list)
    """Examples of cells that are none of these."""
    total: int = 0
    tries: list[_Try] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    """The cells that fit each of the tries."""
    differ: list[int] = field(default_factory=list)
    """The cells of which each makes another value than the first."""

    def add(self, shape: str, seen: Seen, *, marks: bool) -> None:
        """Count the cells of a shape."""
        self.total += seen.count
        if shape[0] == MARK and marks:
            self.marks[shape[1:]] = seen.count
        elif shape == BOOLEAN:
            self.booleans += seen.count
        elif (number := number_of(shape, seen)) is not None:
            self.numbers.append(number)
        elif (day := day_of(shape)) is not None:
            key = tuple(day.formats.items())
            known = self.days.get(key)
            plain = day.plain and (known is None or known[0].plain)
            self.days[key] = (replace(day, plain=plain), seen.count + (known[1] if known else 0))
        else:
            self.odd.append(seen.example)

    @property
    def values(self) -> int:
        return self.total - sum(self.marks.values())

    @property
    def best(self) -> list[int]:
        """The tries that most cells fit, those left out that make the same values as another."""
        most = max(self.counts, default=0)
        found = [at for at, count in enumerate(self.counts) if count == most > 0]
        return [at for at in found if at == found[0] or self.differ[at]]


def read_columns(
    connection: DatabaseReader, query: str, names: Sequence[str], said: Said,
    rows: int | None = None,
) -> dict[str, ColumnReading]:  # fmt: skip
    """The readings of all columns of a query that gives texts, by all rows or the first ones.
    Raises the failures of reading."""
    told = {name: ColumnReading(marks=said.marks(name)) for name in names}
    if said.nulls:
        quoted = {DUCKDB.quoted(name): one for name, one in told.items()}
        cells = ", ".join(f"{one.sql(name)} AS {name}" for name, one in quoted.items())
        query = f"SELECT {cells} FROM ({query})"
    columns = [_Column(name) for name in names]
    seen = shapes_of(connection, query, rows)
    for one in columns:
        for shape, those in seen.get(one.name, {}).items():
            one.add(shape, those, marks=said.nulls is None)
        one.tries = list(_tries(one, said))
    _count(connection, f"FROM ({query}) LIMIT {rows}" if rows else query, columns, said)
    sure = {one.tries[one.best[0]].label for one in columns if len(one.best) == 1}
    readings = {one.name: _chosen(one, said, sure) for one in columns}
    for name, made in readings.items():
        if own := told[name].marks:
            readings[name] = replace(made, marks=(*own, *made.marks), plain=False)
    return readings


def _tries(one: _Column, said: Said) -> Iterator[_Try]:
    """The ways in which a column may be read; those that its user says alone, if there are any."""
    kind = said.types.get(one.name, "")
    name = kind.partition("(")[0].strip()
    if name == "VARCHAR":
        return
    written = said.timestampformat if name.startswith("TIMESTAMP") else said.dateformat
    if kind and name in {"DATE", "TIMESTAMP"} and written:
        yield _Try(_of_format(kind, written))
        return
    if name in {"", *_NUMBERS}:
        yield from _as_numbers(one, said, kind)
    if name in {"", "DATE", "TIME"} or name.startswith("TIMESTAMP"):
        yield from _as_days(one, said, kind)
    if one.booleans and not kind:
        yield _Try(ColumnReading("BOOLEAN", "CAST({c} AS BOOLEAN)"))
    if kind:
        yield _Try(ColumnReading(kind, f"CAST({{c}} AS {kind})", plain=False))


def _as_numbers(one: _Column, said: Said, kind: str) -> Iterator[_Try]:
    """Leading zeros decide for text, and so do several units."""
    if not one.numbers or (not kind and any(part.zeros and not part.unit for part in one.numbers)):
        return
    unit = unit_of(one.numbers)
    if unit is None and not kind:
        return
    odd = any(part.odd for part in one.numbers)
    signs = signs_of(one.numbers)
    if said.decimal or said.thousands:
        sign = said.decimal or ("," if said.thousands == "." else ".")
        signs = {sign: (said.thousands or signs.get(sign, ("", False))[0], True)}
    order = sorted(signs, reverse=said.separated == ",")
    for sign in order if any(map(any, signs.values())) else order[:1]:
        thousands, decimals = signs[sign]
        digits = max(sum(map(str.isdigit, part.shape)) for part in one.numbers)
        whole = "BIGINT" if digits <= _MOST_DIGITS else "HUGEINT"
        exact = any("e" in part.shape.lower() for part in one.numbers) or decimals
        made = kind or ("DOUBLE" if exact else whole)
        written = bool(thousands) or decimals
        plain = not odd and not thousands and not (decimals and sign == ",") and not kind
        value = expression("{c}", made, sign, odd=odd)
        if decimals and made not in _BROKEN and not made.startswith("DECIMAL"):
            number = expression("{c}", "DOUBLE", sign, odd=odd)  # a cast would round it
            value = f"CAST(CASE WHEN {number} = floor({number}) THEN {number} END AS {made})"
        label = f"decimal {'comma' if sign == ',' else 'point'}" if written else ""
        details = (f"without the unit {unit}",) if unit else ()
        yield _Try(
            ColumnReading(made, f"CAST({{c}} AS {made})" if plain else value, plain,
                          decimal=sign if written else "", thousands=thousands, details=details),
            label,
        )  # fmt: skip


def _as_days(one: _Column, said: Said, kind: str) -> Iterator[_Try]:
    """Shapes of days may leave the order open: all of them in the same one."""
    for written, own in ((said.dateformat, "DATE"), (said.timestampformat, "TIMESTAMP")):
        if written and not kind:
            yield _Try(_of_format(own, written))
    kinds = {day.kind for day, _ in one.days.values()}
    if kinds == {"DATE", "TIMESTAMP"}:
        kinds = {"TIMESTAMP"}
    if len(kinds) != 1 or said.dateformat or said.timestampformat:
        return
    own = kind or kinds.pop()
    if all(day.plain for day, _ in one.days.values()):
        yield _Try(ColumnReading(own, f"CAST({{c}} AS {own})", plain=not kind))
        return
    orders = {order: ORDERS.get(order, "") for day, _ in one.days.values() for order in day.formats}
    words = dict.fromkeys(word for order, word in orders.items() if order != "Ymd" and word)
    for word in words or [""]:
        formats = tuple(dict.fromkeys(
            next((f for order, f in day.formats.items() if orders[order] == word),
                 next(iter(day.formats.values())))
            for day, _ in one.days.values()
        ))  # fmt: skip
        listed = ", ".join(map(quote_text, formats))
        value = f"CAST(strptime({{c}}, [{listed}]) AS {own})"
        yield _Try(ColumnReading(own, value, plain=False, formats=formats), word)


def _of_format(kind: str, written: str) -> ColumnReading:
    value = f"CAST(strptime({{c}}, {quote_text(written)}) AS {kind})"
    return ColumnReading(kind, value, plain=False, formats=(written,))


def _count(connection: DatabaseReader, query: str, columns: list[_Column], said: Said) -> None:
    """Have the cells counted that fit each try, and those of another value than the first makes."""
    if not (said.dateformat or said.timestampformat or any(one.tries for one in columns)):
        return
    written = filter(None, (said.dateformat, said.timestampformat))
    # A format that is none is an error, whatever there is to read.
    told = ["count(*)", *(f"max(strftime(DATE '2024-01-31', {quote_text(w)}))" for w in written)]
    for one in columns:
        cell = f"trim({DUCKDB.quoted(one.name)}, {BLANKS})"
        marks = ", ".join(map(quote_text, ("", *one.marks)))
        values = [lenient(each.made.value).replace("{c}", cell) for each in one.tries]
        for value in values:
            kept = f"{cell} NOT IN ({marks})"
            told.append(f"count({value}) FILTER ({kept})")
            both = f"CAST({value} AS VARCHAR) IS DISTINCT FROM CAST({values[0]} AS VARCHAR)"
            told.append(f"count(*) FILTER ({kept} AND {both})")
    (row,) = connection.rows(f"SELECT {', '.join(told)} FROM ({query})")
    asked = 2 * sum(len(one.tries) for one in columns)
    counts = iter(int(str(cell)) for cell in row[len(row) - asked :])
    for one in columns:
        for _ in one.tries:
            one.counts.append(next(counts))
            one.differ.append(next(counts))


def lenient(value: str) -> str:
    """An expression of ours that gives nothing where it would fail. TRY of DuckDB doesn't hold
    where two expressions have a part in common."""
    value = re.sub(r"(?<!TRY_)CAST\(", "TRY_CAST(", value)
    return re.sub(r"(?<!try_)strptime\(", "try_strptime(", value)


def _chosen(one: _Column, said: Said, sure: set[str]) -> ColumnReading:
    """The reading of a column: the one that most cells fit, and of several that other columns
    decide for."""
    best = [one.tries[at] for at in one.best]
    fitting = max(one.counts, default=0)
    asked = one.name in said.types and bool(one.tries)
    text = ColumnReading(filled=one.total, unused=tuple(sorted(one.marks)))
    units = sorted({part.unit for part in one.numbers if part.unit})
    numbers = sum(part.count for part in one.numbers)
    if unit_of(one.numbers) is None and not asked and numbers > NEARLY * one.values:
        words = (
            f"{one.name}: {numbers:,} cells are numbers of several units ({', '.join(units[:5])})"
        )
        return replace(text, doubts=(f"{words}; so the column is text.",))
    if (not best and not asked) or (not asked and fitting <= NEARLY * one.values):
        return text
    told = next((each for each in best if each.label in sure), None)
    each = told or (best[0] if best else one.tries[-1])
    made = replace(each.made, marks=tuple(sorted(one.marks)), filled=fitting,
                   plain=each.made.plain and not one.marks)  # fmt: skip
    if len(best) > 1 and told is None and (each.made.formats or said.separated != ","):
        what, key = ("Dates", "dateformat") if each.made.formats else ("Numbers", "decimal")
        key = "timestampformat" if made.kind.startswith("TIMESTAMP") else key
        words = " or ".join(sorted(other.label for other in best))
        read = " and ".join(made.formats) or each.label
        made = replace(made, doubts=(_OPEN.format(what, one.name, words, read, key),))
    signs = [f"with {each.label}"] if made.decimal and not each.made.plain else []
    how = [*made.details, *signs]
    for day, count in one.days.values() if made.formats else ():
        written = [said_as for said_as in day.formats.values() if said_as in made.formats]
        how.append(f"{count:,} as {' and '.join(written)}")
    if how:
        made = replace(
            made, details=(f"{one.name}: {fitting:,} cells are {made.kind}: {', '.join(how)}.",)
        )
    left = one.values - fitting
    return made if left <= 0 else _unfit(one, made, left, said)


def _unfit(one: _Column, made: ColumnReading, left: int, said: Said) -> ColumnReading:
    """The column of which some cells don't fit, as the user wants it."""
    text = ColumnReading(filled=one.total, unused=tuple(sorted(one.marks)))
    name = made.kind.partition("(")[0]
    what = "numbers" if name in _NUMBERS else made.kind
    shown = f" ({', '.join(repr(text[:40]) for text in one.odd[:3])})" if one.odd else ""
    cells = f"{one.name}: {left:,} of {one.values:,} cells are no {what}{shown}"
    tried = lenient(made.value)
    if said.unfit == "stop":
        message = f"{cells}; unfit in sqlwright-files.yaml says to stop there"
        raise ReadFailed(Failure("unavailable", message))
    if said.unfit == "text":
        doubt = f"{cells}; so the column is text: correct by nulls, types or unfit."
        nearly = tried if name in _NUMBERS else ""
        return replace(text, doubts=(doubt,), nearly=nearly)
    if said.unfit == "empty":
        return replace(made, value=tried, plain=False, doubts=(f"{cells}; they count as empty.",))
    kept = f"{tried} IS NOT NULL"
    doubt = f"{cells}; their rows are left out."
    return replace(made, fits=kept, plain=False, doubts=(*made.doubts, doubt))
