"""What is read of a schema, however odd."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from sqlwright.protocols import Run
from sqlwright.schema import Column, ForeignKey
from tests.database.conftest import Opener, make_database


def test_a_shop(shop: Path, opened: Opener) -> None:
    schema = opened(shop).schema()
    assert (schema.name, schema.dialect) == ("shop", "sqlite")
    assert [(t.name, t.kind, t.primary_key) for t in schema.tables] == [
        ("people", "table", ("id",)),
        ("orders", "table", ("number", "line")),
        ("adults", "view", ()),
        ("one", "view", ()),
        ("notes", "table", ()),
        ("boxes", "table", ()),
    ]
    assert schema.tables[2].columns == (Column("id", "INTEGER"), Column("name", "TEXT"))
    assert [column.name for column in schema.tables[4].columns] == ["title", "body"]
    assert schema.foreign_keys == (ForeignKey("orders", ("person",), "people", ("id",)),)


def test_columns(tmp_path: Path, opened: Opener) -> None:
    script = """
        CREATE TABLE t (
            a VARCHAR(20) NOT NULL, b, c "my type" DEFAULT 5, d DECIMAL(10, 2),
            e GENERATED ALWAYS AS (a || b), f TEXT AS (b) STORED
        );
        CREATE TABLE s (a TEXT, b INTEGER, PRIMARY KEY (b, a)) WITHOUT ROWID, STRICT;
    """
    t, s = opened(make_database(tmp_path / "x.db", script)).schema().tables
    assert t.columns == (
        Column("a", "VARCHAR(20)", nullable=False),
        Column("b"),
        Column("c", "my type"),
        Column("d", "DECIMAL(10, 2)"),
        Column("e", generated=True),
        Column("f", "TEXT", generated=True),
    )
    assert s.primary_key == ("b", "a")
    assert not any(column.nullable for column in s.columns)


def test_foreign_keys(tmp_path: Path, opened: Opener) -> None:
    script = """
        CREATE TABLE Parent (Id INTEGER PRIMARY KEY, Code TEXT UNIQUE);
        CREATE TABLE Pair (a, b, PRIMARY KEY (b, a));
        CREATE TABLE keyless (x);
        CREATE TABLE child (
            one REFERENCES PARENT,
            two TEXT REFERENCES parent (code),
            three REFERENCES nowhere (id),
            four REFERENCES parent (missing),
            five REFERENCES keyless,
            six, seven,
            parent REFERENCES child (six),
            FOREIGN KEY (SIX, Seven) REFERENCES pair,
            FOREIGN KEY (seven, six) REFERENCES Pair (A, B)
        );
    """
    schema = opened(make_database(tmp_path / "x.db", script)).schema()
    assert set(schema.foreign_keys) == {
        ForeignKey("child", ("one",), "Parent", ("Id",)),
        ForeignKey("child", ("two",), "Parent", ("Code",)),
        ForeignKey("child", ("parent",), "child", ("six",)),
        ForeignKey("child", ("six", "seven"), "Pair", ("b", "a")),
        ForeignKey("child", ("seven", "six"), "Pair", ("a", "b")),
    }
    assert schema.foreign_keys[0].columns == ("one",)  # in declared order


NAMES = [
    "select",
    "a b",
    'qu"ote',
    "it's",
    "dot.ted",
    "new\nline",
    "[x]",
    "é東",
    "1st",
    "",
    " ",
    "`",
]


@pytest.mark.parametrize("name", NAMES)
def test_odd_names(tmp_path: Path, opened: Opener, name: str) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    make_database(
        tmp_path / "x.db",
        f"CREATE TABLE {quoted} ({quoted} TEXT, other); INSERT INTO {quoted} VALUES ('v', 1);",
    )
    database = opened(tmp_path / "x.db")
    (table,) = database.schema().tables
    assert table.name == name
    assert [column.name for column in table.columns] == [name, "other"]
    result = database.execute(f"SELECT {quoted}, other FROM {quoted}", Run())
    assert result.rows == (("v", 1),), result.error
    assert result.columns[0] == name or not name


def test_broken_objects_are_left_out(tmp_path: Path, opened: Opener) -> None:
    script = """
        CREATE TABLE good (a);
        CREATE VIEW lost AS SELECT * FROM gone;
        CREATE VIEW fine AS SELECT a FROM good;
        PRAGMA writable_schema = ON;
        INSERT INTO sqlite_master VALUES
            ('table', 'strange', 'strange', 0, 'CREATE VIRTUAL TABLE strange USING unheard_of(a)');
    """
    database = opened(make_database(tmp_path / "x.db", script))
    assert [table.name for table in database.schema().tables] == ["good", "fine"]
    result = database.execute("SELECT * FROM strange", Run())
    assert result.error is not None
    assert result.error.kind == "sql"
    assert "unheard_of" in result.error.message


def test_names_and_values_that_are_not_utf8(tmp_path: Path, opened: Opener) -> None:
    script = """
        CREATE TABLE t (a TEXT, b);
        INSERT INTO t VALUES ('fine', x'00ff'), (CAST(x'61ff62' AS TEXT), 'last'), (NULL, 1.5);
        INSERT INTO t VALUES ('n' || char(0) || 'l', 9223372036854775807);
        PRAGMA writable_schema = ON;
        INSERT INTO sqlite_master VALUES ('table', CAST(x'6eff' AS TEXT), CAST(x'6eff' AS TEXT), 2,
            CAST(x'435245415445205441424c452022' || x'6eff' || x'222028226365fe222c206f6b29'
                AS TEXT));
    """
    database = opened(make_database(tmp_path / "x.db", script))
    assert [(t.name, [c.name for c in t.columns]) for t in database.schema().tables] == [
        ("t", ["a", "b"]),
        ("n\ufffd", ["ce\ufffd", "ok"]),
    ]
    rows = (
        ("fine", b"\x00\xff"),
        ("a\ufffdb", "last"),
        (None, 1.5),
        ("n\x00l", 9223372036854775807),
    )
    result = database.execute("SELECT * FROM t;", Run())
    assert result.columns == ("a", "b")
    assert result.rows == rows
    ordered = database.execute("SELECT b, a FROM t ORDER BY rowid DESC LIMIT 3 -- end", Run())
    assert ordered.rows == tuple((b, a) for a, b in reversed(rows[1:]))
    with database.reader() as connection:
        assert tuple(connection.rows("SELECT a, b FROM t WHERE a IS NOT ?", ("x",))) == rows


def test_other_encodings(tmp_path: Path, opened: Opener) -> None:
    for encoding in ("UTF-16le", "UTF-16be"):
        path = make_database(
            tmp_path / f"{encoding}.db",
            f"PRAGMA encoding='{encoding}'; CREATE TABLE é (東 TEXT); INSERT INTO é VALUES ('ß')",
        )
        database = opened(path)
        assert database.schema().tables[0].columns[0].name == "東"
        assert database.execute("SELECT * FROM é", Run()).rows == (("ß",),)


def test_four_thousand_columns(tmp_path: Path, opened: Opener) -> None:
    connection = sqlite3.connect(tmp_path / "wide.db")
    for i in range(40):
        columns = ", ".join(f"c{j} TEXT" for j in range(100))
        connection.execute(f"CREATE TABLE t{i} ({columns}, FOREIGN KEY (c1) REFERENCES t0 (c0))")
    connection.commit()
    connection.close()
    schema = opened(tmp_path / "wide.db").schema()
    assert schema.column_count == 4_000
    assert len(schema.foreign_keys) == 40


def test_changes_are_seen(shop: Path, opened: Opener) -> None:
    database = opened(shop)
    assert database.execute("SELECT 1 FROM people", Run()).ok
    before = database.fingerprint()
    assert database.fingerprint() == before
    connection = sqlite3.connect(shop)
    connection.executescript(
        "CREATE TABLE later (a); CREATE VIEW evil AS SELECT load_extension('x');"
        "CREATE VIEW nice AS SELECT a FROM later"
    )
    connection.close()
    assert database.fingerprint() != before
    assert database.schema().table("later") is not None
    assert database.execute("SELECT count(*) FROM later", Run()).ok
    assert database.execute("SELECT * FROM nice", Run()).ok
    result = database.execute("SELECT * FROM evil", Run())
    assert result.error is not None
    assert result.error.kind == "unsafe"
