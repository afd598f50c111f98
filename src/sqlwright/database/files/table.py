"""One table over files: how they are read, and what was noticed; tables of files that are alike, as
one table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from sqlwright.database.files.cells import ColumnReading
from sqlwright.database.files.encodings import DECODED, address_of
from sqlwright.database.files.sources import Kind
from sqlwright.sql.dialects import DUCKDB
from sqlwright.sql.tokens import quote_text

Option = str | bool | int | tuple[str, ...]
"""The value of an option of DuckDB's readers."""
Columns = tuple[tuple[str, str], ...]
"""Names and types."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A reason why an answer may be wrong, whatever its query."""

    text: str
    column: str = ""
    """The column that it is of; empty for all rows of the table."""


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
    nulls: tuple[tuple[str, ...], ...]
    """The texts that stand for no value, of each column."""
    without: tuple[int, ...] = ()
    """The rows of totals."""
    values: Mapping[str, str] = field(default_factory=dict)
    """The SQL of texts as values, by the names of the table's columns; {c} stands for a cell."""

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
    cells: Mapping[str, ColumnReading] = field(default_factory=dict)
    """The readings of columns that hold texts, by their names in `stored_names`."""
    without: str = ""
    """The condition of rows that are left out, in DuckDB's SQL over the texts."""
    parts: tuple[TableFile, ...] = ()
    """Files that are read in different ways, put together by the names of columns."""
    sheets: tuple[SheetPart, ...] = ()
    """The places of the table in workbooks."""
    notes: tuple[str, ...] = ()
    """Notes, for people, of what was left out or read in another way than the file says."""
    doubts: tuple[Doubt, ...] = ()
    quoting: tuple[str, ...] = ()
    """Notes that quote cells, for people alone: no schema has them."""
    unsure_header: bool = False
    """True if its names may be values: its first line looks like the others."""
    details: tuple[str, ...] = ()
    """The guesses about columns, and how many cells each concerns."""

    @property
    def all_notes(self) -> tuple[str, ...]:
        """The notes, those that are reasons for doubt first."""
        doubts = (one.text for one in self.doubts)
        return tuple(dict.fromkeys((*doubts, *self.notes, *self.quoting)))

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
            row = self.sheets[0].header
            parts.append("without header" if row is None else f"header in row {row + 1}")
        if self.kind == "csv":
            parts.append(f"delimiter {_shown(str(self.options.get('delim', ',')))}")
            parts.append(self.encoding)
            header = "header guessed" if self.unsure_header else "with header"
            parts.append(header if self.options.get("header") else "without header")
        parts += (f"{what} {' and '.join(said)}" for what, said in self.said().items())
        return ", ".join(parts) + "."

    @property
    def reading(self) -> str:
        """All that decides what rows are read of the files; the same as long as it is."""
        return f"{self.filled() if self.sheets else self.query()} {self.encoding}"

    def neutral(self) -> TableFile:
        """The table, names that may be values in place of a header a row of it."""
        if not self.unsure_header or self.parts:
            parts = tuple(one.neutral() for one in self.parts)
            return replace(self, parts=parts) if parts else self
        names = tuple(f"column{at}" for at in range(len(self.columns)))
        note = "Its first line may hold values, so columns have no names: correct by header."
        columns = zip(names, self.columns, strict=True)
        return replace(
            self, options={**self.options, "header": False}, stored_names=names, cells={},
            columns=tuple((name, kind) for name, (_, kind) in columns),
            read=(), notes=(*self.notes, note), unsure_header=False,
        )  # fmt: skip

    def created(self, *, loaded: bool) -> str:
        """The statement that makes the table or, unless it is loaded, a view."""
        made = "TABLE" if loaded else "VIEW"
        return f"CREATE {made} {DUCKDB.quoted(self.name)} AS {self.query()}"

    def filled(self) -> dict[str, object]:
        """The table as a worker takes it that loads it from workbooks."""
        parts = [part.opening() for part in self.sheets]
        return {"table": self.name, "columns": self.columns, "parts": parts}

    def said(self) -> dict[str, list[str]]:
        """The signs and formats of numbers and days, the commonest of each first."""
        told: dict[str, Counter[str]] = {}
        for one in self.cells.values():
            if one.decimal == "," or one.thousands:
                told.setdefault("decimal", Counter())[one.decimal] += 1
            if one.thousands:
                told.setdefault("thousands", Counter())[one.thousands] += 1
            for written in one.formats:
                key = "dates" if one.kind == "DATE" else "timestamps"
                told.setdefault(key, Counter())[written] += 1
        return {what: [one for one, _ in counts.most_common()] for what, counts in told.items()}

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
            known |= {name: "VARCHAR" for name, one in self.cells.items() if not self._plain(one)}
            told = self.read or tuple(known.items())
            call += f", columns={_struct((name, known.get(name, kind)) for name, kind in told)}"
        query = f"SELECT {self._selected()} FROM {call})"
        kept = [one.kept(self._raw(name)) for name, one in self.cells.items() if one.fits]
        kept += [f"NOT ({self.without})"] * bool(self.without)
        return f"{query} WHERE {' AND '.join(kept)}" if kept else query

    def _plain(self, one: ColumnReading) -> bool:
        """True if the reader itself makes values of a column's texts."""
        return one.plain and self.kind == "csv" and not self.without

    def _raw(self, stored: str) -> str:
        return self.fields.get(stored, DUCKDB.quoted(stored))

    def _selected(self) -> str:
        pairs = zip(self.stored_names, self.columns, strict=True)
        return ", ".join(
            f"{self._value(stored, kind)} AS {DUCKDB.quoted(name)}"
            for stored, (name, kind) in pairs
        )

    def _value(self, stored: str, kind: str) -> str:
        raw, one = self._raw(stored), self.cells.get(stored)
        if one is None:
            return f"CAST({raw} AS {kind})" if self.casts or stored in self.fields else raw
        if self._plain(one) or (kind == "VARCHAR" and one.kind != kind):
            return raw
        value = one.sql(raw)
        return value if one.kind == kind else f"CAST({value} AS {kind})"


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


