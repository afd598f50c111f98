"""Adds a question to a golden set, whose own text stays as it is: a YAML list, a JSON list, JSON
lines or CSV."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

from sqlwright.boundary.text import readable
from sqlwright.boundary.yaml_text import write_yaml
from sqlwright.database.address import parse_address
from sqlwright.errors import DatasetError, WorkspaceError
from sqlwright.lab.datasets.example import Expected
from sqlwright.lab.datasets.reading import FORMATS, read_rows
from sqlwright.lab.evaluation.files import write_whole
from sqlwright.presentation.answer import plain
from sqlwright.protocols import Database, Limits, Run
from sqlwright.running.trace import SHOWN_CHARACTERS, Trace, find_trace, read_trace
from sqlwright.sql.guard import check_query
from sqlwright.sql.reading import has_order_by
from sqlwright.types import Cell
from sqlwright.types.plans import ScanLimit

MOST_ROWS = 100
"""Rows of a stored result at most: more aren't read by whoever reviews the file; chosen."""
MOST_TEXT = 1_000
"""Characters of a stored value at most; chosen."""
LARGEST = 10**29
"""Whole numbers below it are read of YAML."""
COLUMNS = ("question", "sql", "evidence", "database", "expected", "tags")
"""Columns of a new CSV file."""

_ITEM = re.compile(r"^( *)-(?=[ \r\n])", re.MULTILINE)
"""An item of a YAML list and its indent."""


@dataclass(frozen=True, slots=True)
class NewQuestion:
    """A question with the query that answers it, for a golden set."""

    question: str
    sql: str
    evidence: str = ""
    database: str = ""
    """Its address; in the file it stands as a path from the file's folder."""
    expected: Expected | None = None
    tags: Mapping[str, str] = field(default_factory=dict)

    def row(self, folder: Path) -> dict[str, Any]:
        """The record for a file in that folder; what is empty is left out."""
        stored = None
        if self.expected is not None:
            stored = {
                "columns": list(self.expected.columns),
                "rows": [[_kept(cell) for cell in row] for row in self.expected.rows],
                "ordered": self.expected.ordered,
            }
        told = {
            "question": readable(self.question).strip(),
            "evidence": readable(self.evidence).strip(),
            "sql": readable(self.sql).strip(),
            "database": _place(self.database, folder) if self.database else "",
            "expected": stored,
            "tags": dict(self.tags),
        }
        return {name: value for name, value in told.items() if value}


def add_question(
    path: Path, new: NewQuestion, check: Callable[[str], object] = check_query
) -> None:
    """Add a question at the end of a file, which is made where there is none.

    The file is read back before it takes the place of the old one. `check` is that of the query's
    database, SQLite's if none is given. Raises DatasetError for a question that is there already
    with the same evidence and for a file that can't be added to, and UnsafeQuery for a query that
    doesn't only read.
    """
    check(new.sql)
    kind = path.suffix.lower()
    append = _APPEND.get(kind)
    if append is None:
        raise DatasetError(f"{path} has none of the endings {FORMATS}")
    row = new.row(path.absolute().parent)
    text, rows = _current(path)
    _refuse_double(path, rows, row)
    written = append(text, row)
    _check(path, written, rows, row)
    write_whole(path, written)


def stored_result(database: Database, sql: str, scan: ScanLimit | None = None) -> Expected:
    """The rows of a query, to be kept with a question; `scan` is the most that it may read. Raises
    DatasetError where they are too many or can't stand in a text file."""
    limits = Limits(rows=MOST_ROWS, scan=scan)
    result = database.execute(sql, Run(), limits=limits)
    if result.error is not None:
        raise DatasetError(f"the query fails: {result.error.message}")
    if result.cut:
        raise DatasetError(
            f"the result has more than {MOST_ROWS} rows",
            hint="Add the question without its result; the query stands for it.",
        )
    odd = next((cell for row in result.rows for cell in row if not _writable(cell)), None)
    if odd is not None:
        raise DatasetError(
            "the result holds binary data, a very long text or a number too large for a file",
            hint="Add the question without its result; the query stands for it.",
        )
    return Expected(result.columns, result.rows, has_order_by(sql, database.dialect))


def _writable(cell: Cell) -> bool:
    if isinstance(cell, tuple):
        return all(map(_writable, cast("tuple[Cell, ...]", cell)))
    if isinstance(cell, str):
        return len(cell) <= MOST_TEXT and readable(cell) == cell
    if isinstance(cell, int):
        return abs(cell) < LARGEST
    return not isinstance(cell, bytes) and not (
        isinstance(cell, float | Decimal) and not math.isfinite(cell)
    )


def _kept(cell: Cell) -> Any:
    """A value as a file holds it: as JSON does, but a moment as SQL writes it."""
    return cell.isoformat(sep=" ") if isinstance(cell, datetime) else plain(cell)


def _place(url: str, folder: Path) -> str:
    """The path of a database from a folder, as it is where there is none; of a server its URL
    without secrets."""
    address = parse_address(url)
    if address.path is None:
        return address.url
    path = address.path
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # another drive
        return path.as_posix()


def _current(path: Path) -> tuple[str, list[Any]]:
    """The file's text, every character of it, and its records."""
    if not path.exists():
        return "", []
    try:
        text = path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetError(f"{path} can't be read: {error}") from None
    return text, read_rows(path)


