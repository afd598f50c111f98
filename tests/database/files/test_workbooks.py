"""Workbooks as people have them: where the table is, what its columns hold, what is left out."""

from __future__ import annotations

import io
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from datetime import date, datetime, time, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import sqlwright
from sqlwright.database import open_database
from sqlwright.database.files.corrections import NAME
from sqlwright.database.files.database import FilesDatabase
from sqlwright.errors import ConfigError, DatabaseUnavailable
from sqlwright.prepare import prepare
from tests.database.duckdb.conftest import ask
from tests.database.files.workbooks import Error, Formula, sheet_xml, workbook

pytest.importorskip("python_calamine")

DAY, MOMENT = date(2024, 1, 31), datetime(2024, 1, 31, 10, 30)
DOUBLED = Formula("A2*2")
DOUBLED.value = 2.5

CASES: dict[
    str, tuple[list[list[Any]], list[str], dict[str, str], list[tuple[Any, ...]], list[str]]
]
# rows, merged cells; the columns, rows and notes that they become
CASES = {
    "kinds": (
        [
            ["id", "price", "day", "when", "at", "span", "paid", "name"],
            [1, 2.5, DAY, MOMENT, time(10, 30), timedelta(hours=30), True, "Ann"],
            [2, 3, DAY, DAY, time(0, 1), timedelta(minutes=5), False, "Bob"],
        ],
        [],
        {"id": "BIGINT", "price": "DOUBLE", "day": "DATE", "when": "TIMESTAMP", "at": "TIME",
         "span": "INTERVAL", "paid": "BOOLEAN", "name": "VARCHAR"},
        [
            (1, 2.5, DAY, MOMENT, time(10, 30), timedelta(hours=30), True, "Ann"),
            (2, 3.0, DAY, datetime(2024, 1, 31), time(0, 1), timedelta(minutes=5), False, "Bob"),
        ],
        [],
    ),
    "title": (
        [[], ["Sales of 2024"], [], [None, "id", "amount"], [None, 1, 2], [None, 3, 4], [],
         [None, "Source: the shop"]],
        ["A2:C2"],
        {"id": "BIGINT", "amount": "BIGINT"},
        [(1, 2), (3, 4)],
        ["Rows above the header that are left out: 1.",
         "Rows below the table that are left out: 1."],
    ),
    "groups": (
        [["Region", "2023", None, "2024", None], [None, "Q1", "Q2", "Q1", "Q2"],
         ["North", 1, 2, 3, 4], ["South", 5, 6, 7, 8]],
        ["A1:A2", "B1:C1", "D1:E1"],
        {"Region": "VARCHAR", "2023 Q1": "BIGINT", "2023 Q2": "BIGINT", "2024 Q1": "BIGINT",
         "2024 Q2": "BIGINT"},
        [("North", 1, 2, 3, 4), ("South", 5, 6, 7, 8)],
        [],
    ),
    "merged": (
        [["region", "city", "people"], ["North", "X", 1], [None, "Y", 2], ["South", "Z", 3]],
        ["A2:A3"],
        {"region": "VARCHAR", "city": "VARCHAR", "people": "BIGINT"},
        [("North", "X", 1), ("North", "Y", 2), ("South", "Z", 3)],
        ["Cells merged over several rows have their value in each of them."],
    ),
    "names": (
        [["a", "a", None, " two\nlines ", "A"], [1, 2, 3, 4, 5]],
        [],
        {"a": "BIGINT", "a_1": "BIGINT", "column2": "BIGINT", "two lines": "BIGINT",
         "A_2": "BIGINT"},
        [(1, 2, 3, 4, 5)],
        ["Columns without a name: column2.",
         "Names that come more than once have a number: a_1, A_2."],
    ),
    "headless": (
        [["Ann", 2023, 1], ["Bob", 2024, 2]],
        [],
        {"column0": "VARCHAR", "column1": "BIGINT", "column2": "BIGINT"},
        [("Ann", 2023, 1), ("Bob", 2024, 2)],
        [],
    ),
    "years": (
        [["region", 2023, 2024], ["North", 1.5, 2], ["South", 3, 4]],
        [],
        {"region": "VARCHAR", "2023": "DOUBLE", "2024": "BIGINT"},
        [("North", 1.5, 2), ("South", 3.0, 4)],
        [],
    ),
    "missing": (
        [["id", "amount", "code"], [1, 2.5, "07"], [2, "N/A", "-"], [3, "-", "x"]],
        [],
        {"id": "BIGINT", "amount": "DOUBLE", "code": "VARCHAR"},
        [(1, 2.5, "07"), (2, None, "-"), (3, None, "x")],
        ["amount: -, N/A counts as no value."],
    ),
    "mixed": (
        [["id", "code"], [1, 12], [2, "A7"], [3, DAY], [4, True]],
        [],
        {"id": "BIGINT", "code": "VARCHAR"},
        [(1, "12"), (2, "A7"), (3, "2024-01-31"), (4, "true")],
        ["Columns that hold values of several kinds are text: code."],
    ),
    "texts": (
        [["id", "amount", "day", "zip"], ["1", "2.5", "2024-01-31", "01234"],
         ["2", "3", "2024-02-01", "12345"]],
        [],
        {"id": "BIGINT", "amount": "DOUBLE", "day": "DATE", "zip": "VARCHAR"},
        [(1, 2.5, DAY, "01234"), (2, 3.0, date(2024, 2, 1), "12345")],
        ["Numbers and dates that are written as text are read as such: id, amount, day."],
    ),
    "errors": (
        [["id", "double"], [1, DOUBLED], [2, Error("#N/A")], [3, Error("#DIV/0!")]],
        [],
        {"id": "BIGINT", "double": "DOUBLE"},
        [(1, 2.5), (2, None), (3, None)],
        [],
    ),
    "total": (
        [["id", "name", "n"], [1, "a", 2], [2, "b", 3.5], [3, "c", 4], [None, "Total", 9.5]],
        [],
        {"id": "BIGINT", "name": "VARCHAR", "n": "DOUBLE"},
        [(1, "a", 2.0), (2, "b", 3.5), (3, "c", 4.0)],
        ["1 row is left out: it has the sums of others."],
    ),
    "blank": (
        [["id", "note", None], [1, "  ", None], [None, None, None], [2, "x", None], [" ", None]],
        [],
        {"id": "BIGINT", "note": "VARCHAR"},
        [(1, None), (2, "x")],
        [],
    ),
}  # fmt: skip