_NUMBERS = ("BIGINT", "HUGEINT", "DOUBLE")
"""Types of numbers, the narrowest first."""


def together(tables: Sequence[TableFile], *, said: bool = False) -> TableFile | None:
    """One table of the rows of several, by the names of their columns; None where too few names
    are the same and the user hasn't `said` that they are one. A column that some lack is empty for
    their rows."""
    columns = union(tables)
    if not said and not _alike(tables):
        return None
    first = tables[0]
    made = tuple(_as_part(one, columns) for one in tables)
    paths = tuple(path for one in tables for path in one.paths)
    notes = list(dict.fromkeys(note for one in tables for note in one.notes))
    return replace(
        first, paths=paths, columns=columns,
        stored_names=tuple(name for name, _ in columns),
        size=sum(one.size for one in tables),
        empty=frozenset.intersection(*(one.empty for one in tables)),
        parts=() if first.sheets else made,
        sheets=tuple(part for one in made for part in one.sheets),
        notes=(*notes, *_lacking(tables, columns)),
        doubts=tuple(dict.fromkeys(doubt for one in tables for doubt in one.doubts)),
        details=tuple(dict.fromkeys(text for one in tables for text in one.details)),
        quoting=tuple(dict.fromkeys(text for one in tables for text in one.quoting)),
        unsure_header=any(one.unsure_header for one in tables),
    )  # fmt: skip


def _wider(kinds: set[str]) -> str:
    """The type that holds values of all of these."""
    if len(kinds) == 1:
        return next(iter(kinds))
    if kinds <= set(_NUMBERS):
        return max(kinds, key=_NUMBERS.index)
    return "TIMESTAMP" if kinds == {"DATE", "TIMESTAMP"} else "VARCHAR"


def union(tables: Sequence[TableFile]) -> Columns:
    """All columns, each where it first stands, and the types that hold their values."""
    names: dict[str, str] = {}
    kinds: dict[str, set[str]] = {}
    for one in tables:
        for name, kind in one.columns:
            key = name.lower()
            names.setdefault(key, name)
            held = kinds.setdefault(key, set())
            if name not in one.empty:
                held.add(kind)
    return tuple((name, _wider(kinds[key] or {"VARCHAR"})) for key, name in names.items())


def _alike(tables: Sequence[TableFile]) -> bool:
    """True if each has more than two thirds of the columns that most files have, and those are more
    than half of its own."""
    files = sum(len(one.paths) for one in tables)
    count: Counter[str] = Counter()
    for one in tables:
        count.update({name.lower(): len(one.paths) for name, _ in one.columns})
    common = {name for name, times in count.items() if 2 * times > files}
    shared = [
        (len(common & {n.lower() for n, _ in one.columns}), len(one.columns)) for one in tables
    ]
    return all(3 * same > 2 * len(common) and 2 * same > own for same, own in shared)


def _as_part(one: TableFile, columns: Columns) -> TableFile:
    """The same with the names and types of the whole."""
    whole = {name.lower(): (name, kind) for name, kind in columns}
    own = tuple(whole[name.lower()] for name, _ in one.columns)
    told = {name: whole[name.lower()][0] for name, _ in one.columns}
    return replace(
        one, columns=own, casts=one.casts or one.kind == "parquet",
        sheets=tuple(
            replace(
                part, names=tuple(told[name] for name in part.names),
                values={told[name]: value for name, value in part.values.items()},
            )
            for part in one.sheets
        ),
    )  # fmt: skip


def _lacking(tables: Sequence[TableFile], columns: Columns) -> Iterator[str]:
    for name, _ in columns:
        lack = [
            one for one in tables if name.lower() not in {own.lower() for own, _ in one.columns}
        ]
        if lack:
            files = [path for one in lack for path in one.paths]
            others = f" and {len(files) - 1:,} more" if len(files) > 1 else ""
            what = lack[0].sheets[0].sheet if lack[0].sheets and not others else files[0].name
            yield f"{name} isn't in {what}{others}, so it is empty in the rows from there."
