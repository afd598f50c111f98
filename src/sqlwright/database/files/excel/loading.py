"""Workbooks put into DuckDB's memory, inside a worker process, before its connection is locked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Literal, TypeGuard

from sqlwright.database.failures import Failure, ReadFailed
from sqlwright.database.files.excel.workbook import (
    MOST_CELLS,
    TOO_MANY,
    Sheet,
    Workbook,
    errors,
    opened,
)
from sqlwright.database.files.shapes import MISSING
from sqlwright.database.files.sums import LABEL, Row, totals
from sqlwright.sql.dialects import DUCKDB

if TYPE_CHECKING:
    from sqlwright.database.files.excel.workbook import Found, Range

    Run = Callable[[str, list[Any]], object]
    """Runs a statement with its parameters."""
    Kind = Literal["bool", "int", "float", "date", "datetime", "time", "span", "text"]

_MOST_WHOLE = 2**53
"""From here on not every whole number is a number of a spreadsheet's."""
_TYPES: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset({"bool"}), "BOOLEAN"),
    (frozenset({"int"}), "BIGINT"),
    (frozenset({"int", "float"}), "DOUBLE"),
    (frozenset({"date"}), "DATE"),
    (frozenset({"date", "datetime"}), "TIMESTAMP"),
    (frozenset({"time"}), "TIME"),
    (frozenset({"time", "span"}), "INTERVAL"),
)
"""The narrowest type that holds cells of these kinds comes first."""


@dataclass(frozen=True, slots=True)
class ColumnKind:
    """The type of a column, and how it was found."""

    type: str
    """DuckDB's name of it."""
    filled: int
    """Cells that hold a value."""
    missing: tuple[str, ...] = ()
    """Texts that stand for no value."""
    mixed: bool = False
    """True if it is text since nothing else holds all of it."""


def kind_of_column(cells: Iterable[Found | None]) -> ColumnKind:
    """The narrowest type that holds all cells; None are empty ones."""
    kinds: set[str] = set()
    texts: set[str] = set()
    filled = missing = 0
    for cell in cells:
        if cell is None:
            continue
        filled += 1
        kind = _kind(cell)
        if kind == "text":
            texts.add(str(cell).strip())
            missing += str(cell).strip().lower() in MISSING
        else:
            kinds.add(kind)
    others = {text for text in texts if text.lower() not in MISSING}
    found = _narrowest(kinds) if kinds else None
    if found is None or others:
        return ColumnKind("VARCHAR", filled, mixed=bool(kinds))
    return ColumnKind(found, filled - missing, tuple(sorted(texts)))


def written(cell: Found) -> str:
    """A cell as text."""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < _MOST_WHOLE:
        return str(int(cell))
    if isinstance(cell, datetime):
        return cell.isoformat(" ")
    return cell.isoformat() if isinstance(cell, (date, time)) else str(cell)


def for_type(kind: str, cells: Sequence[Found | None]) -> list[Found | None]:
    """Cells of one Python type each, that cast to a type of DuckDB's."""
    if kind == "VARCHAR" or any(isinstance(cell, str) for cell in cells):
        return [None if cell is None else written(cell) for cell in cells]
    if kind == "BIGINT":
        return [int(c) if isinstance(c, float) and c.is_integer() else c for c in cells]
    if kind == "INTERVAL":
        return [_span(cell) for cell in cells]
    if kind == "TIMESTAMP":
        return [_moment(cell) for cell in cells]
    if len({type(cell) for cell in cells if cell is not None}) > 1:
        return [None if cell is None else written(cell) for cell in cells]
    return list(cells)


def _kind(cell: Found) -> Kind:
    if isinstance(cell, bool):
        return "bool"
    if isinstance(cell, (int, float)):
        whole = float(cell).is_integer() and abs(cell) < _MOST_WHOLE
        return "int" if whole else "float"
    if isinstance(cell, datetime):
        return "datetime" if cell.time() != time() else "date"
    if isinstance(cell, date):
        return "date"
    if isinstance(cell, time):
        return "time"
    return "span" if isinstance(cell, timedelta) else "text"


