"""Real SQLite files to run against."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sqlwright.database import open_database
from sqlwright.database.sqlite.database import SqliteDatabase

SHOP = """
CREATE TABLE people (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT, age INT);
INSERT INTO people VALUES (1, 'Ann', 31), (2, 'Bo', 17), (3, 'Cy', 55);
CREATE INDEX people_age ON people (age);
CREATE TABLE orders (
    number INTEGER, line INTEGER, person INTEGER REFERENCES people, total REAL,
    PRIMARY KEY (number, line)
);
INSERT INTO orders VALUES (1, 1, 1, 9.5), (1, 2, 1, 3), (2, 1, 3, 20);
CREATE VIEW adults AS SELECT id, name FROM people WHERE age >= 18;
CREATE VIEW one AS SELECT 1 AS x;
CREATE TRIGGER adults_insert INSTEAD OF INSERT ON adults
    BEGIN INSERT INTO people (id, name) VALUES (new.id, new.name); END;
CREATE TRIGGER adults_delete INSTEAD OF DELETE ON adults
    BEGIN DELETE FROM people WHERE id = old.id; END;
CREATE TRIGGER adults_update INSTEAD OF UPDATE ON adults
    BEGIN UPDATE people SET name = new.name WHERE id = old.id; END;
CREATE VIRTUAL TABLE notes USING fts5(title, body);
INSERT INTO notes VALUES ('first', 'hello world'), ('second', 'more words');
CREATE VIRTUAL TABLE boxes USING rtree(id, minx, maxx);
INSERT INTO boxes VALUES (1, 0, 1);
CREATE VIEW view_loads_code AS SELECT load_extension('evil') AS x;
CREATE VIEW view_of_view_loads_code AS SELECT x FROM view_loads_code;
CREATE VIEW view_lists_files AS SELECT file FROM pragma_database_list;
CREATE VIEW view_reads_pages AS SELECT * FROM dbstat;
"""


def make_database(path: Path, script: str = SHOP) -> Path:
    """Write a database file."""
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.close()
    return path


def folder_state(folder: Path) -> dict[str, tuple[int, str]]:
    """Every file's size and hash, by name."""
    return {
        str(path.relative_to(folder)): (
            path.stat().st_size,
            hashlib.sha256(path.read_bytes()).hexdigest(),
        )
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A small business with views, triggers, full-text search and an R*Tree."""
    folder = tmp_path / "shop"
    folder.mkdir()
    return make_database(folder / "shop.db")


Opener = Callable[[Path | str], SqliteDatabase]


@pytest.fixture
def opened() -> Iterator[Opener]:
    """Opens databases and closes them at the end."""
    databases: list[SqliteDatabase] = []

    def open_one(path: Path | str) -> SqliteDatabase:
        databases.append(open_database(str(path)))
        return databases[-1]

    yield open_one
    for database in databases:
        database.close()
