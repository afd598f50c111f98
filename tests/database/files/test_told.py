"""Cells are read as what they say, by all of a column; what isn't understood is the first that an
answer says, and no answer is likely right then."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import pytest
import yaml

import sqlwright
from sqlwright.caveats import Look
from sqlwright.database import open_database
from sqlwright.database.files.corrections import NAME
from sqlwright.database.files.database import FilesDatabase
from sqlwright.errors import Cancelled, DatabaseUnavailable
from sqlwright.protocols import Run
from sqlwright.running.answering import query_answer
from tests.database.duckdb.conftest import ask
from tests.database.files.workbooks import workbook

CASES = yaml.safe_load(
    (Path(__file__).parents[2] / "cases" / "files" / "told.yaml").read_text(encoding="utf-8")
)
pytest.importorskip("python_calamine")


def content(case: dict[str, Any]) -> bytes:
    if "sheet" in case:
        return workbook({"S": case["sheet"]})
    text = case.get("content")
    if text is None:
        first, line, count, last = case["lines"]
        text = first + line * count + last
    return text.encode(case.get("code", "utf-8"))


def plain(cell: object) -> object:
    if isinstance(cell, float):
        return round(cell, 6)
    return cell.isoformat() if isinstance(cell, (date, datetime, time)) else cell


PARTS = [CASES[at : at + 12] for at in range(0, len(CASES), 12)]


@pytest.fixture(scope="module", params=range(len(PARTS)))
def opened(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[FilesDatabase]:
    """Some of them in one folder, each a table of its own name."""
    folder = tmp_path_factory.mktemp("told")
    told = []
    for case in PARTS[request.param]:
        (folder / case["name"]).write_bytes(content(case))
        told.append(f"  {case['name']}: {{table: {table_of(case)}}}\n")
    (folder / NAME).write_text("files:\n" + "".join(told), encoding="utf-8")
    with open_database(str(folder)) as database:
        yield database


def table_of(case: dict[str, Any]) -> str:
    return case["name"].replace(".", "_")


@pytest.mark.parametrize(
    ("opened", "case"),
    [pytest.param(at, case, id=case["name"]) for at, part in enumerate(PARTS) for case in part],
    indirect=["opened"],
)
def test_a_query_over_it(case: dict[str, Any], opened: FilesDatabase) -> None:
    sql = case["sql"].replace("FROM t", f"FROM {table_of(case)}")
    answer = query_answer(sql, ask(opened, sql), Look(opened, opened.schema(), lambda _: {}))
    assert answer.message == ""
    assert [list(map(plain, row)) for row in answer.rows] == case["rows"]
    assert case.get("doubt", "") in answer.doubt
    assert bool(case.get("doubt")) is bool(answer.doubt)


def test_no_schema_quotes_a_cell(opened: FilesDatabase) -> None:
    """Descriptions are sent where values mayn't be."""
    told = " ".join(table.description for table in opened.schema().tables)
    assert [
        word for word in ("see invoice", "lost", "Köln", "to come", "3-5") if word in told
    ] == []


def test_an_answer_over_a_file_with_lines_left_out_is_no_likely_one(tmp_path: Path) -> None:
    path = tmp_path / "sales.csv"
    path.write_text("region,amount\nNorth,3\nSouth,4,5\nEast,5\n", "utf-8")
    with sqlwright.open(path, home=tmp_path / "home", record=False) as session:
        answer = session.ask("What is the total amount?")
        own = session.sql("SELECT SUM(amount) FROM sales")
    note = "sales: 1 line that doesn't fit its columns is left out: line 3."
    assert answer.rows == own.rows == ((8,),)
    assert answer.confidence is not None
    assert answer.confidence < 0.5
    assert answer.doubt == own.doubt == note


def test_looking_through_files_ends_with_the_run(tmp_path: Path) -> None:
    path = tmp_path / "sales.csv"
    path.write_text("region,amount\nNorth,3\n", "utf-8")
    cancelled = threading.Event()
    cancelled.set()
    with pytest.raises(Cancelled):
        open_database(str(path), run=Run(cancelled=cancelled))
    with pytest.raises(DatabaseUnavailable, match=r"sales.csv: looking through it takes longer"):
        open_database(str(path), run=Run(seconds=0))
    with open_database(str(path), run=Run(seconds=60)) as database:  # more time, so tried again
        assert ask(database, "SELECT amount FROM sales").rows == ((3,),)


def test_a_failure_is_remembered_until_the_file_changes(tmp_path: Path) -> None:
    path = tmp_path / "sales.csv"
    path.write_bytes(b"a,b\n" + b"x" * 2_100_000 + b",1\n")
    failures = []
    for _ in range(2):
        with pytest.raises(DatabaseUnavailable, match="line 2 is longer than") as failed:
            open_database(str(path))
        failures.append(failed.value)
    assert failures[0] is failures[1]
    path.write_text("a,b\nx,1\n", "utf-8")
    with open_database(str(path)) as database:
        assert ask(database, "SELECT b FROM sales").rows == ((1,),)


def test_names_that_may_be_values_are_hidden_where_values_may_not_leave(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("canaryAlice,Rome\ncanaryBob,Paris\ncanaryCarol,Oslo\n", "utf-8")
    with open_database(str(path), run=Run(privacy="schema-only")) as database:
        (table,) = database.schema().tables
        assert [column.name for column in table.columns] == ["column0", "column1"]
        assert "canary" not in table.description
        assert ask(database, "SELECT COUNT(*) FROM people").rows == ((3,),)
        private = database.fingerprint()
    with open_database(str(path)) as database:
        assert database.sources[0].told.endswith("header guessed.")
        assert database.fingerprint() != private


def test_what_was_guessed_is_told_with_how_many_cells(tmp_path: Path) -> None:
    path = tmp_path / "sales.csv"
    path.write_text("day;v\n2026-01-05;1,5\n2026-01-06;2,5\n31.12.2026;3,5\n", "utf-8")
    with open_database(str(path)) as database:
        readings = database.readings()
    assert readings is not None
    assert readings.tables[0].details == (
        "day: 3 cells are DATE: 2 as %Y-%m-%d, 1 as %d.%m.%Y.",
        "v: 3 cells are DOUBLE: with decimal comma.",
    )
