"""What a second `prepare` reads again: what changed, and nothing else."""

from __future__ import annotations

import os
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

from sqlwright.errors import Cancelled
from sqlwright.prepare import Progress, open_workspace, prepare
from sqlwright.protocols import Run

THREE = """
    CREATE TABLE owners (id INTEGER PRIMARY KEY, name VARCHAR(40), city VARCHAR(40));
    CREATE TABLE pets (id INTEGER PRIMARY KEY, owner_id INTEGER, name VARCHAR(40), age INTEGER);
    CREATE TABLE visits (id INTEGER PRIMARY KEY, day VARCHAR(10));
    INSERT INTO owners VALUES (1, 'Ann', 'Rome'), (2, 'Bob', 'Oslo');
    INSERT INTO pets VALUES (1, 1, 'Rex', 3), (2, 2, 'Tom', 5), (3, 2, 'Kit', 1);
    INSERT INTO visits VALUES (1, '2024-01-31');
"""
CHANGES = {
    "UPDATE pets SET name = 'Max' WHERE id = 1": ["pets"],
    "INSERT INTO visits VALUES (2, '2024-02-01')": ["visits"],
    "DELETE FROM owners WHERE id = 2": ["owners"],
    "TRUNCATE TABLE pets": ["pets"],
    "DELETE FROM visits; INSERT INTO visits VALUES (1, '2024-01-30')": ["visits"],
    "ALTER TABLE pets ADD COLUMN colour VARCHAR(10)": ["pets"],
    "ALTER TABLE owners DROP COLUMN city": ["owners"],
    "CREATE TABLE rooms (id INTEGER); INSERT INTO rooms VALUES (1)": ["rooms"],
    "DROP TABLE visits": [],
}
"""Changes one after the other, and the tables that are read again for each."""


def test_only_what_changed(place: Any, tmp_path: Path) -> None:
    made = place(THREE)
    folder = tmp_path / "prepared"
    assert sorted(prepare(made.url, folder=folder).read) == ["owners", "pets", "visits"]
    assert prepare(made.url, folder=folder).read == ()
    for change, read in CHANGES.items():
        made.change(change)
        again = prepare(made.url, folder=folder)
        assert list(again.read) == read, change
        assert set(again.reused) == {t.name for t in again.catalog.schema.tables} - set(read)
    assert prepare(made.url, folder=folder).read == ()


def test_an_interrupted_preparation_goes_on(place: Any, tmp_path: Path) -> None:
    made = place(THREE)
    folder = tmp_path / "prepared"
    stop = threading.Event()

    def stop_late(progress: Progress) -> None:
        if progress.stage == "tables" and progress.detail == "visits":
            stop.set()

    with pytest.raises(Cancelled):
        prepare(made.url, folder=folder, run=Run(cancelled=stop), progress=stop_late)
    resumed = prepare(made.url, folder=folder)
    assert (resumed.read, resumed.reused) == (("visits",), ("owners", "pets"))
    assert prepare(made.url, folder=folder).read == ()


def test_a_view_follows_its_tables_and_its_query(place: Any, tmp_path: Path) -> None:
    made = place(THREE + "CREATE VIEW rows_of AS SELECT name FROM pets;")
    folder = tmp_path / "prepared"
    prepare(made.url, folder=folder)
    made.change("UPDATE pets SET name = 'Max' WHERE id = 1")
    assert sorted(prepare(made.url, folder=folder).read) == ["pets", "rows_of"]
    made.change("CREATE OR REPLACE VIEW rows_of AS SELECT name FROM owners")
    assert prepare(made.url, folder=folder).read == ("rows_of",)
    assert prepare(made.url, folder=folder).read == ()


def test_what_is_new_and_gone_is_named(place: Any, tmp_path: Path) -> None:
    made = place(THREE)
    folder = tmp_path / "prepared"
    prepare(made.url, folder=folder)
    made.change("CREATE TABLE rooms (id INTEGER, name VARCHAR(10))")
    made.change("ALTER TABLE pets ADD COLUMN colour VARCHAR(10)")
    made.change("ALTER TABLE owners DROP COLUMN city")
    space = open_workspace(made.url, folder=folder)
    space.database.close()
    assert space.notes[0].startswith(
        "The database has changed since it was prepared, rooms, pets.colour are new, "
        "owners.city is gone. "
    )
    assert sorted(prepare(made.url, folder=folder).read) == ["owners", "pets", "rooms"]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder of three files that are tables."""
    pytest.importorskip("duckdb", reason="duckdb isn't installed")
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "owners.csv").write_text("id,name\n1,Ann\n2,Bob\n")
    (folder / "pets.csv").write_text("id,name\n1,Rex\n2,Tom\n")
    (folder / "visits.json").write_text('[{"day": "2024-01-31"}]')
    return folder


def test_only_files_that_changed(files: Path, tmp_path: Path) -> None:
    folder = tmp_path / "prepared"
    assert sorted(prepare(str(files), folder=folder).read) == ["owners", "pets", "visits"]
    assert prepare(str(files), folder=folder).read == ()
    (files / "visits.json").write_text('[{"day": "2024-01-30"}]')
    assert prepare(str(files), folder=folder).read == ("visits",)
    (files / "rooms.csv").write_text("id,name\n1,red\n")
    assert prepare(str(files), folder=folder).read == ("rooms",)
    (files / "sqlwright-files.yaml").write_text("files: {pets.csv: {types: {id: VARCHAR}}}")
    assert prepare(str(files), folder=folder).read == ("pets",)
    (files / "rooms.csv").unlink()
    again = prepare(str(files), folder=folder)
    assert (again.read, sorted(again.reused)) == ((), ["owners", "pets", "visits"])


def test_a_file_of_the_same_size_and_time(files: Path, tmp_path: Path) -> None:
    folder, path = tmp_path / "prepared", files / "pets.csv"
    prepare(str(files), folder=folder)
    before = path.stat()
    path.write_text("id,name\n1,Max\n2,Tom\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = path.stat()
    assert (after.st_size, after.st_mtime_ns, after.st_ino) == (
        before.st_size, before.st_mtime_ns, before.st_ino,
    )  # fmt: skip
    assert prepare(str(files), folder=folder).read == ("pets",)


def test_a_file_more_of_one_table(files: Path, tmp_path: Path) -> None:
    folder = tmp_path / "prepared"
    for month in ("01", "02"):
        (files / f"sales-2024-{month}.csv").write_text(f"id,month\n1,{month}\n")
    assert "sales" in prepare(str(files), folder=folder).read
    (files / "sales-2024-03.csv").write_text("id,month\n1,03\n")
    assert prepare(str(files), folder=folder).read == ("sales",)


def test_a_virtual_table_keeps_its_rows_in_others(tmp_path: Path) -> None:
    path, folder = tmp_path / "a.db", tmp_path / "prepared"
    with sqlite3.connect(path) as connection:
        connection.executescript(
            "CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('x');"
            "CREATE VIRTUAL TABLE words USING fts5(word); INSERT INTO words VALUES ('one')"
        )
    assert prepare(str(path), folder=folder).read == ("t", "words")
    with sqlite3.connect(path) as connection:
        connection.execute("INSERT INTO words VALUES ('two')")
    assert prepare(str(path), folder=folder).read == ("words",)
