"""Workbooks put into DuckDB's memory, inside a worker process, before its connection is locked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from sqlwright.database.failures import Failure, ReadFailed
from sqlwright.database.files.excel.kinds import for_type, kind_of_column
from sqlwright.database.files.excel.layout import (
    filled_down,
    found_layout,
    total_rows,
    without_blanks,
)
from sqlwright.database.files.excel.workbook import (
    MOST_CELLS,
    TOO_MANY,
    Sheet,
    Workbook,
    errors,
    opened,
)
from sqlwright.sql.dialects import DUCKDB

if TYPE_CHECKING:
    from sqlwright.database.files.excel.workbook import Found

    Run = Callable[[str, list[Any]], object]
    """Runs a statement with its parameters."""

_CHUNK_ROWS = 2_048
"""Rows that are inserted at a time."""


def fill(run: Run, opening: Mapping[str, Any]) -> None:
    """Make the tables that an opening asks for: what a workbook holds (`workbook`), as JSON in
    one cell, or the sheets themselves (`sheets`). Raises ReadFailed."""
    if "workbook" in opening:
        asked = opening["workbook"]
        name = DUCKDB.quoted(asked["table"])
        run(f"CREATE TABLE {name} AS SELECT ? AS told", [json.dumps(_told(asked))])
    room = MOST_CELLS
    for made in opening.get("sheets", ()):
        columns = ", ".join(f"{DUCKDB.quoted(name)} {kind}" for name, kind in made["columns"])
        run(f"CREATE TABLE {DUCKDB.quoted(made['table'])} ({columns})", [])
        for part in made["parts"]:
            room -= (part["end"] - part["first"]) * len(part["columns"])
            if room < 0:
                raise ReadFailed(Failure("unavailable", f"its sheets have {TOO_MANY}"))
            _load(run, made, part)


def _told(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The sheets of a workbook: what each holds as a table, or why it is left out."""
    with opened(asked["path"]) as book:
        sheets = [
            _of_sheet(book, entry.name, entry.visible, _reading(asked["readings"], entry.name))
            for entry in book.entries
        ]
    return {"sheets": sheets, "errors": errors(asked["path"])}


def _reading(readings: Sequence[tuple[str, dict[str, Any]]], name: str) -> dict[str, Any]:
    """The corrections of a sheet; what stands later prevails."""
    told: dict[str, Any] = {}
    for pattern, one in readings:
        if fnmatchcase(name, pattern):
            told |= one
    return told


def _of_sheet(
    book: Workbook, name: str, visible: bool, reading: Mapping[str, Any]
) -> dict[str, Any]:
    if reading.get("leave_out"):
        return {"name": name, "left_out": ""}
    if not visible and reading.get("leave_out") is None:
        return {"name": name, "left_out": "it is hidden"}
    sheet = book.sheet(name)
    rows = [without_blanks(row) for row in sheet.rows]
    given = filled_down(rows, sheet.merged, sheet.column)
    layout = found_layout(
        rows, sheet.merged, sheet.column, header=reading.get("header"), skip=reading.get("skip")
    )
    if layout is None:
        return {"name": name, "left_out": "it is empty"}
    places = [
        at for at in range(layout.first, layout.end)
        if any(rows[at][column] is not None for column in layout.columns)
    ]  # fmt: skip
    said = reading.get("total_row")
    taken, unsure = total_rows([rows[at] for at in places], layout.columns)
    if said is not None:
        taken, unsure = ((len(places) - 1,) if said and places else ()), ()
    without = {places[at] for at in taken}
    data = [rows[at] for at in places if at not in without]
    nulls = _nulls(reading.get("nulls") or (), layout.names)
    kinds = [
        kind_of_column(_value(row[at], those) for row in data)
        for at, those in zip(layout.columns, nulls, strict=True)
    ]
    return {
        "name": name, "names": layout.names, "types": [one.type for one in kinds],
        "filled": [one.filled for one in kinds], "missing": [one.missing for one in kinds],
        "mixed": [one.mixed for one in kinds], "header": layout.header, "first": layout.first,
        "end": layout.end, "without": sorted(without), "unsure": unsure,
        "columns": layout.columns, "nulls": [sorted(those) for those in nulls],
        "above": layout.above, "below": layout.below,
        "blank": layout.blank, "again": layout.again,
        "merged": any(layout.first <= at < layout.end for at in given),
    }  # fmt: skip


def _load(run: Run, made: Mapping[str, Any], part: Mapping[str, Any]) -> None:
    """Insert the rows of one sheet."""
    kinds = dict(made["columns"])
    told = [kinds[name] for name in part["names"]]
    nulls = [frozenset(those) for those in part["nulls"]]
    targets = ", ".join(map(DUCKDB.quoted, part["names"]))
    with opened(part["path"]) as book:
        for chunk in _chunks(book.sheet(part["sheet"]), part):
            columns = [
                for_type(
                    "VARCHAR" if name in part["values"] else kind,
                    [_value(row[at], those) for row in chunk],
                )
                for at, kind, those, name in zip(
                    part["columns"], told, nulls, part["names"], strict=True
                )
            ]
            cast = ", ".join(
                part["values"].get(name, f"TRY_CAST({{c}} AS {kind})").replace("{c}", f"c{at}")
                for at, (kind, name) in enumerate(zip(told, part["names"], strict=True))
            )
            given = ", ".join(f"unnest(?) AS c{at}" for at in range(len(columns)))
            run(
                f"INSERT INTO {DUCKDB.quoted(made['table'])} ({targets}) "
                f"SELECT {cast} FROM (SELECT {given})",
                columns,
            )


def _chunks(sheet: Sheet, part: Mapping[str, Any]) -> Iterator[list[list[Found | None]]]:
    rows = _rows(sheet, part)
    used, chunk = part["columns"], []
    for row in rows:
        if any(row[at] is not None for at in used):
            chunk.append(row)
        if len(chunk) >= _CHUNK_ROWS:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _rows(sheet: Sheet, part: Mapping[str, Any]) -> Iterator[list[Found | None]]:
    """The rows of the table, one by one unless cells have to be filled from those above."""
    without = frozenset(part["without"])
    rows: Iterable[list[Found | None]] = map(without_blanks, sheet.rows)
    if part["merged"]:
        rows = list(rows)
        filled_down(rows, sheet.merged, sheet.column)
    for at, row in enumerate(rows):
        if at >= part["end"]:
            return
        if at >= part["first"] and at not in without:
            yield row


def _nulls(
    said: Sequence[str] | Mapping[str, Sequence[str]], names: Sequence[str]
) -> list[frozenset[str]]:
    """The texts that stand for no value, of each column."""
    if isinstance(said, Mapping):
        return [frozenset(said.get(name, ())) for name in names]
    return [frozenset(said)] * len(names)


def _value(cell: Found | None, nulls: frozenset[str]) -> Found | None:
    return None if isinstance(cell, str) and cell.strip() in nulls else cell
