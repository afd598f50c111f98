"""Marks of a DuckDB file's tables by what they hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlwright.database import open_database
from sqlwright.database.duckdb.database import MOST_ROWS
from sqlwright.prepare import prepare
from tests.database.duckdb.conftest import duckdb

TYPES = {
    "INTEGER": ("1", "2"),
    "VARCHAR": ("''", "NULL"),
    "VARCHAR[]": ("['NULL']", "[NULL]"),
    "DOUBLE": ("0.0", "'-0.0'::DOUBLE"),
    "INTERVAL": ("INTERVAL 1 MONTH", "INTERVAL 30 DAY"),
    "BLOB": (r"'\x5C'::BLOB", r"'\x00'::BLOB"),
    "STRUCT(a VARCHAR, b VARCHAR)": ("{'a': 'x', 'b': NULL}", "{'a': 'x', 'b': 'NULL'}"),
    "MAP(VARCHAR, VARCHAR)": ("MAP {'a': NULL}", "MAP {'a': 'NULL'}"),
    "TIMESTAMP_NS": ("'2024-01-01 00:00:00.000000001'", "'2024-01-01 00:00:00.000000002'"),
    "ENUM('a', 'b')": ("'a'", "'b'"),
    "UNION(n INTEGER, t VARCHAR)": ("union_value(n := 1)", "union_value(t := '1')"),
    "VARIANT": ("1::VARIANT", "'1'::VARIANT"),
    "JSON": ("'{}'", "'{ }'"),
    "TIMESTAMPTZ": ("'2024-01-01 00:00:00+00'", "'2024-01-01 00:00:01+00'"),
}
"""Two values of each type that are different and look alike."""


def write(path: Path, sql: str) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute(sql)


def marks_of(path: Path) -> dict[str, str]:
    with open_database(str(path)) as database:
        marks = database.table_marks(database.schema())
    assert marks is not None
    return dict(marks)


@pytest.mark.parametrize("kind", TYPES)
def test_values_that_look_alike(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    first, second = TYPES[kind]
    write(path, f"CREATE TABLE t (c {kind}); INSERT INTO t VALUES ({first})")
    before = marks_of(path)
    write(path, f"DELETE FROM t; INSERT INTO t VALUES ({second})")  # UPDATE leaves equal values
    assert marks_of(path)["t"] != before["t"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("('a', 'bc')", "('ab', 'c')"),
        ("('a', NULL)", "(NULL, 'a')"),
        ("('1:a', '')", "('', '1:a')"),
        ("('a', 'b'), ('c', 'd')", "('c', 'd'), ('a', 'b')"),
        ("('a', 'b'), ('a', 'b')", "('c', 'd'), ('c', 'd')"),
        ("('a', 'b')", "('a', 'b'), ('a', 'b')"),
    ],
)
def test_rows_that_look_alike(first: str, second: str, tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    write(path, f"CREATE TABLE t (a VARCHAR, b VARCHAR); INSERT INTO t VALUES {first}")
    before = marks_of(path)
    write(path, f"DELETE FROM t; INSERT INTO t VALUES {second}; CHECKPOINT")
    assert marks_of(path)["t"] != before["t"]


def test_the_same_rows_elsewhere_in_the_file_are_no_change(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    write(
        path,
        "CREATE TABLE t AS SELECT i AS id, 'n' || i AS name FROM range(50000) r(i);"
        "CREATE SCHEMA s; CREATE TABLE s.t (id INTEGER, rowid INTEGER);"
        "INSERT INTO s.t VALUES (1, 2)",
    )
    before = marks_of(path)
    write(path, "CREATE TABLE new AS FROM t ORDER BY id; DROP TABLE t; ALTER TABLE new RENAME TO t")
    after = marks_of(path)
    assert after["t"] == before["t"]
    assert after["s.t"] != before["s.t"]  # no digest: which order is its own can't be said


def test_a_large_table_has_the_mark_of_the_file(tmp_path: Path) -> None:
    path, folder = tmp_path / "a.duckdb", tmp_path / "prepared"
    write(
        path,
        f"CREATE TABLE large AS SELECT i FROM range({MOST_ROWS + 1}) r(i);"
        "CREATE TABLE small AS SELECT 1 AS a; CREATE TABLE other AS SELECT 1 AS a",
    )
    prepare(str(path), folder=folder)
    assert prepare(str(path), folder=folder).read == ()
    write(path, "INSERT INTO small VALUES (2)")
    assert prepare(str(path), folder=folder).read == ("large", "small")
    assert prepare(str(path), folder=folder, rows=1_000).reused == ()
