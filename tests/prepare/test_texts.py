"""The vectors of what names and describes columns: made once, kept by text, mended."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sqlwright.errors import Cancelled
from sqlwright.indexes.text_vectors import KeptVectors, file_content, open_file, text_keys
from sqlwright.local.linker.linker import Linker
from sqlwright.local.models import load
from sqlwright.local.question.schema import schema_texts
from sqlwright.prepare import Progress, open_workspace, prepare, prepared_folder, purge
from sqlwright.prepare.texts import CHUNK
from sqlwright.protocols import Run
from sqlwright.types import Question

SHOP = """
    CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, city TEXT);
    CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, state TEXT);
    INSERT INTO customers VALUES (1, 'Ann Bell', 'Oslo');
    INSERT INTO orders VALUES (1, 1, 'paid');
"""
TEXTS = 13
"""id, name, city, customer id, state; each table with its own columns; the tables."""


def change(path: Path, script: str) -> None:
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.commit()
    connection.close()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SQLWRIGHT_HOME", str(tmp_path / "home"))


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "data" / "shop.db"
    path.parent.mkdir()
    change(path, SHOP)
    return path


@pytest.fixture
def embedded(shop: Path) -> Callable[[], int]:
    """Prepares the shop and tells how many texts were embedded for it."""

    def prepared() -> int:
        events: list[Progress] = []
        prepare(str(shop), progress=events.append)
        told = [event for event in events if event.stage == "texts"]
        assert not told or told[-1].done == told[-1].total
        return told[-1].done if told else 0

    return prepared


def stored(path: Path) -> Path:
    return prepared_folder(str(path)) / "texts.vectors"


def kept(path: Path) -> KeptVectors:
    found = open_file(stored(path))
    assert found is not None
    return found


def test_only_texts_that_are_new_are_embedded(shop: Path, embedded: Callable[[], int]) -> None:
    assert embedded() == TEXTS
    written = stored(shop).stat().st_mtime_ns
    assert embedded() == 0
    change(shop, "INSERT INTO customers VALUES (2, 'Bob Cole', 'Rome')")
    assert embedded() == 0
    assert stored(shop).stat().st_mtime_ns == written
    change(shop, "ALTER TABLE customers ADD COLUMN phone TEXT")
    assert embedded() == 2
    assert len(kept(shop).keys) == TEXTS + 2
    change(shop, "ALTER TABLE customers DROP COLUMN phone")
    assert embedded() == 0
    assert len(kept(shop).keys) == TEXTS


def test_a_description_that_changes_is_embedded(shop: Path, embedded: Callable[[], int]) -> None:
    folder = shop.parent / "database_description"
    folder.mkdir()
    header = "original_column_name,column_name,column_description\n"
    (folder / "customers.csv").write_text(f"{header}city,home town,where they live\n")
    assert embedded() == TEXTS + 1
    (folder / "customers.csv").write_text(f"{header}city,home town,where they come from\n")
    assert embedded() == 1


def test_vectors_of_other_weights_are_made_again(shop: Path, embedded: Callable[[], int]) -> None:
    embedded()
    now = kept(shop)
    stored(shop).write_bytes(
        file_content(now.keys, now.vectors.astype(np.float32), now.probe, "other weights")
    )
    assert embedded() == TEXTS
    assert kept(shop).model == now.model


@pytest.mark.parametrize("harm", [b"", b"damaged", None])
def test_a_damaged_or_missing_file_is_not_used_and_mended(
    shop: Path, embedded: Callable[[], int], harm: bytes | None
) -> None:
    embedded()
    linker = load("linker")
    assert isinstance(linker, Linker)
    if harm is None:
        stored(shop).unlink()
    else:
        stored(shop).write_bytes(harm)
    workspace = open_workspace(str(shop))
    try:
        assert workspace.notes == ()
        assert linker.encode(workspace.schema, workspace.texts).vectors.unprepared == TEXTS
        columns = linker.link(
            Question("Which city is Ann Bell from?"), workspace.schema, (), workspace.texts
        ).columns
        assert str(columns[0].column).startswith("customers.")
    finally:
        workspace.database.close()
    assert embedded() == TEXTS


def test_an_open_workspace_has_every_text_at_hand(shop: Path, embedded: Callable[[], int]) -> None:
    embedded()
    linker = load("linker")
    assert isinstance(linker, Linker)
    for script, unprepared in (("", 0), ("ALTER TABLE orders ADD COLUMN paid_on DATE", 2)):
        change(shop, script)
        workspace = open_workspace(str(shop))
        arrays = linker.encode(workspace.schema, workspace.texts)
        assert arrays.vectors.unprepared == unprepared
        workspace.database.close()


def test_a_database_that_is_not_prepared_has_none(shop: Path) -> None:
    workspace = open_workspace(str(shop))
    assert workspace.texts is None
    workspace.database.close()


def test_purge_removes_them(shop: Path, embedded: Callable[[], int]) -> None:
    embedded()
    assert purge(str(shop))
    assert not stored(shop).parent.exists()


def test_stopped_in_between_it_goes_on_from_there(shop: Path) -> None:
    columns = ", ".join(f"c{number} TEXT" for number in range(CHUNK // 2 + 100))
    change(shop, f"CREATE TABLE wide ({columns})")
    run = Run()

    def stop(event: Progress) -> None:
        if event.stage == "texts" and event.done > CHUNK:
            run.cancelled.set()

    with pytest.raises(Cancelled):
        prepare(str(shop), progress=stop, run=run)
    assert not stored(shop).exists()
    events: list[Progress] = []
    made = prepare(str(shop), progress=events.append)
    told = [event for event in events if event.stage == "texts"]
    assert told[0].done == 0
    assert told[1].done > CHUNK
    texts = schema_texts(made.catalog.schema).texts
    assert np.all(kept(shop).find(text_keys(texts)) >= 0)
    assert not list(made.folder.glob("stages/texts-*"))
