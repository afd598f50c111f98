"""One table over files: how they are read, and what was noticed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from sqlwright.database.files.casts import fits, value_of
from sqlwright.database.files.encodings import DECODED, address_of
from sqlwright.database.files.sources import Kind
from sqlwright.sql.dialects import DUCKDB
from sqlwright.sql.tokens import quote_text

Option = str | bool | int | tuple[str, ...]
"""The value of an option of DuckDB's readers."""
Columns = tuple[tuple[str, str], ...]
"""Names and types."""

_TOLD = {
    "decimal_separator": "decimal", "thousands": "thousands", "dateformat": "dates",
    "timestampformat": "timestamps",
}  # fmt: skip
"""Options of reading that are told where they are set, and their names for people."""


@dataclass(frozen=True, slots=True)
class SheetPart:
    """The part of a table that is in one sheet of a workbook. Rows and columns are counted from 0,
    columns from the first in use."""

    path: Path
    sheet: str
    header: int | None
    first: int
    """The first row of data."""
    end: int
    """The row after the last one of data."""
    columns: tuple[int, ...]
    stored: tuple[str, ...]
    """The names of the columns in the sheet."""
    names: tuple[str, ...]
    """The names of the table's columns that they are."""
    merged: bool
    """True if some cells have to be filled from those above."""
    formats: Mapping[str, str]
    """The way in which texts say values of a type."""
    nulls: tuple[tuple[str, ...], ...]
    """The texts that stand for no value, of each column."""

    def opening(self) -> dict[str, object]:
        """The part as a worker takes it."""
        return {**asdict(self), "path": str(self.path)}