def _narrowest(kinds: set[str]) -> str | None:
    return next((name for held, name in _TYPES if kinds <= held), None)


def _span(cell: Found | None) -> Found | None:
    if isinstance(cell, time):
        return timedelta(
            hours=cell.hour, minutes=cell.minute, seconds=cell.second, microseconds=cell.microsecond
        )
    return cell


def _moment(cell: Found | None) -> Found | None:
    if isinstance(cell, date) and not isinstance(cell, datetime):
        return datetime(cell.year, cell.month, cell.day)
    return cell


Cells = Sequence["Found | None"]
"""A row without what is empty: None stands there."""

_LOOKED_AT = 100
"""Rows at the beginning in which the header has to be."""
_YEARS = range(1900, 2101)
"""Whole numbers that may be names of columns."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The place of a table. Rows and columns are counted from 0, columns from the first in use."""

    header: int | None
    first: int
    """The first row of data."""
    end: int
    """The row after the last one of data."""
    columns: tuple[int, ...]
    names: tuple[str, ...]
    blank: tuple[bool, ...]
    """The columns whose names are made up."""
    again: tuple[str, ...]
    """Names with a number, since they come more than once."""
    above: int
    """Rows with something in them before the header."""
    below: int
    """The same after the last one of data."""


def without_blanks(row: Sequence[Found]) -> list[Found | None]:
    """The same with None for empty cells and those of blanks alone."""
    return [None if isinstance(cell, str) and not cell.strip() else cell for cell in row]


def filled_down(rows: list[list[Found | None]], merged: Sequence[Range], column: int) -> set[int]:
    """Give each cell of cells merged over several rows their value; the rows it went to."""
    given = set()
    for (top, left), (bottom, _) in merged:
        at = left - column
        if bottom == top or top >= len(rows) or not 0 <= at < len(rows[top]):
            continue
        for number in range(top + 1, min(bottom + 1, len(rows))):
            if rows[top][at] is not None and rows[number][at] is None:
                rows[number][at] = rows[top][at]
                given.add(number)
    return given


def found_layout(
    rows: Sequence[Cells], merged: Sequence[Range], column: int,
    *, header: bool | None = None, skip: int | None = None,
) -> Layout | None:  # fmt: skip
    """The table in these rows, if there is one; `header` and `skip` (rows before it) where the
    user has said them."""
    filled = [at for at, row in enumerate(rows) if any(cell is not None for cell in row)]
    if skip is not None:
        filled = [at for at in filled if at >= skip]
    if not filled:
        return None
    begins = filled[0] if skip is not None else _begins(rows, filled)
    within = [_moved(one, column) for one in merged]
    named = _is_header(rows, begins) if header is None else header
    if named and header is None and skip is None:
        begins = _below_groups(rows, begins, within)
    first = begins + 1 if named else begins
    data = [at for at in filled if at >= first]
    kept = _without_remarks(rows, data)
    width = len(rows[begins])
    titles = [_title(rows, begins, at, within) if named else "" for at in range(width)]
    used = [at for at in range(width) if titles[at] or any(rows[n][at] is not None for n in kept)]
    names = tuple(titles[at] for at in used)
    above = sum(at < begins for at in filled) - _grouping(rows, begins, within)
    distinct, again = _distinct(names)
    return Layout(
        begins if named else None, first, kept[-1] + 1 if kept else first, tuple(used),
        distinct, tuple(not name for name in names), again, above, len(data) - len(kept),
    )  # fmt: skip