@pytest.fixture
def opened(tmp_path: Path) -> Iterator:
    """Opens a folder with these files."""
    made: list[FilesDatabase] = []

    def open_all(files: dict[str, bytes], corrections: str = "") -> FilesDatabase:
        for name, content in files.items():
            (tmp_path / name).write_bytes(content)
        if corrections:
            (tmp_path / NAME).write_text(corrections, encoding="utf-8")
        made.append(open_database(str(tmp_path)))
        return made[-1]

    yield open_all
    for database in made:
        database.close()


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FilesDatabase]:
    """All cases, each a sheet of one workbook."""
    path = tmp_path_factory.mktemp("cases") / "cases.xlsx"
    rows = {name: case[0] for name, case in CASES.items()}
    path.write_bytes(workbook(rows, merged={name: case[1] for name, case in CASES.items()}))
    with open_database(str(path)) as database:
        yield database


@pytest.mark.parametrize("name", CASES)
def test_a_sheet_is_a_table(name: str, book: FilesDatabase) -> None:
    _, _, columns, rows, notes = CASES[name]
    table = book.schema().table(name)
    assert table is not None
    assert {column.name: column.type for column in table.columns} == columns
    assert ask(book, f"SELECT * FROM {name}").rows == tuple(rows)
    (source,) = (one for one in book.sources if one.name == name)
    assert list(source.notes) == notes


def test_errors_are_told(book: FilesDatabase) -> None:
    note = "cases.xlsx: 2 cells that hold an error, such as #N/A or #DIV/0!, count as empty."
    assert note in book.notes


def test_sheets_that_are_no_tables_are_left_out(opened) -> None:
    sheets = {"Orders": [["id"], [1]], "Old": [["id"], [2]], "Notes": []}
    database = opened({"shop.xlsx": workbook(sheets, hidden=["Old"])})
    assert [one.name for one in database.sources] == ["shop"]
    assert database.notes == (
        "shop.xlsx: the sheet Old is left out: it is hidden.",
        "shop.xlsx: the sheet Notes is left out: it is empty.",
    )


def test_sheets_of_one_name_have_their_file_s(opened) -> None:
    sheets = {"Sheet1": [["id"], [1]], "Sheet2": [["x"], [2]]}
    database = opened({"a.xlsx": workbook(sheets), "b.xlsx": workbook(sheets), "c.csv": b"id\n1\n"})
    names = [one.name for one in database.sources]
    assert sorted(names) == ["a_Sheet1", "a_Sheet2", "b_Sheet1", "b_Sheet2", "c"]


