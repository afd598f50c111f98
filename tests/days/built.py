"""Small databases with days and moments, on every engine and in every way of storing them."""

from __future__ import annotations

import csv
import io
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import sqlwright
from sqlwright.api import Session
from sqlwright.protocols import Run
from sqlwright.types import Answer, Question
from tests.form.notation import cases

TODAY = date(2026, 3, 20)
TABLES = {one["name"]: one for one in cases("days/tables.yaml")}
WAYS = {
    "iso": ("TEXT", "TEXT"),
    "blank": ("DATE", "TIMESTAMP"),
    "dmy": ("TEXT", "TEXT"),
    "seconds": ("INTEGER", "INTEGER"),
    "milliseconds": ("INTEGER", "INTEGER"),
}
"""Ways of storing days and moments in SQLite, with the declared types of both."""
_KINDS = {"integer": "INTEGER", "real": "DOUBLE PRECISION", "text": "VARCHAR(40)", "day": "DATE"}


def rows_of(name: str) -> list[list[Any]]:
    """The rows of a table: days and moments as ISO texts, numbers as numbers."""
    kinds = TABLES[name]["columns"].values()
    read = {"integer": int, "real": float}
    return [
        [read.get(kind, str)(cell) for kind, cell in zip(kinds, row, strict=True)]
        for row in csv.reader(io.StringIO(TABLES[name]["rows"]))
    ]


def stored(text: str, kind: str, way: str) -> str | int:
    """A day or a moment as a SQLite column stores it."""
    then = datetime.fromisoformat(text).replace(tzinfo=UTC)
    if way in {"seconds", "milliseconds"}:
        return int(then.timestamp()) * (1000 if way == "milliseconds" else 1)
    if way == "dmy":
        return then.strftime("%d/%m/%Y" if kind == "day" else "%d/%m/%Y %H:%M:%S")
    return text.replace("T", " ") if way == "blank" else text


def sqlite_file(name: str, way: str, path: Path) -> Path:
    """A SQLite file with a table's days and moments stored in a way."""
    table, times = TABLES[name], dict(zip(("day", "moment"), WAYS[way], strict=True))
    types = [times.get(kind, kind.upper()) for kind in table["columns"].values()]
    kinds = list(table["columns"].values())
    with closing(sqlite3.connect(path)) as made:
        columns = ", ".join(map(" ".join, zip(table["columns"], types, strict=True)))
        made.execute(f"CREATE TABLE {table['table']} ({columns})")
        marks = ", ".join("?" * len(kinds))
        made.executemany(
            f"INSERT INTO {table['table']} VALUES ({marks})",
            [
                [stored(cell, kind, way) if kind in times else cell
                 for cell, kind in zip(row, kinds, strict=True)]
                for row in rows_of(name)
            ],
        )  # fmt: skip
        made.commit()
    return path


def script(name: str, moment: str = "TIMESTAMP") -> str:
    """SQL that makes a table on an engine with types, whose word for a moment is given."""
    table, kinds = TABLES[name], {**_KINDS, "moment": moment}
    columns = ", ".join(f"{column} {kinds[kind]}" for column, kind in table["columns"].items())
    rows = ", ".join(f"({', '.join(map(_literal, row))})" for row in rows_of(name))
    return f"CREATE TABLE {table['table']} ({columns}); INSERT INTO {table['table']} VALUES {rows};"


def _literal(cell: Any) -> str:
    return repr(cell.replace("T", " ") if isinstance(cell, str) and cell[:2] == "20" else cell)


def csv_file(name: str, path: Path) -> Path:
    """A CSV file of a table."""
    lines = [",".join(TABLES[name]["columns"]), TABLES[name]["rows"]]
    path.write_text("\n".join(lines), "utf-8")
    return path


def asked(session: Session, question: str) -> Answer:
    """The answer to a question that is asked on TODAY."""
    answer, _ = session._pipeline.run(
        Question(question), session.workspace, session.models, Run(today=TODAY)
    )
    return answer


def wanted(name: str, sql: str) -> list[tuple[Any, ...]]:
    """The rows of a query over a table with ISO texts."""
    with closing(sqlite3.connect(":memory:")) as told:
        table = TABLES[name]
        told.execute(f"CREATE TABLE {table['table']} ({', '.join(table['columns'])})")
        marks = ", ".join("?" * len(table["columns"]))
        told.executemany(f"INSERT INTO {table['table']} VALUES ({marks})", rows_of(name))
        return told.execute(sql).fetchall()


def alike(rows: Iterable[Sequence[Any]], *, ordered: bool) -> list[tuple[Any, ...]]:
    """Rows as they compare: numbers as such and rounded, days without what engines add."""
    found = [tuple(map(_cell, row)) for row in rows]
    return found if ordered else sorted(found, key=repr)


def _cell(cell: Any) -> Any:
    if isinstance(cell, datetime | date):
        cell = cell.isoformat()
    if isinstance(cell, str) and cell.isdigit():
        return float(cell)
    if cell is None or isinstance(cell, str):
        return cell
    return round(float(cell), 4)


def opened(url: str | Path, home: Path) -> Session:
    """A session that keeps nothing."""
    return sqlwright.open(url, home=home, record=False)