def total_rows(
    rows: Sequence[Cells], columns: Sequence[int]
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The places of rows that have the sums of others, and the names of those that are called so
    and haven't."""
    numeric = [at for at in columns if any(_is_plain(row[at]) for row in rows)]
    full = [at for at in columns if 2 * sum(row[at] is not None for row in rows) > len(rows)]
    looked: list[Row] = []
    sums = [0.0] * len(numeric)
    for nth, row in enumerate(rows, 1):
        numbers = tuple(
            float(cell) if _is_plain(cell) else None for cell in (row[at] for at in numeric)
        )
        label = next((cell for cell in row if isinstance(cell, str) and re.search(LABEL, cell)), "")
        lacks, last = any(row[at] is None for at in full), nth == len(rows)
        if label or lacks or last:
            looked.append(Row(nth, label, lacks, last, numbers, tuple(sums)))
        sums = [own + (number or 0.0) for own, number in zip(sums, numbers, strict=True)]
    taken, unsure = totals(looked, sums)
    return tuple(one.nth - 1 for one in taken), tuple(one.label for one in unsure)


def _is_plain(cell: Found | None) -> TypeGuard[int | float]:
    return isinstance(cell, (int, float)) and not isinstance(cell, bool)


def _begins(rows: Sequence[Cells], filled: Sequence[int]) -> int:
    """The first row that is about as wide as the widest: titles and remarks above are narrower."""
    looked = filled[:_LOOKED_AT]
    widest = max(_count(rows[at]) for at in looked)
    return next(at for at in looked if 2 * _count(rows[at]) > widest)


def _count(row: Cells) -> int:
    return sum(cell is not None for cell in row)


def _is_header(rows: Sequence[Cells], at: int) -> bool:
    """True if a row holds texts, or years and days that those below aren't like."""
    row = rows[at]
    below = next((one for one in rows[at + 1 :] if _count(one)), None)
    if not any(isinstance(cell, str) for cell in row):
        return False
    for column, cell in enumerate(row):
        if cell is None or isinstance(cell, str):
            continue
        if not _may_name(cell) or (below is not None and _may_name(below[column])):
            return False
    return True


def _may_name(cell: Found | None) -> bool:
    if isinstance(cell, bool) or cell is None:
        return False
    return isinstance(cell, date) or (isinstance(cell, (int, float)) and cell in _YEARS)


def _below_groups(rows: Sequence[Cells], at: int, merged: Sequence[Range]) -> int:
    """The row of names proper, where the one above puts some of them together."""
    following = at + 1
    if following >= len(rows) or not _grouping(rows, following, merged):
        return at
    texts = [cell for cell in rows[following] if cell is not None]
    return following if texts and all(isinstance(cell, str) for cell in texts) else at


def _grouping(rows: Sequence[Cells], header: int, merged: Sequence[Range]) -> bool:
    """True if the row before a header names groups of its columns."""
    width = len(rows[header])
    return any(
        bottom == top == header - 1 and 0 < right - left < width - 1
        for (top, left), (bottom, right) in merged
    )


def _title(rows: Sequence[Cells], header: int, column: int, merged: Sequence[Range]) -> str:
    """The name of a column, after that of its group if it has one."""
    name = _words(rows[header][column])
    for (top, left), (bottom, right) in merged:
        if not left <= column <= right:
            continue
        if not name and top < header <= bottom:
            name = _words(rows[top][left])
        if bottom == top == header - 1 and 0 < right - left < len(rows[header]) - 1 and name:
            name = f"{_words(rows[top][left])} {name}".strip()
    return name


def _words(cell: Found | None) -> str:
    return "" if cell is None else " ".join(written(cell).split())


def _distinct(names: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names, those that are missing or come again made as for CSV files, and the latter."""
    taken: set[str] = set()
    made, again = [], []
    for at, name in enumerate(names):
        tried, number = name or f"column{at}", 0
        while tried.lower() in taken:
            number += 1
            tried = f"{name or f'column{at}'}_{number}"
        taken.add(tried.lower())
        made.append(tried)
        if number:
            again.append(tried)
    return tuple(made), tuple(again)


def _without_remarks(rows: Sequence[Cells], data: Sequence[int]) -> Sequence[int]:
    """The rows but for remarks below them: single cells after an empty row."""
    kept = list(data)
    widest = max((_count(rows[at]) for at in data), default=0)
    while widest > 1:
        gap = max((n for n in range(1, len(kept)) if kept[n] > kept[n - 1] + 1), default=0)
        if not gap or any(_count(rows[at]) > 1 for at in kept[gap:]):
            return kept
        kept = kept[:gap]
    return kept


def _moved(one: Range, column: int) -> Range:
    (top, left), (bottom, right) = one
    return (top, left - column), (bottom, right - column)


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
