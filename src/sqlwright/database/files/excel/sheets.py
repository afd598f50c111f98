"""Tables by what a worker told of workbooks. Nothing here sees a cell."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from sqlwright.database.failures import READ_FAILURES, Failure, ReadFailed, read_failure
from sqlwright.database.files.cells import Said, read_columns
from sqlwright.database.files.corrections import NAME, Correction, Corrections, SheetCorrection
from sqlwright.database.files.sources import Source, readable_name
from sqlwright.database.files.sums import left_out_totals, unsure_total
from sqlwright.database.files.table import Doubt, SheetPart, TableFile, size_of, together
from sqlwright.database.reader import DatabaseReader
from sqlwright.errors import ConfigError
from sqlwright.sql.dialects import DUCKDB

Asking = Callable[[Mapping[str, Any]], AbstractContextManager[DatabaseReader]]
_SECONDS = 30.0
"""The time that reading one workbook may take."""


def sheet_tables(
    ask: Asking, source: Source, corrections: Corrections
) -> tuple[list[TableFile], list[str]]:
    """The tables that sheets of some workbooks make, and notes of what is left out. Raises the
    failures of reading and ConfigError."""
    tables: dict[str, list[TableFile]] = {}
    notes: list[str] = []
    said: set[str] = set()
    told = {path: _told(ask, path, corrections) for path in source.paths}
    found: list[tuple[TableFile, dict[str, Any], SheetCorrection]] = []
    several = any(len(_with_tables(one)) > 1 for one in told.values())
    for path, one in told.items():
        notes += _left_out(path, one)
        _require_sheets(path, one, corrections.of(path))
        for sheet in _with_tables(one):
            correction = corrections.of(path).of_sheet(sheet["name"])
            name = correction.table or (readable_name(sheet["name"]) if several else source.name)
            if correction.table is not None:
                said.add(name)
            found.append((_table(name, path, sheet, correction), sheet, correction))
    for table in _with_texts(ask, found):
        tables.setdefault(table.name, []).append(table)
    made: list[TableFile] = []
    for name, parts in tables.items():
        made += _made(parts, said=name in said)
    if not made:
        raise ReadFailed(Failure("unavailable", "no sheet of it holds a table"))
    return made, notes


def _told(ask: Asking, path: Path, corrections: Corrections) -> dict[str, Any]:
    """A worker's word on a workbook. Raises ReadFailed."""
    started = time.monotonic()
    asked = {"path": str(path), "readings": corrections.of(path).readings, "table": "told"}
    try:
        with ask({"workbook": asked}) as reader, reader.within(_SECONDS):
            ((text,),) = reader.rows("SELECT told FROM told")
    except READ_FAILURES as error:
        failure = read_failure(error)
        if failure.kind == "interrupted" and time.monotonic() >= started + _SECONDS:
            message = f"reading it takes longer than {_SECONDS:g} s"
            raise ReadFailed(Failure("unavailable", message, "slow")) from None
        if failure.kind == "memory":
            message = "it is damaged, or reading it needs more memory than it may take"
            raise ReadFailed(Failure("unavailable", message, "damaged")) from None
        raise
    told: dict[str, Any] = json.loads(str(text))
    return told


def _require_sheets(path: Path, told: Mapping[str, Any], correction: Correction) -> None:
    """Raise ConfigError for a correction of a sheet that isn't there."""
    names = [sheet["name"] for sheet in told["sheets"]]
    for pattern in correction.sheets:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise ConfigError(
                f"{NAME}: {path.name} has no sheet {pattern}",
                hint=f"There are: {', '.join(names[:40])}.",
            )


