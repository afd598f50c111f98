"""Description files in BIRD's layout: one CSV per table, in `database_description/` beside the
database, with the columns original_column_name, column_name, column_description, data_format and
value_description.

Such files are written by people: the reader takes any of the usual encodings, odd headers, blank
lines and short rows, and reports what it couldn't place as notes instead of failing.
"""

from __future__ import annotations

import codecs
import csv
import difflib
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sqlwright.errors import WorkspaceError
from sqlwright.schema import Column, Schema, Table

FOLDER = "database_description"
LONGEST_FILE = 16 * 1024 * 1024
"""Bytes of a description file at most; larger ones are noted and left out."""
LONGEST_TEXT = 4_000
"""Characters of one description that are kept; a prompt has no room for more."""

_HEADERS = {
    "original_column_name": "name",
    "original_name": "name",
    "column": "name",
    "column_name": "label",
    "column_description": "description",
    "description": "description",
    "data_format": "format",
    "value_description": "values",
    "values": "values",
}


@dataclass(frozen=True, slots=True)
class DescribedColumn:
    """One row of a description file."""

    name: str
    """The stored column name, as the file spells it."""
    label: str = ""
    description: str = ""
    value_description: str = ""


@dataclass(frozen=True, slots=True)
class Descriptions:
    """Descriptions of one folder's files, by file stem, and notes on what couldn't be read."""

    tables: Mapping[str, tuple[DescribedColumn, ...]]
    unread: Mapping[str, str] = field(default_factory=dict)
    """Notes on the files that couldn't be read, by file stem."""


def find_descriptions(database: Path) -> Path | None:
    """The description folder beside a database file, None when there is none."""
    try:
        folders = [path for path in database.resolve().parent.iterdir() if path.is_dir()]
    except OSError:
        return None
    return next((path for path in folders if path.name.casefold() == FOLDER), None)


def check_folder(folder: Path) -> None:
    """Raise `WorkspaceError` when there is no such folder."""
    if not folder.is_dir():
        raise WorkspaceError(
            f"{folder} is not a folder of description files",
            hint="Give the folder that holds one CSV file per table.",
        )


def read_descriptions(folder: Path) -> Descriptions:
    """Read every CSV file of a folder. Raises `WorkspaceError` when there is no such folder."""
    check_folder(folder)
    tables: dict[str, tuple[DescribedColumn, ...]] = {}
    unread: dict[str, str] = {}
    for path in sorted(folder.iterdir()):
        if path.suffix.casefold() != ".csv" or path.name.startswith("."):
            continue
        try:
            if path.stat().st_size > LONGEST_FILE:
                unread[path.stem] = (
                    f"Description file {path.name} is larger than 16 MB and was not read."
                )
                continue
            tables[path.stem] = parse_descriptions(path.read_bytes())
        except (OSError, csv.Error, ValueError) as error:
            unread[path.stem] = f"Description file {path.name} could not be read: {error}."
    return Descriptions(tables, unread)


def parse_descriptions(content: bytes) -> tuple[DescribedColumn, ...]:
    """The rows of one description file. Raises `ValueError` when no header can be made out."""
    text = _decoded(content)
    rows = [row for row in _rows(text) if any(cell.strip() for cell in row)]
    if not rows:
        return ()
    at, positions = _header(rows)
    described = []
    for row in rows[at + 1 :]:
        cells = {
            role: " ".join(row[index].split())[:LONGEST_TEXT]
            for role, index in positions.items()
            if index < len(row)
        }
        if name := cells.get("name", ""):
            described.append(
                DescribedColumn(
                    name,
                    cells.get("label", ""),
                    cells.get("description", ""),
                    cells.get("values", ""),
                )
            )
    return tuple(described)


def only_for(schema: Schema, descriptions: Descriptions) -> Descriptions:
    """The files that fit a table of the schema. The others' names may be those of tables that
    aren't to be known of."""
    names = [table.name for table in schema.tables]
    fit = {stem for stem in {*descriptions.tables, *descriptions.unread} if _find(stem, names)}
    return Descriptions(
        {stem: rows for stem, rows in descriptions.tables.items() if stem in fit},
        {stem: note for stem, note in descriptions.unread.items() if stem in fit},
    )


def describe(schema: Schema, descriptions: Descriptions) -> tuple[Schema, tuple[str, ...]]:
    """The schema with labels and descriptions, and notes on what fits no table or column."""
    notes = list(descriptions.unread.values())
    by_table: dict[str, dict[str, DescribedColumn]] = {}
    for stem, described in descriptions.tables.items():
        table = _find(stem, [table.name for table in schema.tables])
        if table is None:
            notes.append(f"Description file {stem}.csv fits no table of the database.")
            continue
        names = [column.name for column in (schema.table(table) or Table("", ())).columns]
        placed = by_table.setdefault(table, {})
        unplaced = []
        for entry in described:
            name = _find(entry.name, names)
            if name is None:
                unplaced.append(entry.name)
            else:
                placed.setdefault(name, entry)
        if unplaced:
            notes.append(
                f"Description file {stem}.csv describes columns that {table} doesn't have: "
                + ", ".join(unplaced[:5])
                + (f" and {len(unplaced) - 5} more." if len(unplaced) > 5 else ".")
            )
    tables = tuple(_described_table(table, by_table.get(table.name, {})) for table in schema.tables)
    return replace(schema, tables=tables), tuple(notes)


def _described_table(table: Table, entries: Mapping[str, DescribedColumn]) -> Table:
    if not entries:
        return table
    columns = tuple(
        _described_column(column, entries[column.name]) if column.name in entries else column
        for column in table.columns
    )
    return replace(table, columns=columns)


def _described_column(column: Column, entry: DescribedColumn) -> Column:
    label = "" if entry.label.casefold() == column.name.casefold() else entry.label
    description = "" if entry.description.casefold() == label.casefold() else entry.description
    return replace(
        column,
        label=label or column.label,
        description=description or column.description,
        value_description=entry.value_description or column.value_description,
    )


def _decoded(content: bytes) -> str:
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16")
    for encoding in ("utf-8-sig", "cp1252"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    return content.decode("latin-1")  # never fails; only five bytes differ from cp1252


def _rows(text: str) -> Iterator[list[str]]:
    first = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = max((",", ";", "\t"), key=first.count)
    return iter(
        csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    )


def _header(rows: Sequence[Sequence[str]]) -> tuple[int, dict[str, int]]:
    """Index of the header among the first lines, and the column index of each role."""
    for at, row in enumerate(rows[:3]):
        positions: dict[str, int] = {}
        for index, cell in enumerate(row):
            key = "_".join(cell.strip().strip("\ufeff").casefold().replace("-", " ").split())
            close = difflib.get_close_matches(key, _HEADERS, n=1, cutoff=0.85)
            if close:
                positions.setdefault(_HEADERS[close[0]], index)
        if len(positions) >= 2:
            if "name" not in positions:
                positions["name"] = positions.get("label", 0)
            return at, positions
    raise ValueError("it has no header line with original_column_name")


def _find(name: str, among: Sequence[str]) -> str | None:
    """The exact spelling of a name: by itself, else by letters and digits only when just one
    fits."""
    stripped = name.strip().casefold()
    for candidate in among:
        if candidate.strip().casefold() == stripped:
            return candidate
    key = _letters(name)
    close = [candidate for candidate in among if key and _letters(candidate) == key]
    return close[0] if len(close) == 1 else None


def _letters(name: str) -> str:
    return "".join(char for char in name.casefold() if char.isalnum())
