"""CSV, TSV and JSON files as people have them."""

from __future__ import annotations

import gzip
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

import sqlwright
from sqlwright.database import open_database
from sqlwright.database.files.database import FilesDatabase
from tests.database.duckdb.conftest import ask

CASES = yaml.safe_load(
    (Path(__file__).parents[2] / "cases" / "files" / "messy.yaml").read_text(encoding="utf-8")
)
CODES = {
    "content": "utf-8", "content_latin": "latin-1", "content_utf16": "utf-16",
    "content_windows": "windows-1252",
}  # fmt: skip


def content(case: dict[str, Any]) -> bytes:
    if "content_repeated" in case:
        first, line, count, last = case["content_repeated"]
        return (first + line * count + last).encode()
    ((key, text),) = ((key, case[key]) for key in CODES if key in case)
    return text.encode(CODES[key])


def plain(cell: object) -> object:
    if isinstance(cell, tuple):
        return list(cell)
    return cell.isoformat() if isinstance(cell, date) else cell


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> FilesDatabase:
    """All of them in one folder."""
    folder = tmp_path_factory.mktemp("messy")
    for case in CASES:
        (folder / case["name"]).write_bytes(content(case))
    database = open_database(str(folder))
    assert isinstance(database, FilesDatabase)
    yield database
    database.close()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_file_is_read(case: dict[str, Any], opened: FilesDatabase) -> None:
    name = case["name"].partition(".")[0]
    table = opened.schema().table(name)
    assert table is not None
    assert {column.name: column.type for column in table.columns} == case["columns"]
    rows = ask(opened, case.get("query", f"SELECT * FROM {name}")).rows
    assert [list(map(plain, row)) for row in rows] == case["rows"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_what_was_noticed_is_told(case: dict[str, Any], opened: FilesDatabase) -> None:
    name = case["name"].partition(".")[0]
    (source,) = (source for source in opened.sources if source.name == name)
    wanted = case.get("notes", [])
    assert len(source.all_notes) == len(wanted), source.all_notes
    for note, part in zip(source.all_notes, wanted, strict=True):
        assert part in note
    assert all(f"{name}: {note}" in opened.notes for note in source.all_notes)
    table = opened.schema().table(name)
    assert table is not None
    assert table.description.startswith(f"From {case['name']}")


@pytest.mark.parametrize("case", CASES[:4], ids=lambda case: case["name"])
def test_a_file_alone_is_a_database(case: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / case["name"]
    path.write_bytes(content(case))
    with open_database(str(path)) as database:
        (table,) = database.schema().tables
        rows = ask(database, f'SELECT * FROM "{table.name}"').rows
        assert [list(map(plain, row)) for row in rows] == case["rows"]
        assert database.identity == str(path)


def test_a_packed_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "sales.csv.gz"
    path.write_bytes(gzip.compress(b"id,amount\n1,2.5\n"))
    with open_database(str(path)) as database:
        assert ask(database, "SELECT amount FROM sales").rows == ((2.5,),)


def test_an_answer_tells_what_was_left_out_of_its_tables_alone(tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text(
        "id;name;amount\n1;Ann;3,5\n2;Bo;4,25\n3;Cy;oops;too;many\n", "utf-8"
    )
    (tmp_path / "shops.csv").write_text("id;town\n1;Rome\n2;Riga\n", "utf-8")
    with sqlwright.open(tmp_path, home=tmp_path / "home", record=False) as session:
        sales, shops = session.ask("Total amount of sales"), session.ask("How many shops?")
    note = "sales: 1 line that doesn't fit its columns is left out: line 4."
    assert (sales.doubt, sales.confidence) == (note, 0.49)
    assert note not in (shops.doubt, *(warning.text for warning in shops.warnings))
