"""Views are known by what SQLite takes for one, also in a schema that was written by hand."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from sqlwright.database import open_database
from sqlwright.errors import ConfigError, UnsafeQuery
from sqlwright.protocols import Limits, Run
from sqlwright.sql.guard import check_query
from tests.database.conftest import make_database

SCRIPT = """
CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT);
INSERT INTO people VALUES (1, 'Ann');
CREATE VIEW bad AS SELECT load_extension('evil') AS x;
CREATE VIEW good AS SELECT name FROM people;
CREATE VIEW "Ö" AS SELECT load_extension('evil') AS x;
CREATE VIEW "ö" AS SELECT name FROM people;
"""
HANDMADE = {
    "the kind in capitals": "type = 'VIEW'",
    "the kind as bytes": "type = x'76494557'",
    "the kind up to a NUL": "type = 'view' || char(0, 120)",
    "the name as bytes": "name = CAST(name AS BLOB)",
    "the name up to a NUL": "name = name || char(0) || 'x'",
    "the text as bytes": "sql = CAST(sql AS BLOB)",
}


@pytest.mark.parametrize("change", HANDMADE.values(), ids=HANDMADE.keys())
def test_a_schema_made_by_hand_has_the_same_views(change: str, tmp_path: Path) -> None:
    path = make_database(tmp_path / "shop.db", SCRIPT)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute(f"UPDATE sqlite_schema SET {change} WHERE type = 'view'")
    connection.commit()
    connection.close()
    reader = sqlite3.connect(path)
    assert reader.execute("SELECT name FROM good").fetchall() == [("Ann",)]
    reader.close()
    with open_database(str(path)) as database:
        result = database.execute("SELECT * FROM bad", Run())
    assert result.error is not None
    assert "the view bad is not safe to read" in result.error.message


def test_names_are_folded_as_sqlite_folds_them(tmp_path: Path) -> None:
    path = make_database(tmp_path / "shop.db", SCRIPT)
    with open_database(str(path)) as database:
        assert database.execute("SELECT * FROM ö", Run()).rows == (("Ann",),)
        result = database.execute("SELECT * FROM Ö", Run())
        assert result.error is not None
        assert "not safe to read" in result.error.message
    views = {"\u212a": "CREATE VIEW \u212a AS SELECT load_extension('x')"}
    check_query("SELECT * FROM k", views=views, hidden={"\u212a"})
    with pytest.raises(UnsafeQuery):
        check_query("SELECT * FROM \u212a", views=views)


def test_a_listed_table_is_no_other_with_a_like_name(tmp_path: Path) -> None:
    script = "CREATE TABLE kelvin (a); CREATE TABLE \u212aelvin (b); INSERT INTO kelvin VALUES (1);"
    path = make_database(tmp_path / "shop.db", script)
    with open_database(str(path), tables=["KELVIN"]) as database:
        assert [table.name for table in database.schema().tables] == ["kelvin"]
        assert database.execute("SELECT a FROM Kelvin", Run()).rows == ((1,),)
        assert database.execute("SELECT b FROM \u212aelvin", Run()).error is not None


def test_a_view_that_is_too_tangled_is_refused_in_time(tmp_path: Path) -> None:
    tangled = f"CREATE VIEW tangled AS SELECT 1 AS x FROM people{' JOIN people' * 30};"
    path = make_database(tmp_path / "shop.db", SCRIPT + tangled)
    with open_database(str(path)) as database:
        result = database.execute("SELECT * FROM tangled", Run(), limits=Limits(seconds=60))
        assert result.error is not None
        assert "too many readings" in result.error.message
    with pytest.raises(ConfigError, match="too many readings"):
        open_database(str(path), tables=["people", "tangled"])


@pytest.mark.parametrize("seconds", [0.001, 0.01])
def test_the_check_counts_as_time_of_the_query(tmp_path: Path, seconds: float) -> None:
    path = make_database(tmp_path / "shop.db", SCRIPT)
    sql = "SELECT " + ", ".join(f"name AS n{i}" for i in range(1_900)) + " FROM people"
    with open_database(str(path)) as database:
        assert database.execute("SELECT 1", Run()).ok
        result = database.execute(sql, Run(), limits=Limits(seconds=seconds))
        assert result.error is not None
        assert result.error.kind == "timeout"
        assert database.execute(sql, Run()).ok


def test_a_cancelled_run_ends_in_the_check(tmp_path: Path) -> None:
    path = make_database(tmp_path / "shop.db", SCRIPT)
    run = Run()
    run.cancelled.set()
    with open_database(str(path)) as database:
        result = database.execute("SELECT 1", run)
    assert result.error is not None
    assert result.error.kind == "cancelled"
