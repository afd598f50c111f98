"""The commands on DuckDB, files and PostgreSQL: addresses, estimates, limits, doctor, demo."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from sqlwright.cli.main import main
from sqlwright.cli.typed.target import looks_like_database
from sqlwright.database.address import shown_address
from tests.servers.postgres import PostgresServer

SHOP = """
CREATE TABLE orders (id INTEGER PRIMARY KEY, status VARCHAR(20), total NUMERIC(10, 2), placed DATE);
INSERT INTO orders SELECT i, CASE WHEN i % 4 = 0 THEN 'open' ELSE 'shipped' END, i * 1.25,
    DATE '2024-01-01' + CAST(i AS INTEGER) FROM generate_series(1, 2000) AS s (i);
"""


@pytest.fixture
def duckdb_file(tmp_path: Path) -> Path:
    duckdb = pytest.importorskip("duckdb", reason="duckdb isn't installed")
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(SHOP)
    return path


@pytest.fixture
def login(
    postgres_server: PostgresServer, postgres_database: Callable[[str], str]
) -> Callable[[], str]:
    """Makes a login that may read the shop; its URL."""

    def make() -> str:
        name = postgres_database(SHOP + "ANALYZE;")
        return postgres_server.reader(name, "SELECT ON ALL TABLES IN SCHEMA public")

    return make


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    monkeypatch.setenv("SQLWRIGHT_HOME", str(folder))
    monkeypatch.chdir(tmp_path)
    return folder


def test_guesses_about_files_are_shown_and_printed_to_be_corrected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("duckdb", reason="duckdb isn't installed")
    folder = tmp_path / "exports"
    folder.mkdir()
    (folder / "sales.csv").write_bytes("Tag;Betrag;Text\n01.02.2024;1.234,50;–\n".encode("cp1252"))
    (folder / "empty.csv").write_bytes(b"")
    assert main(["prepare", str(folder)]) == 0
    told = " ".join(capsys.readouterr().err.split())
    assert (
        "sales: From sales.csv, delimiter ;, windows-1252, with header, dates %d.%m.%Y, decimal ,"
        in told
    )
    assert "Tag DATE, Betrag DOUBLE, Text VARCHAR" in told
    assert "! Its encoding isn't UTF-8; it is read as Windows-1252" in told
    assert "empty.csv is left out, it can't be read: it is empty." in told
    assert main(["doctor", str(folder), "--json"]) == 0
    checks = json.loads(capsys.readouterr().out)["checks"]
    found = {check["name"]: check for check in checks}
    assert ": 1 table, 0 views, " in found["database"]["found"]
    assert found["table"]["state"] == "fair"
    assert found["left out"]["found"].startswith("empty.csv")
    assert "--corrections" in found["guesses"]["found"]
    assert main(["doctor", str(folder), "--corrections"]) == 0
    printed = capsys.readouterr().out
    (folder / "sqlwright-files.yaml").write_text(
        printed.replace("Betrag: DOUBLE", "Betrag: VARCHAR"), encoding="utf-8"
    )
    assert main(["sql", str(folder), "SELECT Betrag FROM sales", "--csv"]) == 0
    assert "1.234,50" in capsys.readouterr().out


def test_nothing_to_correct_is_told(duckdb_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", str(duckdb_file), "--corrections"]) == 4
    assert "says its columns and types itself" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("word", "is_one"),
    [
        ("sales.csv", True),
        ("sales.csv.gz", True),
        ("year.parquet", True),
        ("data/*.parquet", True),
        ("*.csv", True),
        ("shop.duckdb", True),
        ("duckdb:///shop.duckdb", True),
        ("postgresql://me@db/shop", True),
        ("mysql+pymysql://me@db/shop", True),
        ("clickhouse://db", True),
        ("How", False),
        ("How many * are there?", False),
        ("orders", False),
    ],
)
def test_what_names_a_database(word: str, is_one: bool) -> None:
    assert looks_like_database(word) == is_one


def test_a_folder_of_files_is_a_database(tmp_path: Path) -> None:
    (tmp_path / "sales").mkdir()
    assert not looks_like_database("sales")
    (tmp_path / "sales" / "january.csv").write_text("id\n1\n")
    assert looks_like_database("sales")


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("postgresql://me:secret@db:5/shop?sslmode=x", "postgresql://me@db:5/shop"),
        ("postgresql://db/shop", "postgresql://db/shop"),
        ("shop.sqlite", "shop.sqlite"),
        ("mail@example.csv", "..."),  # no such file: it may be a user and a password
    ],
)
def test_an_address_is_shown_without_its_password(typed: str, shown: str) -> None:
    assert shown_address(typed) == shown


def test_a_query_on_duckdb(duckdb_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query = "SELECT placed, total FROM orders WHERE id = 2"
    assert main(["sql", str(duckdb_file), query, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["dialect"], told["rows"]) == ("duckdb", [["2024-01-03", 2.5]])


def test_a_query_that_would_read_too_much(
    duckdb_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    query = "SELECT count(*) FROM orders WHERE total > 3"
    assert main(["sql", str(duckdb_file), query, "--max-scan", "100 rows"]) == 16
    assert "100 rows at most are allowed" in capsys.readouterr().err
    assert main(["sql", str(duckdb_file), query, "--max-scan", "1M rows"]) == 0
    capsys.readouterr()
    assert main(["sql", str(duckdb_file), query, "--explain"]) == 0
    assert "reads       about" in capsys.readouterr().out


def test_sqlite_tells_no_estimate(
    database_files: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    query = "SELECT count(*) FROM orders"
    assert main(["sql", str(database_files["shop"]), query, "--max-scan", "1M rows"]) == 16
    assert "doesn't tell how much a query reads" in capsys.readouterr().err


def test_no_password_is_shown_or_kept(
    login: Callable[[], str], home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    url = login()
    password = urlsplit(url).password
    assert password
    query = "SELECT status, sum(total) FROM orders GROUP BY status"
    for words in (
        ["sql", url, query, "--explain"],
        ["ask", url, "How many orders are open?", "--json"],
        ["ask", "How many orders are open?", url],
        ["prepare", url],
        ["doctor", url],
        ["trace"],
        ["purge", url],
        ["sql", url.replace("/db", "/nothere"), query],
    ):
        main(words)
    told = capfd.readouterr()
    assert "500" in told.out
    assert password not in told.out + told.err
    for path in home.rglob("*"):
        assert not path.is_file() or password.encode() not in path.read_bytes()


def test_doctor_says_what_the_login_could_do(
    postgres_server: PostgresServer,
    postgres_database: Callable[[str], str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    name = postgres_database(SHOP)
    assert main(["doctor", postgres_server.url(name), "--json"]) == 0
    checks = {one["name"]: one for one in json.loads(capsys.readouterr().out)["checks"]}
    assert checks["engine"]["found"].startswith("PostgreSQL ")
    assert "parse tree" in checks["layers"]["found"]
    assert checks["login"]["state"] == "fair"
    assert "superuser" in checks["login"]["found"]
    assert "docs/engines.md" in checks["login"]["advice"]


def test_the_demo_on_duckdb(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("duckdb", reason="duckdb isn't installed")
    assert main(["demo", "--engine", "duckdb", "--all"]) == 0
    told = capsys.readouterr().out
    right = int(told.partition(" of 30 questions right")[0].rpartition("\n")[2])
    assert right >= 26


def test_doctor_counts_what_a_file_holds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "sales.csv"
    path.write_text("id\n1\n", encoding="utf-8")
    main(["doctor", str(path), "--json"])
    checks = {one["name"]: one for one in json.loads(capsys.readouterr().out)["checks"]}
    counts = checks["database"]["found"].removeprefix(f"{path}: ")
    assert counts == "1 table, 0 views, 1 column, 0 declared keys"
