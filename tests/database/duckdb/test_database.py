"""A DuckDB file as a database: schema, cells, errors, cost, changes, other programs."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
import yaml

from sqlwright.database import open_database
from sqlwright.database.duckdb.database import DuckdbDatabase
from sqlwright.errors import ConfigError, DatabaseUnavailable
from sqlwright.protocols import Run
from sqlwright.schema import Column, ForeignKey
from tests.database.duckdb.conftest import Opener, ask, duckdb, make_database
from tests.waiting import PATIENCE_SECONDS

CASES = Path(__file__).parents[2] / "cases" / "duckdb"
CELLS = yaml.safe_load((CASES / "cells.yaml").read_text(encoding="utf-8"))
ERRORS = yaml.safe_load((CASES / "errors.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> DuckdbDatabase:
    path = make_database(tmp_path_factory.mktemp("stored") / "sales.duckdb")
    database = open_database(str(path))
    assert isinstance(database, DuckdbDatabase)
    yield database
    database.close()


def write(path: Path, sql: str) -> None:
    """Write as another program does, once the workers have let go of the file."""
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            with duckdb.connect(str(path)) as connection:
                connection.execute(sql)
            return
        except duckdb.IOException:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)


def test_the_schema_is_read(stored: DuckdbDatabase) -> None:
    schema = stored.schema()
    assert (schema.name, schema.dialect) == ("sales", "duckdb")
    listed = [(t.name, t.kind, t.namespace) for t in schema.tables]
    assert [kind for _, kind, _ in listed] == ["table"] * 4 + ["view"] * 5
    assert listed[3][0] == "sales.orders"  # the usual namespace comes first
    assert sorted(listed) == sorted([
        ("people", "table", ""), ("orders", "table", ""), ("secrets", "table", ""),
        ("sales.orders", "table", "sales"),
        ("adults", "view", ""), ("shows_secrets", "view", ""), ("reads_a_file", "view", ""),
        ("calls_a_macro", "view", ""), ("sales.big", "view", "sales"),
    ])  # fmt: skip
    people, orders, adults = (schema.table(n) for n in ("people", "orders", "adults"))
    assert people.description == "People who buy"
    assert people.primary_key == ("id",)
    assert people.columns == (
        Column("id", "INTEGER", nullable=False),
        Column("name", "VARCHAR", nullable=False, description="Full name"),
        Column("age", "INTEGER"),
        Column(
            "mood",
            "ENUM",
            value_description="one of: sad, it's ok, happy",
            labels=("sad", "it's ok", "happy"),
        ),
    )
    assert [c.name for c in orders.columns if c.generated] == ["half"]
    assert orders.primary_key == ("number", "line")
    assert schema.foreign_keys == (ForeignKey("orders", ("person",), "people", ("id",)),)
    assert (adults.description, adults.definition.split()[0]) == ("Of age", "SELECT")


def test_a_schema_of_the_files_own_name_is_no_trouble(stored: DuckdbDatabase) -> None:
    assert ask(stored, "SELECT amount FROM sales.orders").rows == ((5.5,),)


@pytest.mark.parametrize(("sql", "cell"), CELLS, ids=[sql for sql, _ in CELLS])
def test_a_cell_comes_as_it_is(sql: str, cell: str, stored: DuckdbDatabase) -> None:
    with stored.reader(seconds=10) as reader:
        ((found,),) = reader.rows(f"SELECT {sql} -- a comment")
    assert repr(found) == cell


def test_generated_sql_gets_the_same_cells(stored: DuckdbDatabase) -> None:
    result = ask(stored, "SELECT total, half, day FROM orders, sales.orders ORDER BY total LIMIT 1")
    assert result.columns == ("total", "half", "day")
    assert result.rows == ((Decimal("3.00"), Decimal("1.50"), date(2024, 1, 31)),)


@pytest.mark.parametrize(("sql", "kind", "cause", "name"), ERRORS)
def test_an_error_is_sorted(
    sql: str, kind: str, cause: str, name: str, stored: DuckdbDatabase
) -> None:
    error = ask(stored, sql).error
    assert error is not None
    assert (error.kind, error.cause, error.name) == (kind, cause, name)


def test_an_error_guesses_no_names(stored: DuckdbDatabase) -> None:
    error = ask(stored, "SELECT * FROM secretz").error
    assert error is not None
    assert "secrets" not in error.message


def test_an_estimate_runs_nothing(stored: DuckdbDatabase) -> None:
    cost = stored.cost("SELECT p.name, count(*) FROM people p JOIN orders o ON o.person = p.id "
                       "GROUP BY 1", Run())  # fmt: skip
    assert cost.error is None
    assert cost.rows is not None
    assert cost.scanned_rows == 6
    assert any("people" in line for line in cost.outline)
    assert not any("sqlwright" in line for line in cost.outline)


def test_an_estimate_of_what_may_not_run_is_refused(stored: DuckdbDatabase) -> None:
    for sql in ("DROP TABLE people", "SELECT * FROM read_text('/etc/passwd')"):
        error = stored.cost(sql, Run()).error
        assert error is not None
        assert error.kind in {"unsafe", "sql"}


def test_a_result_is_cut_at_the_limit(stored: DuckdbDatabase) -> None:
    result = stored.execute("SELECT * FROM range(100000000000)", Run())
    assert (len(result.rows), result.truncated) == (1_000, True)
    assert ask(stored, "SELECT 1").rows == ((1,),)


def test_names_are_folded_as_duckdb_does(stored: DuckdbDatabase) -> None:
    assert ask(stored, "SELECT Count(*) FROM PEOPLE").rows == ((3,),)


def test_a_list_of_tables_hides_the_others(shop: Path, opened: Opener) -> None:
    database = opened(shop, ["PEOPLE", "sales.orders", "adults"])
    assert database.tables == ("people", "sales.orders", "adults")
    assert [t.name for t in database.schema().tables] == ["people", "sales.orders", "adults"]
    assert ask(database, "SELECT count(*) FROM adults, sales.orders").rows == ((2,),)
    for hidden in ("secrets", "orders", "sales.big", "nowhere"):
        error = ask(database, f"SELECT * FROM {hidden}").error
        assert error is not None
        assert (error.kind, error.cause, error.name) == ("sql", "unknown_table", hidden)


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        (["nothing"], "has no table 'nothing'"),
        (["people", "shows_secrets"], "it reads secrets"),
        (["people", "calls_a_macro"], "it reads everything"),
    ],
)
def test_a_list_that_would_show_more_is_refused(
    tables: list[str], message: str, shop: Path
) -> None:
    with pytest.raises(ConfigError, match=message):
        open_database(str(shop), tables=tables)


def test_a_change_is_noticed(shop: Path, opened: Opener) -> None:
    database = opened(shop)
    before = database.fingerprint()
    assert ask(database, "SELECT count(*) FROM people").rows == ((3,),)
    write(shop, "CREATE TABLE fresh AS SELECT 7 AS x")
    assert database.fingerprint() != before
    assert ask(database, "SELECT x FROM fresh").rows == ((7,),)


def test_a_log_beside_the_file_is_read(shop: Path, tmp_path: Path, opened: Opener) -> None:
    connection = duckdb.connect(str(shop))
    connection.execute("SET checkpoint_threshold = '1GB'")
    connection.execute("INSERT INTO people VALUES (4, 'Di', 20, NULL)")
    copy = tmp_path / "copy.duckdb"
    shutil.copy(shop, copy)
    shutil.copy(f"{shop}.wal", f"{copy}.wal")
    connection.close()
    database = opened(copy)
    assert ask(database, "SELECT count(*) FROM people").rows == ((4,),)
    assert database.size() > copy.stat().st_size


HOLDER = """
import duckdb, sys
connection = duckdb.connect(sys.argv[1])
print("open", flush=True)
sys.stdin.readline()
"""


def test_a_file_open_for_writing_elsewhere_is_told(shop: Path, opened: Opener) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(shop)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as holder:  # fmt: skip
        holder.stdout.readline()
        with pytest.raises(DatabaseUnavailable, match="open for writing elsewhere") as raised:
            open_database(str(shop))
        assert "close the program" in raised.value.hint
        holder.communicate("\n")
    assert ask(opened(shop), "SELECT 1").ok


def test_other_programs_may_write_between_questions(shop: Path, opened: Opener) -> None:
    database = opened(shop)
    assert ask(database, "SELECT 1").ok
    write(shop, "DELETE FROM secrets")
    assert ask(database, "SELECT count(*) FROM secrets").rows == ((0,),)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a DuckDB database"),
        (b"SQLite format 3\0" * 300, "not a DuckDB database"),
        (b"12345678DUCK" + b"\0" * 20_000, "damaged|version|can't be read"),
        (None, "doesn't exist"),
    ],
)
def test_what_is_no_database_is_told(content: bytes | None, message: str, tmp_path: Path) -> None:
    path = tmp_path / "x.duckdb"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DatabaseUnavailable, match=message):
        open_database(str(path))


def test_a_damaged_file_is_told(shop: Path) -> None:
    data = bytearray(shop.read_bytes())
    data[12_288:14_000] = b"\xff" * (14_000 - 12_288)
    shop.write_bytes(data)
    with pytest.raises(DatabaseUnavailable):
        open_database(str(shop)).close()


def test_identity_and_url(shop: Path, tmp_path: Path, opened: Opener) -> None:
    link = tmp_path / "link.duckdb"
    link.symlink_to(shop)
    one, other = opened(shop), opened(f"duckdb:///{link}")
    assert one.identity == other.identity == str(shop)
    assert (one.url, one.path) == (f"duckdb:///{shop}", shop)
    assert ask(other, "SELECT count(*) FROM people").rows == ((3,),)