def _refuse_double(path: Path, rows: Sequence[Any], row: Mapping[str, Any]) -> None:
    for number, one in enumerate(rows, 1):
        if isinstance(one, Mapping) and _words(one) == _words(row):
            raise DatasetError(
                f"{path} has this question already: number {number}",
                hint="Change it there; a question with other evidence is another one.",
            )


def _words(row: Mapping[str, Any]) -> list[str]:
    told = (str(row.get(name) or "") for name in ("question", "evidence"))
    return [" ".join(text.split()).casefold() for text in told]


def _check(path: Path, written: str, rows: Sequence[Any], row: Mapping[str, Any]) -> None:
    """Read the new text as a file beside the old one. Raises DatasetError if it isn't the old
    records and the new one."""
    aside = path.absolute().with_name(f".{path.stem}.part{path.suffix}")
    try:
        aside.write_text(written, encoding="utf-8", newline="")
        read = read_rows(aside)
    except OSError as error:
        raise DatasetError(f"{path} can't be written: {error.strerror}") from None
    except DatasetError:
        read = []
    finally:
        aside.unlink(missing_ok=True)
    last = read[-1] if read else {}
    same = {name: last.get(name) == value for name, value in row.items()}
    if path.suffix.lower() == ".csv":
        same = {name: _cell(row[name]) == (last.get(name) or "") for name in row}
    missing = [name for name, found in same.items() if not found]
    if read[:-1] != list(rows) or missing:
        what = f" (it lacks {', '.join(missing)})" if read and missing else ""
        raise DatasetError(
            f"{path} is written in a way that nothing can be added to{what}",
            hint="Write it as a list with an item a question, each with fields of its own.",
        )


def _appended_yaml(text: str, row: Mapping[str, Any]) -> str:
    found = _ITEM.search(text)
    indent = found[1] if found else ""
    lines = write_yaml([dict(row)]).splitlines(keepends=True)
    block = "".join(indent + line if line.strip() else line for line in lines)
    # A blank line stands before it where one stands before others.
    apart = re.search(rf"\n\r?\n{indent}- ", text) is not None
    return _joined(text, ("\n" if apart else "") + block)


def _appended_line(text: str, row: Mapping[str, Any]) -> str:
    return _joined(text, json.dumps(row, ensure_ascii=False) + "\n")


def _appended_json(text: str, row: Mapping[str, Any]) -> str:
    body, bracket, rest = (text or "[]").rpartition("]")
    block = json.dumps(row, ensure_ascii=False, indent=2).replace("\n", "\n  ")
    comma = "" if body.rstrip().endswith("[") else ","
    return f"{body.rstrip()}{comma}\n  {block}\n{bracket}{rest or chr(10)}"


def _appended_csv(text: str, row: Mapping[str, Any]) -> str:
    ending = "\r\n" if "\r\n" in text or not text else "\n"
    out = io.StringIO(newline="")
    header = next(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline="")), [])
    writer = csv.writer(out, lineterminator=ending)
    if not header:
        header = list(COLUMNS)
        writer.writerow(header)
    writer.writerow([_cell(row.get(name.strip(), "")) for name in header])
    return _joined(text, out.getvalue())


def _cell(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _joined(text: str, block: str) -> str:
    """A text with a block at its end, with the same ends of lines."""
    if "\r\n" in text and "\r\n" not in block:
        block = block.replace("\n", "\r\n")
    end = "" if not text or text.endswith("\n") else "\r\n" if "\r\n" in text else "\n"
    return text + end + block


_APPEND: Mapping[str, Callable[[str, Mapping[str, Any]], str]] = {
    ".yaml": _appended_yaml,
    ".yml": _appended_yaml,
    ".json": _appended_json,
    ".jsonl": _appended_line,
    ".csv": _appended_csv,
}


@dataclass(frozen=True, slots=True)
class Traced:
    """A question on record."""

    new: NewQuestion
    follows: bool
    """True if earlier questions were handed on with it: alone it may mean something else."""


def traced_question(path: Path, sql: str = "") -> Traced:
    """The question, evidence and database of a trace, with the query of its answer or a better one.
    Raises WorkspaceError where the trace has no query or not the whole of it."""
    trace = read_trace(path)
    if not trace.start:
        raise WorkspaceError(f"{path} is no trace", hint="`sqlwright trace` lists those there are.")
    start = _asked(trace, path.parent)
    chosen = sql or trace.answer.get("sql")
    if not chosen or (not sql and trace.answer.get("status") != "answered"):
        raise WorkspaceError(
            f"the trace {trace.id} has no answer", hint="Give the right query with --sql."
        )
    texts = (str(start.get("question") or ""), str(start.get("evidence") or ""), str(chosen))
    kept = texts[:2] if sql else texts
    if any(len(text) > SHOWN_CHARACTERS for text in kept):
        raise WorkspaceError(
            f"the trace {trace.id} keeps only the beginning of its texts",
            hint="Write the question into the file by hand.",
        )
    question, evidence, query = texts
    new = NewQuestion(question, query, evidence, str(trace.start.get("database") or ""))
    return Traced(new, bool(start.get("history")))


def _asked(trace: Trace, folder: Path) -> dict[str, Any]:
    """The first line of the trace; of one in which a reading was chosen that of the question."""
    of = next((str(e.get("of") or "") for e in trace.events if e["kind"] == "choice"), "")
    if not of:
        return dict(trace.start)
    try:
        return dict(read_trace(find_trace(folder, of)).start) or dict(trace.start)
    except WorkspaceError:  # the older one is gone: the question is here, too
        return dict(trace.start)