def _with_tables(told: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [sheet for sheet in told["sheets"] if "left_out" not in sheet]


def _left_out(path: Path, told: Mapping[str, Any]) -> Iterator[str]:
    """Notes of sheets without a table, and of cells that hold errors."""
    for sheet in told["sheets"]:
        if sheet.get("left_out"):
            yield f"{path.name}: the sheet {sheet['name']} is left out: {sheet['left_out']}."
    if count := told["errors"]:
        cells = "1 cell that holds" if count == 1 else f"{count:,} cells that hold"
        yield f"{path.name}: {cells} an error, such as #N/A or #DIV/0!, count as empty."


def _table(
    name: str, path: Path, sheet: Mapping[str, Any], correction: SheetCorrection
) -> TableFile:
    stored = tuple(zip(sheet["names"], sheet["types"], strict=True))
    columns = correction.applied(stored, f"{path.name}, sheet {sheet['name']},")
    names = tuple(own for own, _ in columns)
    part = SheetPart(
        path, sheet["name"], sheet["header"], sheet["first"], sheet["end"],
        tuple(sheet["columns"]), tuple(sheet["names"]), names, merged=bool(sheet["merged"]),
        nulls=tuple(map(tuple, sheet["nulls"])), without=tuple(sheet["without"]),
    )  # fmt: skip
    empty = zip(names, sheet["filled"], strict=True)
    return TableFile(
        name, "excel", (path,), columns, part.stored, {}, size=size_of((path,)), sheets=(part,),
        empty=frozenset(own for own, filled in empty if not filled),
        notes=tuple(_noticed(sheet, names, correction)),
        doubts=tuple(Doubt(unsure_total(label)) for label in sheet["unsure"]),
    )  # fmt: skip


def _with_texts(
    ask: Asking, found: Sequence[tuple[TableFile, dict[str, Any], SheetCorrection]]
) -> Iterator[TableFile]:
    """The tables, their columns of texts read as what those say."""
    stored = [
        replace(table, name=f"t{at}", columns=tuple(zip(
            (name for name, _ in table.columns), sheet["types"], strict=True
        )))
        for at, (table, sheet, _) in enumerate(found)
    ]  # fmt: skip
    if not any("VARCHAR" in sheet["types"] or said.types for _, sheet, said in found):
        yield from (table for table, _, _ in found)
        return
    with ask({"sheets": [table.filled() for table in stored]}) as reader, reader.within(_SECONDS):
        for (table, sheet, correction), raw in zip(found, stored, strict=True):
            yield _read(reader, table, raw, sheet, correction)


def _read(
    reader: DatabaseReader, table: TableFile, raw: TableFile, sheet: Mapping[str, Any],
    correction: SheetCorrection,
) -> TableFile:  # fmt: skip
    renamed = dict(zip(sheet["names"], (name for name, _ in table.columns), strict=True))
    types = {renamed[name]: kind for name, kind in correction.types.items()}
    texts = [name for name, kind in raw.columns if kind == "VARCHAR" or name in types]
    names = ", ".join(
        f"CAST({column} AS VARCHAR) AS {column}" for column in map(DUCKDB.quoted, texts)
    )
    unfit = "empty" if correction.unfit == "leave_out" else correction.unfit
    said = Said(types, None, None, None, correction.dateformat, correction.timestampformat, unfit)
    if not texts:
        return table
    query = f"SELECT {names} FROM {DUCKDB.quoted(raw.name)}"
    cells = read_columns(reader, query, texts, said)
    marks = {name: one.marks for name, one in cells.items() if one.marks and one.kind != "VARCHAR"}
    mixed = [name for name, is_so in zip(renamed.values(), sheet["mixed"], strict=True)
             if is_so and cells[name].kind == "VARCHAR"]  # fmt: skip
    typed = [name for name, one in cells.items() if one.kind != "VARCHAR" and name not in types]
    notes = [
        f"{what}: {', '.join(those)}."
        for what, those in (
            ("Columns that hold values of several kinds are text", mixed),
            ("Numbers and dates that are written as text are read as such", typed),
        )
        if those
    ]
    notes += (f"{name}: {', '.join(those)} counts as no value." for name, those in marks.items())
    values = {name: one.sql("{c}") for name, one in cells.items() if one.kind != "VARCHAR"}
    return replace(
        table,
        columns=tuple((n, cells[n].kind if n in cells else kind) for n, kind in raw.columns),
        sheets=tuple(replace(part, values=values) for part in table.sheets),
        notes=(*table.notes, *notes),
        doubts=(
            *table.doubts,
            *(Doubt(text, name) for name in texts for text in cells[name].doubts),
        ),
        details=tuple(text for one in cells.values() for text in one.details),
    )


def _noticed(
    sheet: Mapping[str, Any], names: tuple[str, ...], correction: SheetCorrection
) -> Iterator[str]:
    """Notes on what was read in another way than the cells say."""
    if sheet["above"] and correction.skip is None:
        yield f"Rows above the header that are left out: {sheet['above']}."
    if sheet["below"]:
        yield f"Rows below the table that are left out: {sheet['below']}."
    if sheet["without"] and correction.total_row is None:
        yield left_out_totals(len(sheet["without"]))
    if sheet["merged"]:
        yield "Cells merged over several rows have their value in each of them."
    blank = [name for name, stored in zip(names, sheet["blank"], strict=True) if stored]
    if blank and sheet["header"] is not None:
        yield f"Columns without a name: {', '.join(blank)}."
    if sheet["again"]:
        yield f"Names that come more than once have a number: {', '.join(sheet['again'])}."
    for name, missing in zip(names, sheet["missing"], strict=True):
        if missing:
            yield f"{name}: {', '.join(missing)} counts as no value."


def _made(parts: list[TableFile], *, said: bool) -> Iterator[TableFile]:
    """One table of sheets that are alike, in workbooks of their own unless the user has said that
    they are one; else one of each."""
    if len(parts) == 1:
        yield parts[0]
        return
    files = {one.paths[0] for one in parts}
    whole = together(parts, said=said) if said or len(files) == len(parts) else None
    if whole is not None:
        yield replace(whole, notes=(*whole.notes, f"{len(parts):,} sheets are one table."))
        return
    for one in parts:
        yield replace(one, name=readable_name(f"{one.paths[0].stem} {one.sheets[0].sheet}"))
