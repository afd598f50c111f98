"""What a second `prepare` reads again: what changed, and nothing else."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
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


def test_a_view_of_a_table_that_is_not_seen(place: Any, tmp_path: Path) -> None:
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
