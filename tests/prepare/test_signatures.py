"""The signatures of the published value index: prepared, kept, read back, renewed."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from sqlwright.errors import Cancelled
from sqlwright.indexes.minhash import Library, MinHashIndex
from sqlwright.indexes.published import PublishedIndexes
from sqlwright.prepare import prepare
from sqlwright.prepare.build import Progress
from sqlwright.prepare.opening import open_workspace
from sqlwright.prepare.storage.inventory import purge
from sqlwright.protocols import Run

CITIES = [
    f"{first} {last}" for first in ("New", "Old", "East") for last in ("York", "Bern", "Rome")
]


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "cities.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE cities (name TEXT)")
        connection.executemany("INSERT INTO cities VALUES (?)", [(city,) for city in CITIES])
    return path


def kept(folder: Path) -> list[Path]:
    return sorted(folder.glob("minhash-*"))


@pytest.mark.parametrize("library", ["datasketch", "rensa"])
def test_what_is_kept_finds_what_the_library_finds(
    database: Path, tmp_path: Path, library: Library
) -> None:
    pytest.importorskip(library)
    folder, told = tmp_path / "prepared", list[Progress]()
    prepare(str(database), folder=folder, minhash=library, progress=told.append)
    assert "signatures" in {progress.stage for progress in told}
    assert told[-1].stage == "done"
    (place,) = kept(folder)
    written = (place / "numbers.npy").stat().st_mtime_ns
    workspace = open_workspace(str(database), folder=folder)
    values: Any = workspace.values
    found = PublishedIndexes().of(values, library)
    beside = MinHashIndex(values.column_values(), library=library, least_edit=0.0)
    for phrase in ("New York", "new yrok", "Rome", "Ea", ""):
        assert found.search(phrase) == beside.search(phrase)
    assert found.search("New York")[0].value == "New York"
    assert (place / "numbers.npy").stat().st_mtime_ns == written
    workspace.database.close()


def test_nothing_is_made_unasked_and_the_first_question_keeps_it(
    database: Path, tmp_path: Path
) -> None:
    pytest.importorskip("rensa")
    folder = tmp_path / "prepared"
    prepare(str(database), folder=folder)
    assert kept(folder) == []
    workspace = open_workspace(str(database), folder=folder)
    PublishedIndexes().of(workspace.values, "rensa")
    assert len(kept(folder)) == 1
    workspace.database.close()


def test_damaged_signatures_are_made_again_and_stale_ones_go(
    database: Path, tmp_path: Path
) -> None:
    pytest.importorskip("rensa")
    folder = tmp_path / "prepared"
    prepare(str(database), folder=folder, minhash="rensa")
    (first,) = kept(folder)
    content = (first / "numbers.npy").read_bytes()
    (first / "numbers.npy").write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    prepare(str(database), folder=folder)
    assert (first / "numbers.npy").read_bytes() == content
    with sqlite3.connect(database) as connection:
        connection.execute("INSERT INTO cities VALUES ('Samarkand')")
    prepare(str(database), folder=folder)
    (second,) = kept(folder)
    assert second != first
    assert purge(str(database), folder=folder)
    assert not folder.exists()


def test_making_them_can_be_cancelled(database: Path, tmp_path: Path) -> None:
    pytest.importorskip("rensa")
    folder, run = tmp_path / "prepared", Run()

    def stop(progress: Progress) -> None:
        if progress.stage == "signatures":
            run.cancelled.set()

    with sqlite3.connect(database) as connection:
        more = [(f"Town of {number:03d} lanes",) for number in range(600)]
        connection.executemany("INSERT INTO cities VALUES (?)", more)
    with pytest.raises(Cancelled):
        prepare(str(database), folder=folder, minhash="rensa", progress=stop, run=run)
    assert kept(folder) == []
    prepare(str(database), folder=folder, minhash="rensa")
    assert len(kept(folder)) == 1
