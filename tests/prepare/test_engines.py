"""Preparing and opening databases of other engines than SQLite, whole and within limits."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

import sqlwright
from sqlwright.prepare import open_workspace, prepare, prepared_folder
from sqlwright.prepare.storage.manifest import MANIFEST
from sqlwright.protocols import Workspace
from sqlwright.schema import ColumnRef

PETS = """
    CREATE TABLE owners (id INTEGER PRIMARY KEY, name VARCHAR(40), city VARCHAR(40), since DATE);
    CREATE TABLE pets (id INTEGER PRIMARY KEY, owner_id INTEGER, name VARCHAR(40),
        species VARCHAR(40), born DATE, weight DECIMAL(6, 2), vaccinated BOOLEAN);
    INSERT INTO owners VALUES (1, 'Ann Archer', 'Rome', '2020-05-01'),
        (2, 'Bob Baker', 'Oslo', '2021-06-02');
    INSERT INTO pets VALUES (1, 1, 'Rex', 'dog', '2019-01-01', 12.5, TRUE),
        (2, 2, 'Tom', 'cat', '2020-02-02', 4.25, FALSE),
        (3, 2, 'Kit', 'cat', '2021-03-03', 1.75, TRUE);
"""
COMMENTS = {
    "duckdb": "COMMENT ON TABLE pets IS 'animals in care';"
    " COMMENT ON COLUMN pets.weight IS 'in kilograms';",
    "postgres": "COMMENT ON TABLE pets IS 'animals in care';"
    " COMMENT ON COLUMN pets.weight IS 'in kilograms';",
    "mariadb": "ALTER TABLE pets COMMENT 'animals in care', MODIFY COLUMN weight DECIMAL(6, 2)"
    " COMMENT 'in kilograms';",
}
MANY = {
    "duckdb": "CREATE TABLE {0} AS SELECT i AS id, 'name ' || i % 5000 AS name"
    " FROM range({1}) r(i);",
    "postgres": "CREATE TABLE {0} AS SELECT i AS id, 'name ' || i % 5000 AS name"
    " FROM generate_series(1, {1}) r(i); ANALYZE;",
    "mariadb": "CREATE TABLE {0} (id INTEGER PRIMARY KEY, name VARCHAR(40)); INSERT INTO {0}"
    " SELECT seq, concat('name ', seq % 5000) FROM seq_1_to_{1}; ANALYZE TABLE {0};",
}


@pytest.fixture
def opened() -> Iterator[Callable[..., Workspace]]:
    """Opens workspaces and closes them at the end."""
    spaces: list[Workspace] = []

    def opening(url: str, folder: Path, **options: Any) -> Workspace:
        spaces.append(open_workspace(url, folder=folder, **options))
        return spaces[-1]

    yield opening
    for space in spaces:
        space.database.close()


def test_what_is_prepared_is_found(
    place: Any, tmp_path: Path, opened: Callable[..., Workspace]
) -> None:
    made = place(PETS + COMMENTS[place.engine])
    folder = tmp_path / "prepared"
    prepared = prepare(made.url, folder=folder)
    assert sorted(prepared.read) == ["owners", "pets"]
    space = opened(made.url, folder)
    assert space.notes == ()
    assert space.catalog is not None
    assert [match.column for match in space.values.search("cat") if match.value == "cat"] == [
        ColumnRef("pets", "species")
    ]
    assert space.catalog.dates[ColumnRef("pets", "born")]
    (key,) = space.schema.foreign_keys
    assert key.pairs == ((ColumnRef("pets", "owner_id"), ColumnRef("owners", "id")),)
    pets = space.schema.table("pets")
    weight = space.schema.column(ColumnRef("pets", "weight"))
    assert pets is not None
    assert weight is not None
    assert (pets.description, weight.description) == ("animals in care", "in kilograms")


def test_nothing_that_is_kept_holds_the_password(place: Any, tmp_path: Path) -> None:
    made = place(PETS)
    folder = tmp_path / "prepared"
    prepare(made.url, folder=folder)
    secret = urlsplit(made.url).password
    if secret is None:
        pytest.skip("a file has no password")
    kept = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    for text in (secret, unquote(secret)):
        assert not any(text.encode() in content for content in kept)
        assert text not in str(prepared_folder(made.url))
    assert prepared_folder(made.url) != prepared_folder(made.url + "_other")


def test_description_files_win_over_comments(place: Any, tmp_path: Path) -> None:
    made = place(PETS + COMMENTS[place.engine])
    described = tmp_path / "told"
    described.mkdir()
    (described / "pets.csv").write_text(
        "original_column_name,column_description\nweight,grams\nname,as called\n"
    )
    prepared = prepare(made.url, folder=tmp_path / "prepared", descriptions=described)
    said = {
        name: prepared.catalog.schema.column(ColumnRef("pets", name)) for name in ("weight", "name")
    }
    assert [column.description for column in said.values() if column] == ["grams", "as called"]
    table = prepared.catalog.schema.table("pets")
    assert table is not None
    assert table.description == "animals in care"


def test_large_tables_are_sampled_and_their_texts_counted(
    place: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = place(MANY[place.engine].format("t", 60_000))
    monkeypatch.setattr("sqlwright.prepare.tables.MOST_ROWS", 6_000)
    prepared = prepare(made.url, folder=tmp_path / "prepared")
    profiles = prepared.catalog.columns
    assert prepared.catalog.tables["t"].sampled
    assert 3_000 < profiles[ColumnRef("t", "id")].rows < 13_000
    name = profiles[ColumnRef("t", "name")]
    assert (name.rows, name.distinct, name.sampled) == (60_000, 5_000, False)
    assert name.indexing == "whole"
    assert prepared.values == 5_000


def test_no_more_rows_than_allowed(place: Any, tmp_path: Path) -> None:
    made = place(MANY[place.engine].format("t", 60_000))
    folder = tmp_path / "prepared"
    prepared = prepare(made.url, folder=folder, rows=2_000)
    name = prepared.catalog.columns[ColumnRef("t", "name")]
    assert name.rows < 5_000
    assert (name.sampled, name.indexing) == (True, "part")
    assert json.loads((folder / MANIFEST).read_text())["limits"] == "rows=2000"
    whole = prepare(made.url, folder=folder, rows=100_000)
    assert whole.read == ("t",)
    assert whole.catalog.tables["t"].rows == 60_000
    assert not whole.catalog.tables["t"].sampled


def test_no_more_seconds_than_allowed(place: Any, tmp_path: Path) -> None:
    tables = "".join(MANY[place.engine].format(name, 30_000) for name in "abc")
    made = place(PETS + tables)
    folder = tmp_path / "prepared"
    first = prepare(made.url, folder=folder, seconds=0.001)
    assert any("no time yet to look at" in note for note in first.notes)
    assert json.loads((folder / MANIFEST).read_text())["limits"].endswith("unfinished")
    second = prepare(made.url, folder=folder, seconds=120)
    assert not any(table.sampled for table in second.catalog.tables.values())
    assert "unfinished" not in json.loads((folder / MANIFEST).read_text())["limits"]


def test_never_seen_and_large_opens_within_seconds(
    place: Any, tmp_path: Path, opened: Callable[..., Workspace]
) -> None:
    made = place(PETS + MANY[place.engine].format("t", 300_000))
    space = opened(made.url, tmp_path / "absent")
    assert [match.value for match in space.values.search("Oslo")][:1] == ["Oslo"]
    assert space.schema.table("t") is not None


def test_dropped_since_prepare(
    place: Any, tmp_path: Path, opened: Callable[..., Workspace]
) -> None:
    made = place(PETS)
    folder = tmp_path / "prepared"
    prepare(made.url, folder=folder)
    made.change("ALTER TABLE pets DROP COLUMN weight")
    made.change("DROP TABLE owners")
    space = opened(made.url, folder)
    assert "The database has changed since it was prepared" in space.notes[0]
    assert "owners, pets.weight are gone. " in space.notes[0]
    assert space.schema.table("owners") is None


def test_a_column_renamed_between_two_questions(place: Any, tmp_path: Path) -> None:
    made = place(PETS)
    if made.engine == "duckdb":
        pytest.skip("a DuckDB file that is open can't be changed by another process")
    with sqlwright.open(made.url, home=tmp_path) as session:
        assert session.ask("How many pets have the species cat?").rows == ((2,),)
        rename = "ALTER TABLE pets RENAME COLUMN species TO kind"
        made.change(rename)
        answer = session.ask("How many pets have the kind cat?")
        assert (answer.status, answer.rows) == ("answered", ((2,),))


def test_how_old_it_is_where_nothing_tells_of_changes(
    postgres_server: Any, tmp_path: Path, opened: Callable[..., Workspace]
) -> None:
    name = postgres_server.create(PETS)
    postgres_server.run(f"ALTER DATABASE {name} SET track_counts = off")
    folder = tmp_path / "prepared"
    url = postgres_server.url(name)
    prepare(url, folder=folder)
    manifest = json.loads((folder / MANIFEST).read_text())
    assert manifest["fingerprint"] == ""
    assert opened(url, folder).notes == ()
    days = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=3, hours=1)
    manifest["created"] = days.isoformat(timespec="seconds")
    (folder / MANIFEST).write_text(json.dumps(manifest))
    (note,) = opened(url, folder).notes
    assert note.startswith("The database was prepared 3 days ago; whether it has changed since can")
    postgres_server.run("ALTER TABLE pets ADD COLUMN colour TEXT", name)
    assert "prepared, pets.colour is new. " in opened(url, folder).notes[0]
    assert prepare(url, folder=folder).read == ("owners", "pets")
