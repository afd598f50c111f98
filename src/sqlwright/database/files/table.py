"""One table over files: how they are read, and what was noticed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from sqlwright.database.files.sources import Kind
from sqlwright.sql.dialects import DUCKDB
from sqlwright.sql.tokens import quote_text

_TOLD = {
    "decimal_separator": "decimal", "thousands": "thousands", "dateformat": "dates",
    "timestampformat": "timestamps",
}  # fmt: skip
"""Options of reading that are told where they are set, and their names for people."""


@dataclass(frozen=True, slots=True)
class TableFile:
    """One table: its files and how they are read."""

    name: str
    kind: Kind
    paths: tuple[Path, ...]
    columns: tuple[tuple[str, str], ...]
    """Names and types in the files' order, as they will be."""
    stored_names: tuple[str, ...]
    """The names of the columns in files that have names inside, as Parquet and JSON."""
    options: Mapping[str, str | bool | int | tuple[str, ...]]
    """DuckDB's options of reading."""
    encoding: str = "utf-8"
    casts: bool = False
    """True if some columns of a Parquet file are of another type than stored."""
    size: int = 0
    """Bytes of all files."""
    notes: tuple[str, ...] = ()
    """Notes, for people, of what was left out or read in another way than the file says."""

    @property
    def told(self) -> str:
        """The way in which the table was read, in one line."""
        first = self.paths[0].name
        more = f" and {len(self.paths) - 1:,} more files" if len(self.paths) > 1 else ""
        parts = [f"From {first}{more}"]
        if self.kind == "csv":
            parts.append(f"delimiter {_shown(str(self.options.get('delim', ',')))}")
            parts.append(self.encoding)
            parts.append("with header" if self.options.get("header") else "without header")
            for key, name in _TOLD.items():
                if key in self.options:
                    parts.append(f"{name} {self.options[key]}")
        return ", ".join(parts) + "."

    def created(self, *, loaded: bool) -> str:
        """The statement that makes the table or, unless it is loaded, a view."""
        made = "TABLE" if loaded else "VIEW"
        return f"CREATE {made} {DUCKDB.quoted(self.name)} AS {self.query()}"

    def query(self, **more: str | bool) -> str:
        """The query that reads the files."""
        call = f"{_READERS[self.kind]}({_list(map(str, self.paths))}"
        options: dict[str, str | bool | int | tuple[str, ...]] = {**self.options, **more}
        call += "".join(f", {name}={_written(value)}" for name, value in options.items())
        if self.kind == "csv":
            call += f", columns={_struct(self.columns)}"
        elif self.kind == "json":
            kinds = (kind for _, kind in self.columns)
            call += f", columns={_struct(zip(self.stored_names, kinds, strict=True))}"
        return f"SELECT {self._selected()} FROM {call})"

    def _selected(self) -> str:
        if self.kind == "csv":
            return ", ".join(DUCKDB.quoted(name) for name, _ in self.columns)
        return ", ".join(
            f"CAST({DUCKDB.quoted(stored)} AS {kind}) AS {DUCKDB.quoted(name)}"
            if self.casts
            else f"{DUCKDB.quoted(stored)} AS {DUCKDB.quoted(name)}"
            for stored, (name, kind) in zip(self.stored_names, self.columns, strict=True)
        )


_READERS: Mapping[Kind, str] = {"csv": "read_csv", "parquet": "read_parquet", "json": "read_json"}


def _written(value: str | bool | int | tuple[str, ...]) -> str:
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
