"""Folders and patterns of files: names of tables, changes, corrections, limits of what is read."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from sqlwright.database import open_database
from sqlwright.database.files.corrections import NAME
from sqlwright.database.files.database import FilesDatabase
from sqlwright.errors import ConfigError, DatabaseUnavailable
from sqlwright.protocols import Limits, Run
from tests.database.duckdb.conftest import ask, duckdb

NAMES = [
    (["orders.csv", "people.csv"], ["orders", "people"]),
    (["Sales Report (final).csv"], ["Sales_Report_final"]),
    (["orders.csv", "orders.tsv"], ["orders", "orders_tsv"]),
    (["a b.csv", "a-b.csv"], ["a_b", "a_b_csv"]),
    (["sales_2023.csv", "sales_2024.csv"], ["sales"]),
    (["2024-01-01.csv", "2024-01-02.csv"], ["here"]),
    (["part-0.csv", "part-1.csv"], ["here"]),
    (["sales_2024.csv", "visits_2024.csv"], ["sales_2024", "visits_2024"]),
    (["year=2023/part-0.csv", "year=2024/part-0.csv"], ["here"]),
    (["x.csv", ".hidden.csv", "_temporary.csv", "notes.txt", "readme.md"], ["x"]),
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "here"
    made.mkdir()
    return made


@pytest.fixture
def opened() -> Iterator:
    made: list[FilesDatabase] = []

    def open_one(path: object, tables: list[str] | None = None) -> FilesDatabase:
        made.append(open_database(str(path), tables=tables))
        return made[-1]

    yield open_one
    for database in made:
        database.close()


def write(folder: Path, name: str, text: str = "a,b\n1,x\n") -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(("files", "tables"), NAMES)
def test_files_make_tables(files: list[str], tables: list[str], folder: Path, opened) -> None:
    for name in files:
        separator = "\t" if name.endswith(".tsv") else ","
        write(folder, name, f"a{separator}b\n1{separator}x\n")
    assert sorted(table.name for table in opened(folder).schema().tables) == tables


def test_numbered_files_are_one_table_if_they_are_alike(folder: Path, opened) -> None:
    write(folder, "sales_1.csv", "id,amount\n1,2\n")
    write(folder, "sales_2.csv", "id,amount\n2,2.5\n")
    write(folder, "table_1.csv", "a\n1\n")
    write(folder, "table_2.csv", "b\n1\n")
    database = opened(folder)
    assert [t.name for t in database.schema().tables] == ["sales", "table_1", "table_2"]
    assert ask(database, "SELECT sum(amount), count(*) FROM sales").rows == ((4.5, 2),)
    assert "sales: 2 files are one table." in database.notes


def test_a_pattern_matches_files(folder: Path, opened) -> None:
    for name in ("orders_1.csv", "orders_2.csv", "people.csv"):
        write(folder, name)
    database = opened(folder / "orders_*.csv")
    assert [t.name for t in database.schema().tables] == ["orders"]
    assert ask(database, "SELECT count(*) FROM orders").rows == ((2,),)
    assert ask(database, "SELECT * FROM people").error is not None
    assert database.path == folder


def test_partitions_of_folders_are_columns(folder: Path, opened) -> None:
    connection = duckdb.connect()
    connection.execute(
        "COPY (SELECT i, 2020 + i % 3 AS year FROM range(30) t(i)) "
        f"TO '{folder}' (FORMAT parquet, PARTITION_BY (year), OVERWRITE_OR_IGNORE)"
    )
    connection.close()
    database = opened(folder)
    rows = ask(database, "SELECT year, count(*) FROM here GROUP BY 1 ORDER BY 1").rows
    assert rows == ((2020, 10), (2021, 10), (2022, 10))


def test_a_list_of_tables_keeps_the_others_closed(folder: Path, opened) -> None:
    write(folder, "people.csv")
    write(folder, "secrets.csv")
    database = opened(folder, ["PEOPLE"])
    assert database.tables == ("people",)
    assert [t.name for t in database.schema().tables] == ["people"]
    assert ask(database, "SELECT * FROM secrets").error.cause == "unknown_table"
    assert database._request(Limits())["opening"]["paths"] == [str(folder / "people.csv")]
    with pytest.raises(ConfigError, match="has no table 'nothing'"):
        open_database(str(folder), tables=["nothing"])


def test_changes_are_noticed(folder: Path, opened) -> None:
    write(folder, "people.csv", "id\n1\n")
    database = opened(folder)
    before = database.fingerprint()
    assert ask(database, "SELECT count(*) FROM people").rows == ((1,),)
    write(folder, "people.csv", "id\n1\n2\n")
    write(folder, "orders.csv")
    assert database.fingerprint() != before
    assert ask(database, "SELECT count(*) FROM people, orders").rows == ((2,),)
    (folder / "orders.csv").unlink()
    assert ask(database, "SELECT count(*) FROM orders").error.cause == "unknown_table"


def test_a_link_that_leads_elsewhere_is_left_out(folder: Path, tmp_path: Path, opened) -> None:
    secret = write(tmp_path, "secret.csv", "token\ncanary\n")
    write(folder, "people.csv")
    (folder / "linked.csv").symlink_to(secret)
    database = opened(folder)
    assert [t.name for t in database.schema().tables] == ["people"]
    assert any("linked.csv is left out" in note for note in database.notes)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_csv('{0}')",
        "SELECT * FROM '{0}'",
        'SELECT * FROM "{0}"',
        "SELECT * FROM read_text('{0}')",
        "SELECT * FROM glob('*')",
        "SELECT * FROM read_csv('decoded://windows-1252{0}')",
        "SELECT * FROM 'decoded://windows-1252{0}'",
        "COPY people TO '{0}'",
        "ATTACH '{0}' AS x",
    ],
)
def test_a_query_names_no_file(sql: str, folder: Path, opened) -> None:
    path = write(folder, "people.csv")
    assert ask(opened(folder), sql.format(path)).error is not None
    assert path.read_text(encoding="utf-8") == "a,b\n1,x\n"


def test_corrections(folder: Path, opened) -> None:
    write(folder, "x.csv", "1|07|3,5\n2|08|4,5\n")
    write(folder, "old.csv")
    write(
        folder,
        NAME,
        "files:\n  x.csv:\n    table: prices\n    header: false\n    decimal: ','\n"
        "    types: {column1: VARCHAR}\n    names: {column0: id, column1: code, column2: price}\n"
        "  old*: {leave_out: true}\n",
    )
    database = opened(folder)
    assert [t.name for t in database.schema().tables] == ["prices"]
    assert ask(database, "SELECT id, code, price FROM prices").rows == (
        (1, "07", 3.5),
        (2, "08", 4.5),
    )


SAID = {
    "in all columns": ("[NA]", [(None, None, None), ("DE", 7, 1.5), (None, None, None)]),
    "in some": (
        "{amount: [NA, none], share: [NA]}", [("NA", None, None), ("DE", 7, 1.5)],
    ),
    "in one that isn't the one": ("{amount: [NA, none, '-']}", [("DE", 7, 1.5)]),
    "in a column of text": ("{code: [DE], amount: [NA, none], share: [NA, '-']}",
                            [("NA", None, None), (None, 7, 1.5), ("NA", None, None)]),
}  # fmt: skip


@pytest.mark.parametrize("case", SAID)
def test_texts_that_are_no_value_are_said(case: str, folder: Path, opened) -> None:
    """What doesn't fit a column's type then is left out with its line, where that is wanted."""
    nulls, rows = SAID[case]
    last = "NA,NA,NA" if case == "in all columns" else "NA,none,-"
    write(folder, "x.csv", f"code,amount,share\nNA,NA,NA\nDE,7,1.5\n{last}\n")
    types = "{amount: BIGINT, share: DOUBLE}"
    write(folder, NAME, f"files: {{x.csv: {{nulls: {nulls}, types: {types}, unfit: leave_out}}}}")
    database = opened(folder)
    assert ask(database, "SELECT * FROM x").rows == tuple(rows)
    assert ask(database, "SELECT sum(amount) FROM x WHERE share > 1").rows == ((7,),)
    told = [one.text for one in database.sources[0].doubts]
    assert len(told) == {"in some": 1, "in one that isn't the one": 1}.get(case, 0)
    assert all("their rows are left out" in one for one in told)


UNFIT = {
    "text": ("VARCHAR", (("3",), ("4",), ("5",), ("6",), ("x",)), "so the column is text"),
    "empty": ("BIGINT", ((3,), (4,), (5,), (6,), (None,)), "they count as empty"),
    "leave_out": ("BIGINT", ((3,), (4,), (5,), (6,)), "their rows are left out"),
}


@pytest.mark.parametrize("unfit", UNFIT)
def test_the_user_says_what_becomes_of_cells_that_do_not_fit(
    unfit: str, folder: Path, opened
) -> None:
    kind, rows, note = UNFIT[unfit]
    write(folder, "x.csv", "n,m\n3,a\n4,b\n5,c\n6,d\nx,e\n")
    write(folder, NAME, f"files: {{x.csv: {{unfit: {unfit}}}}}")
    database = opened(folder)
    assert dict(database.sources[0].columns)["n"] == kind
    assert ask(database, "SELECT n FROM x").rows == rows
    (doubt,) = database.doubted(["x"], [("x", "n")])
    assert "1 of 5 cells are no numbers ('x')" in doubt
    assert note in doubt
    assert not database.doubted(["x"], [("x", "m")])


def test_a_file_with_cells_that_do_not_fit_is_not_read_where_the_user_says_so(
    folder: Path,
) -> None:
    write(folder, "x.csv", "n\n3\n4\n5\n6\nx\n")
    write(folder, NAME, "files: {x.csv: {unfit: stop}}")
    with pytest.raises(DatabaseUnavailable, match="1 of 5 cells are no numbers"):
        open_database(str(folder))


def test_a_format_that_is_none_is_told_with_the_file_that_says_it(folder: Path) -> None:
    write(folder, "x.csv")
    write(folder, NAME, "files: {x.csv: {dateformat: '%Q'}}")
    with pytest.raises(DatabaseUnavailable, match=r"as sqlwright-files.yaml says \(dateformat\)"):
        open_database(str(folder))


def test_a_name_that_no_file_has_is_told(folder: Path, opened) -> None:
    write(folder, "x.csv")
    write(folder, NAME, "files: {y.csv: {skip: 1}}")
    note = "sqlwright-files.yaml says something of y.csv, and there is no such file."
    assert note in opened(folder).notes


def test_a_correction_is_noticed_later(folder: Path, opened) -> None:
    write(folder, "x.csv", "code\n7\n8\n")
    database = opened(folder)
    assert ask(database, "SELECT max(code) FROM x").rows == ((8,),)
    write(folder, NAME, "files:\n  x.csv: {types: {code: VARCHAR}}\n")
    assert ask(database, "SELECT max(code) FROM x").rows == (("8",),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("files: {x.csv: {delimeter: ';'}}", "files > x.csv > delimeter: there is no such key"),
        ("files: {x.csv: {types: {a: 'INTEGER); DROP'}}}", "is no type"),
        ("files: {x.csv: {types: {z: INTEGER}}}", "has no column 'z'"),
        ("files: {x.csv: {nulls: {z: ['-']}}}", "has no column 'z'"),
        ("files: {x.csv: {encoding: ebcdic}}", "encoding"),
        ("files: [", "sqlwright-files.yaml"),
        ("files: {x.csv: {names: {a: b}}}", "twice"),
    ],
)
def test_a_wrong_correction_is_told(text: str, message: str, folder: Path) -> None:
    write(folder, "x.csv")
    write(folder, NAME, text)
    with pytest.raises(ConfigError, match=message):
        open_database(str(folder))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.xlsx", b"PK", "isn't a workbook"),
        ("x.parquet", b"not parquet", "can't be read"),
        ("x.json", b"{{{", "can't be read"),
        # Compressed without a time: the bytes name the case, alike in every worker.
        (
            "x.csv.gz",
            gzip.compress("a;b\n€;–\n".encode("windows-1252"), mtime=0),
            "save it as UTF-8",
        ),
        ("x.csv", b" \r\n\r\n", "it is empty"),
        ("x.csv", b"", "it is empty"),
        ("nothing.csv", None, "doesn't exist"),
        ("none_*.csv", None, "no file"),
    ],
)
def test_what_is_no_table_is_told(
    name: str, content: bytes | None, message: str, folder: Path
) -> None:
    if content is not None:
        (folder / name).write_bytes(content)
    with pytest.raises(DatabaseUnavailable, match=message):
        open_database(str(folder / name))


def test_one_file_that_cannot_be_read_does_not_spoil_a_folder(folder: Path, opened) -> None:
    write(folder, "good.csv")
    (folder / "bad.parquet").write_bytes(b"not parquet")
    (folder / "sheet.xlsx").write_bytes(b"PK")
    database = opened(folder)
    assert [t.name for t in database.schema().tables] == ["good"]
    assert [note.partition(" is left out")[0] for note in database.notes] == [
        "bad.parquet", "sheet.xlsx",
    ]  # fmt: skip


def test_a_parquet_folder_is_not_read_whole(folder: Path, opened) -> None:
    connection = duckdb.connect()
    for number in range(4):
        connection.execute(
            "COPY (SELECT i AS id, i % 10 AS kind, md5((i * 7)::VARCHAR) || md5(i::VARCHAR) "
            f"AS text FROM range({number} * 100000, {number + 1} * 100000) t(i)) "
            f"TO '{folder}/part-{number}.parquet' (FORMAT parquet)"
        )
    connection.close()
    database = opened(folder)
    (table,) = database.schema().tables
    assert [c.name for c in table.columns] == ["id", "kind", "text"]
    assert ask(database, "SELECT count(*), max(kind) FROM here").rows == ((400_000, 9),)
    assert len(ask(database, "SELECT text FROM here WHERE id = 250000").rows) == 1
    assert database.cost("SELECT * FROM here", Run()).scanned_rows == 400_000
    read = sum(map(bytes_read, database.worker_pids))
    assert 0 < read < database.size() / 2


def bytes_read(pid: int) -> int:
    """Bytes that a process has read, of its libraries too."""
    try:
        lines = Path(f"/proc/{pid}/io").read_text(encoding="ascii").splitlines()
    except OSError:
        pytest.skip("the system doesn't tell what a process reads")
    return int(lines[0].split()[1])


MONTHS = {
    "a column that came later": (
        ["id,day,amount\n1,2024-01-01,2\n", "id,day,amount,tax\n2,2024-02-01,3,1\n"],
        [(1, 2, None), (2, 3, 1)],
        "tax isn't in sales_1.csv, so it is empty in the rows from there.",
    ),
    "another order and other letters": (
        ["id,day,amount,tax\n1,2024-01-01,2,0\n", "Tax,ID,Day,Amount\n1,2,2024-02-01,3\n"],
        [(1, 2, 0), (2, 3, 1)],
        "2 files are one table.",
    ),
    "another separator": (
        ["id,day,amount,tax\n1,2024-01-01,2.5,0\n", "id;day;amount;tax\n2;01.02.2024;3,5;1\n"],
        [(1, 2.5, 0), (2, 3.5, 1)],
        "2 files are one table.",
    ),
    "a column that is empty at first": (
        ["id,day,amount,tax\n1,2024-01-01,2,\n", "id,day,amount,tax\n2,2024-02-01,3,1\n"],
        [(1, 2, None), (2, 3, 1)],
        "2 files are one table.",
    ),
}


@pytest.mark.parametrize("case", MONTHS)
def test_files_that_differ_a_little_are_one_table(case: str, folder: Path, opened) -> None:
    texts, rows, note = MONTHS[case]
    for number, text in enumerate(texts, 1):
        write(folder, f"sales_{number}.csv", text)
    database = opened(folder)
    (source,) = database.sources
    assert ask(database, "SELECT id, amount, tax FROM sales ORDER BY id").rows == tuple(rows)
    assert dict(source.columns).get("tax", dict(source.columns).get("Tax")) == "BIGINT"
    assert note in source.notes


def test_readings_as_corrections_give_the_same_tables(folder: Path, opened) -> None:
    write(folder, "sales_1.csv", "id;day;amount\n1;01.02.2024;1.234,50\n")
    write(folder, "sales_2.csv", "id;day;amount;tax\n2;15.02.2024;2,5;1\n")
    write(folder, "report.csv", "Report,,\n,,\na,b,\n1,N/A,\n2,3,\n3,4,\nTotal,7,\n")
    write(folder, "countries.csv", "id,code,amount\n1,NA,5\n2,DE,NA\n")
    write(folder, "lines.ndjson", '{"id": 1, "user": {"name": "Ann"}}\n')
    (folder / "old [1].csv").write_bytes("a;b\n1;€\n".encode("windows-1252"))
    database = opened(folder)
    before = [(one.name, one.columns) for one in database.sources]
    rows = [ask(database, f'SELECT * FROM "{name}"').rows for name, _ in before]
    readings = database.readings()
    assert readings.place == folder / NAME
    readings.place.write_text(readings.corrections, encoding="utf-8")
    again = opened(folder)
    assert [(one.name, one.columns) for one in again.sources] == before
    assert [ask(again, f'SELECT * FROM "{name}"').rows for name, _ in before] == rows