def test_workbooks_that_are_alike_are_one_table(opened) -> None:
    database = opened({
        "sales_2023.xlsx": workbook({"Sheet1": [["id", "amount"], [1, 2]]}),
        "sales_2024.xlsx": workbook({"Data": [["ID", "amount", "tax"], [2, 2.5, 1]]}),
    })  # fmt: skip
    rows = ask(database, "SELECT id, amount, tax FROM sales ORDER BY 1").rows
    assert rows == ((1, 2.0, None), (2, 2.5, 1))
    assert any("tax isn't in Sheet1" in note for note in database.notes)


def test_corrections_are_by_sheet(opened) -> None:
    sheets = {
        "Jan": [["as of", "today"], ["Nr", "Datum"], ["007", "31.01.2024"]],
        "Feb": [["as of", "today"], ["Nr", "Datum"], ["008", "29.02.2024"]],
        "Notes": [["a", "b"], [1, 2]],
        "Hidden": [["n"], ["none"]],
    }
    database = opened(
        {"shop.xlsx": workbook(sheets, hidden=["Hidden"])},
        """
files:
  shop.xlsx:
    sheets:
      "*b":
        table: sales
      Jan:
        table: sales
      "[JF]*":
        skip: 1
        types: {Nr: VARCHAR, Datum: DATE}
        dateformat: "%d.%m.%Y"
        names: {Nr: id, Datum: day}
      Notes: {leave_out: true}
      Hidden: {leave_out: false, nulls: [none]}
""",
    )
    assert sorted(one.name for one in database.sources) == ["Hidden", "sales"]
    rows = ask(database, "SELECT id, day FROM sales ORDER BY 1").rows
    assert rows == (("007", DAY), ("008", date(2024, 2, 29)))
    assert ask(database, "SELECT * FROM hidden").rows == ((None,),)


def test_what_does_not_fit_a_type_is_told(opened) -> None:
    database = opened(
        {"shop.xlsx": workbook({"A": [["id", "n"], [1, "7"], [2, "x"], [3, None]]})},
        "files: {shop.xlsx: {types: {n: INTEGER}, unfit: empty}}",
    )
    assert ask(database, "SELECT n FROM shop").rows == ((7,), (None,), (None,))
    assert any("n: 1 of 2 cells are no numbers ('x')" in note for note in database.notes)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("files: {shop.xlsx: {sheets: {A: {types: {z: DATE}}}}}", "shop.xlsx, sheet A, has no"),
        ("files: {shop.xlsx: {sheets: {A: {delimiter: ';'}}}}", "delimiter"),
        ("files: {shop.xlsx: {sheets: {B: {leave_out: true}}}}", "no sheet B"),
    ],
)
def test_a_wrong_correction_is_told(text: str, message: str, opened) -> None:
    with pytest.raises(ConfigError, match=message):
        opened({"shop.xlsx": workbook({"A": [["id"], [1]]})}, text)


def packed(name: str, size: int) -> bytes:
    """A workbook with one more file in it, of so many blanks."""
    made = io.BytesIO(workbook({"A": [["id"], [1]]}))
    with zipfile.ZipFile(made, "a", zipfile.ZIP_DEFLATED) as file, file.open(name, "w") as entry:
        for _ in range(size >> 20):
            entry.write(b" " * (1 << 20))
    return made.getvalue()


def lying() -> bytes:
    """A sheet of 300 MB that says it were empty."""
    size, made = 300 << 20, bytearray(packed("xl/worksheets/sheet9.xml", 300 << 20))
    made = bytearray(bytes(made).replace(struct.pack("<I", size), struct.pack("<I", 10)))
    return bytes(made.replace(b"worksheets/sheet1.xml", b"worksheets/sheet9.xml"))


def stray() -> bytes:
    """Two cells, as far from one another as can be."""
    made = io.BytesIO(workbook({"A": [["id"], [1]]}))
    with zipfile.ZipFile(made) as file:
        kept = {name: file.read(name) for name in file.namelist()}
    far = sheet_xml([["id"]]).replace("</sheetData>", '<row r="1048576"><c r="XFD1048576"><v>1'
                                      "</v></c></row></sheetData>")  # fmt: skip
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as file:
        for name, content in kept.items():
            file.writestr(name, far if name.endswith("sheet1.xml") else content)
    return made.getvalue()