@dataclass(frozen=True, slots=True)
class TableFile:
    """One table: its files and how they are read."""

    name: str
    kind: Kind
    paths: tuple[Path, ...]
    columns: Columns
    """Names and types in the files' order, as they will be."""
    stored_names: tuple[str, ...]
    """The names of the columns in the files."""
    options: Mapping[str, Option]
    """DuckDB's options of reading."""
    encoding: str = "utf-8"
    casts: bool = False
    """True if some columns of a Parquet file are of another type than stored."""
    size: int = 0
    """Bytes of all files."""
    empty: frozenset[str] = frozenset()
    """Columns that are known to hold no value: their types say nothing."""
    read: Columns = ()
    """All columns that CSV and JSON files hold; empty where they are those of the table."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """The expressions of columns that are parts of others, by their names in `stored_names`."""
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The texts that stand for no value in columns of a CSV file, by their names in `stored_names`,
    where they don't in all of them."""
    without: str = ""
    """The condition of rows that are left out, in DuckDB's SQL."""
    parts: tuple[TableFile, ...] = ()
    """Files that are read in different ways, put together by the names of columns."""
    sheets: tuple[SheetPart, ...] = ()
    """The places of the table in workbooks."""
    notes: tuple[str, ...] = ()
    """Notes, for people, of what was left out or read in another way than the file says."""

    @property
    def addresses(self) -> tuple[str, ...]:
        """The names by which DuckDB reads the files."""
        if self.parts:
            return tuple(address for part in self.parts for address in part.addresses)
        return tuple(address_of(path, self.encoding) for path in self.paths)

    @property
    def decoded(self) -> bool:
        """True if some of its files are in an encoding that DuckDB doesn't know."""
        return any(part.encoding in DECODED for part in self.parts or (self,))

    @property
    def told(self) -> str:
        """The way in which the table was read, in one line."""
        first = self.paths[0].name
        more = f" and {len(self.paths) - 1:,} more files" if len(self.paths) > 1 else ""
        parts = [f"From {first}{more}"]
        if self.sheets:
            parts.append(f"sheet {self.sheets[0].sheet}")
            header = self.sheets[0].header
            parts.append("without header" if header is None else f"header in row {header + 1}")
        if self.kind == "csv":
            parts.append(f"delimiter {_shown(str(self.options.get('delim', ',')))}")
            parts.append(self.encoding)
            parts.append("with header" if self.options.get("header") else "without header")
            for key, name in _TOLD.items():
                if key in self.options:
                    parts.append(f"{name} {self.options[key]}")
        return ", ".join(parts) + "."

    @property
    def reading(self) -> str:
        """All that decides what rows are read of the files; the same as long as it is."""
        return f"{self.filled() if self.sheets else self.query()} {self.encoding}"

    def created(self, *, loaded: bool) -> str:
        """The statement that makes the table or, unless it is loaded, a view."""
        made = "TABLE" if loaded else "VIEW"
        return f"CREATE {made} {DUCKDB.quoted(self.name)} AS {self.query()}"

    def filled(self) -> dict[str, object]:
        """The table as a worker takes it that loads it from workbooks."""
        parts = [part.opening() for part in self.sheets]
        return {"table": self.name, "columns": self.columns, "parts": parts}

    def query(self, **more: str | bool) -> str:
        """The query that reads the files."""
        if self.parts:
            return " UNION ALL BY NAME ".join(f"({part.query(**more)})" for part in self.parts)
        call = f"{_READERS[self.kind]}({_list(self.addresses)}"
        options: dict[str, Option] = {**self.options, **more}
        call += "".join(f", {name}={written(value)}" for name, value in options.items())
        if self.kind in {"csv", "json"}:
            own = [kind for _, kind in self.columns]
            known = dict(zip(self.stored_names, own, strict=True))
            known |= dict.fromkeys(self.missing, "VARCHAR")
            told = self.read or tuple(known.items())
            call += f", columns={_struct((name, known.get(name, kind)) for name, kind in told)}"
        query = f"SELECT {self._selected()} FROM {call})"
        if self.missing and self.options.get("ignore_errors"):
            query += f" WHERE {' AND '.join(self._fitting())}"
        return f"SELECT * FROM ({query}) WHERE NOT ({self.without})" if self.without else query

    def _fitting(self) -> Iterator[str]:
        """The conditions of rows whose texts are values of their columns' types."""
        for stored, (_, kind) in zip(self.stored_names, self.columns, strict=True):
            if stored in self.missing:
                yield fits(DUCKDB.quoted(stored), kind, self.missing[stored], self.options)

    def _selected(self) -> str:
        pairs = zip(self.stored_names, self.columns, strict=True)
        return ", ".join(
            f"{self._value(stored, kind)} AS {DUCKDB.quoted(name)}"
            for stored, (name, kind) in pairs
        )

    def _value(self, stored: str, kind: str) -> str:
        column = DUCKDB.quoted(stored)
        if stored in self.missing:
            return value_of(column, kind, self.missing[stored], self.options)
        if self.casts or stored in self.fields:
            return f"CAST({self.fields.get(stored, column)} AS {kind})"
        return column


def size_of(paths: Iterable[Path]) -> int:
    """Bytes of files."""
    return sum(path.stat().st_size for path in paths)


def with_types(columns: Columns, kinds: tuple[str, ...]) -> Columns:
    """The columns with other types, if any are given."""
    if not kinds:
        return columns
    return tuple((name, kind) for (name, _), kind in zip(columns, kinds, strict=True))


_READERS: Mapping[Kind, str] = {"csv": "read_csv", "parquet": "read_parquet", "json": "read_json"}


def written(value: Option) -> str:
    """An option as SQL."""
    if isinstance(value, tuple):
        return _list(value)
    if isinstance(value, str):
        return quote_text(value)
    return str(value).lower()


def _list(values: Iterable[str]) -> str:
    return f"[{', '.join(map(quote_text, values))}]"


def _struct(columns: Iterable[tuple[str, str]]) -> str:
    return (
        "{" + ", ".join(f"{quote_text(name)}: {quote_text(kind)}" for name, kind in columns) + "}"
    )


def _shown(delimiter: str) -> str:
    return {"\t": "tab", " ": "space"}.get(delimiter, delimiter)
