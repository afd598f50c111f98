"""The vectors of stored values: prepared where asked for, kept, renewed, resumed, removed."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest

from sqlwright.errors import Cancelled
from sqlwright.indexes.text_vectors import KeptVectors, open_file, text_keys
from sqlwright.prepare import prepare, purge
from sqlwright.prepare.build import Progress
from sqlwright.protocols import Run

FILE = "values.vectors"
CITIES = ["New York", "Bern", "Rome"]


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "cities.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE cities (name TEXT)")
        connection.executemany("INSERT INTO cities VALUES (?)", [(city,) for city in CITIES])
    return path


def kept(folder: Path) -> KeptVectors:
    found = open_file(folder / FILE)
    assert found is not None
    return found


def test_values_are_embedded_where_that_is_asked_for_and_renewed_from_then_on(
    database: Path, tmp_path: Path
) -> None:
    folder, told = tmp_path / "prepared", list[Progress]()
    prepare(str(database), folder=folder)
    assert not (folder / FILE).exists()
    prepare(str(database), folder=folder, vectors=True, progress=told.append)
    assert [one.stage for one in told][-2:] == ["vectors", "done"]
    assert (kept(folder).find(text_keys(CITIES)) >= 0).all()
    written = (folder / FILE).stat().st_mtime_ns
    prepare(str(database), folder=folder, vectors=True)
    assert (folder / FILE).stat().st_mtime_ns == written
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE cities SET name = 'Oslo' WHERE name = 'Bern'")
    prepare(str(database), folder=folder)
    assert (kept(folder).find(text_keys(["Oslo", "Rome"])) >= 0).all()
    assert kept(folder).find(text_keys(["Bern"])).tolist() == [-1]
    assert purge(str(database), folder=folder)
    assert not folder.exists()


def test_what_was_embedded_before_an_interruption_is_kept(tmp_path: Path) -> None:
    path, folder = tmp_path / "many.sqlite", tmp_path / "prepared"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE things (name TEXT)")
        names = [(f"x{number}",) for number in range(1_030)]
        connection.executemany("INSERT INTO things VALUES (?)", names)
    prepare(str(path), folder=folder)
    run, told = Run(), list[int]()

    def cancel(progress: Progress) -> None:
        if progress.stage == "vectors" and progress.done >= 1_024:
            run.cancelled.set()

    with pytest.raises(Cancelled):
        prepare(str(path), folder=folder, vectors=True, progress=cancel, run=run)
    assert not (folder / FILE).exists()
    prepare(
        str(path),
        folder=folder,
        vectors=True,
        progress=lambda one: told.append(one.done) if one.stage == "vectors" else None,
    )
    assert told[0] == 0
    assert min(told[1:]) > 1_024
    assert len(np.unique(kept(folder).keys)) == 1_030