def whole() -> bytes:
    """A workbook that nothing is wrong with."""
    return workbook({"A": [["id", "name"], *([n, f"name {n}"] for n in range(2_000))]})


OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
BAD: dict[str, tuple[Callable[[], bytes], str]] = {
    "cut": (lambda: whole()[: len(whole()) // 2], "damaged"),
    "torn": (lambda: whole()[:2_000] + bytes(500) + whole()[2_500:], "damaged"),
    "csv": (lambda: b"id,name\n1,x\n", "isn't a workbook"),
    "empty": (lambda: b"", "isn't a workbook"),
    "encrypted": (
        lambda: OLE + bytes(2_000) + "EncryptedPackage".encode("utf-16-le"),
        "password",
    ),
    "old": (lambda: OLE + bytes(3_000), "damaged"),
    "bomb": (
        lambda: packed("xl/media/x.bin", 600 << 20),
        "more than the 536,870,912 that are read",
    ),
    "stray": (stray, "damaged, or reading it needs more memory"),
    "many": (lambda: workbook({"A": [[1] * 600] * 1_700}), "more than the 1,000,000"),
    "nothing": (lambda: workbook({"A": []}), "no sheet of it holds a table"),
}
"""What makes each, and what is said of it."""


@cache
def bad(name: str) -> bytes:
    return BAD[name][0]()


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_read_is_told(name: str, tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    path.write_bytes(bad(name))
    with pytest.raises(DatabaseUnavailable, match=BAD[name][1]):
        open_database(str(path))


def test_a_bad_workbook_does_not_spoil_a_folder(opened) -> None:
    files = {f"{name}.xlsx": bad(name) for name in BAD if name != "bomb"}
    database = opened({**files, "good.csv": b"id\n1\n", "lying.xlsx": lying(), "~$x.xlsx": b"x"})
    assert [one.name for one in database.sources] == ["good"]
    assert sum(" is left out, it can't be read" in note for note in database.notes) == len(BAD)
    assert ask(database, "SELECT * FROM good").rows == ((1,),)


def test_the_caller_never_loads_the_library(opened) -> None:
    database = opened({"a.xlsx": workbook({"A": [["id"], [1]]})})
    assert ask(database, "SELECT * FROM a").rows == ((1,),)
    assert "sqlwright.database.files.excel.workbook" not in sys.modules


def test_without_the_extra_the_way_to_install_it_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.xlsx").write_bytes(workbook({"A": [["id"], [1]]}))
    hidden = "import sys; sys.modules['python_calamine'] = None; "
    code = f"{hidden}from sqlwright.cli.main import run; run()"
    command = [sys.executable, "-c", code, "sql", str(tmp_path / "a.xlsx"), "SELECT 1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "python-calamine" in done.stderr
    assert "pip install 'sqlwright[excel]'" in " ".join(done.stderr.split())


def test_a_changed_workbook_is_read_again(opened, tmp_path: Path) -> None:
    database = opened({"a.xlsx": workbook({"A": [["id"], [1]]})})
    assert ask(database, "SELECT max(id) FROM a").rows == ((1,),)
    (tmp_path / "a.xlsx").write_bytes(workbook({"A": [["id"], [1], [5]]}))
    assert ask(database, "SELECT max(id) FROM a").rows == ((5,),)


def test_a_workbook_is_prepared_by_sheets_and_asked(tmp_path: Path) -> None:
    invoices = [["No", "Customer", "Net"], [1, "Rot", 120.5], [2, "Alm", 880.0], [3, "Rot", 64.25]]
    customers = [["Name", "City"], ["Rot", "Graz"], ["Alm", "Linz"]]
    path = tmp_path / "books.xlsx"
    path.write_bytes(workbook({"Invoices": invoices, "Customers": customers}))
    folder = tmp_path / "prepared"
    assert sorted(prepare(str(path), folder=folder).read) == ["Customers", "Invoices"]
    assert not prepare(str(path), folder=folder).read
    path.write_bytes(workbook({"Invoices": [*invoices, [4, "Alm", 1.0]], "Customers": customers}))
    assert "Invoices" in prepare(str(path), folder=folder).read
    with sqlwright.open(path, home=tmp_path / "home", record=False) as session:
        answer = session.ask("How many invoices are there?")
    assert answer.rows == ((4,),)
