"""Preparing a database, end to end over real files."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sqlwright.errors import Cancelled, ConfigError, DatabaseUnavailable, WorkspaceError
from sqlwright.local.models import load
from sqlwright.prepare import Progress, open_workspace, prepare, prepared_folder, purge
from sqlwright.prepare.opening import FilteredIndex
from sqlwright.protocols import Run, Workspace
from sqlwright.schema import ColumnRef

SHOP = """
    CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, city TEXT);
    CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, state TEXT);
    CREATE VIEW paid AS SELECT * FROM orders WHERE state = 'paid';
    INSERT INTO customers VALUES (1, 'Ann Bell', 'Oslo'), (2, 'Bob Cole', 'Łódź'),
        (3, 'Cy', 'Oslo');
    INSERT INTO orders VALUES (1, 1, 'paid'), (2, 1, 'new'), (3, 3, 'paid');
"""
CITY = ColumnRef("customers", "city")


def change(path: Path, script: str) -> None:
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.commit()
    connection.close()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "home"
    monkeypatch.setenv("SQLWRIGHT_HOME", str(place))
    return place


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "data" / "my shop.db"
    path.parent.mkdir()
    change(path, SHOP)
    return path


@pytest.fixture
def opened() -> Iterator[Callable[..., Workspace]]:
    """Opens workspaces and closes them after the test."""
    workspaces: list[Workspace] = []

    def workspace(path: Path, **options: object) -> Workspace:
        workspaces.append(open_workspace(str(path), **options))  # type: ignore[arg-type]
        return workspaces[-1]

    yield workspace
    for workspace_ in workspaces:
        workspace_.database.close()


def values_of(workspace: Workspace, phrase: str) -> list[tuple[str, str, int | None]]:
    return [(str(m.column), m.value, m.row_count) for m in workspace.values.search(phrase)]


def test_prepare_then_open(shop: Path, opened: Callable[..., Workspace]) -> None:
    events: list[Progress] = []
    made = prepare(str(shop), progress=events.append)
    assert made.folder == prepared_folder(str(shop))
    assert made.read == ("customers", "orders", "paid")
    assert made.values == 7
    assert [event.stage for event in events][-1] == "done"
    assert {"tables", "joins", "done"} <= {event.stage for event in events}
    workspace = opened(shop)
    assert workspace.notes == ()
    assert values_of(workspace, "lodz")[0] == ("customers.city", "Łódź", 1)
    assert values_of(workspace, "oslo")[0] == ("customers.city", "Oslo", 2)
    (key,) = [key for key in workspace.schema.foreign_keys if key.table == "orders"]
    assert key.inferred
    assert "100 %" in key.evidence
    assert workspace.catalog.columns[CITY].distinct == 2
    assert workspace.catalog.enumerations()[ColumnRef("orders", "state")] == ("paid", "new")


def test_the_folder_is_named_for_people_and_private(shop: Path, home: Path) -> None:
    made = prepare(str(shop))
    assert made.folder.parent.parent == home
    assert made.folder.name.startswith("my_shop-")
    for path in (made.folder, *made.folder.rglob("*")):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path


def test_a_folder_others_could_read_is_made_private(shop: Path) -> None:
    place = prepared_folder(str(shop))
    place.mkdir(parents=True)
    place.chmod(0o755)
    prepare(str(shop))
    assert stat.S_IMODE(place.stat().st_mode) == 0o700


def test_files_of_one_name_do_not_meet(tmp_path: Path) -> None:
    first, second = tmp_path / "a" / "x.db", tmp_path / "b" / "x.db"
    assert prepared_folder(str(first)) != prepared_folder(str(second))
    assert prepared_folder(f"sqlite:///{first}") == prepared_folder(str(first))
    first.parent.mkdir()
    first.touch()
    (tmp_path / "link.db").symlink_to(first)
    assert prepared_folder(str(tmp_path / "link.db")) == prepared_folder(str(first))


def test_nothing_is_written_beside_the_database(shop: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in (shop.parent, *shop.parent.iterdir())}
    prepare(str(shop))
    assert before == {
        path: path.stat().st_mtime_ns for path in (shop.parent, *shop.parent.iterdir())
    }


def test_an_unchanged_database_is_not_read_again(shop: Path) -> None:
    first = prepare(str(shop))
    manifest = (first.folder / "manifest.json").read_bytes()
    second = prepare(str(shop))
    assert second.read == ()
    assert second.values == first.values
    assert (first.folder / "manifest.json").read_bytes() == manifest
    os.utime(shop)
    third = prepare(str(shop))
    assert third.read == ()
    assert third.reused == ("customers", "orders", "paid")


def test_only_changed_tables_are_read_again(shop: Path, opened: Callable[..., Workspace]) -> None:
    prepare(str(shop))
    change(shop, "UPDATE customers SET city = 'Rome' WHERE id = 3")  # same count, same row numbers
    made = prepare(str(shop))
    assert "customers" in made.read
    assert "orders" in made.reused
    assert values_of(opened(shop), "rome")[0] == ("customers.city", "Rome", 1)
    change(shop, "ALTER TABLE orders ADD COLUMN note TEXT DEFAULT 'none'")
    made = prepare(str(shop))
    assert "orders" in made.read
    assert "customers" in made.reused
    assert len(list((made.folder / "stages").iterdir())) == 3


def test_a_stale_workspace_is_used_with_a_note(
    shop: Path, opened: Callable[..., Workspace]
) -> None:
    prepare(str(shop))
    change(
        shop,
        "ALTER TABLE customers DROP COLUMN city; CREATE TABLE fresh (a TEXT);"
        "INSERT INTO orders VALUES (9, 2, 'lost')",
    )
    workspace = opened(shop)
    assert "changed since it was prepared" in workspace.notes[0]
    assert workspace.schema.table("fresh") is not None
    assert values_of(workspace, "oslo") == []
    assert values_of(workspace, "ann bell")[0][:2] == ("customers.name", "Ann Bell")
    assert CITY not in workspace.catalog.columns
    assert workspace.catalog.enumerations() == {}
    assert [key.inferred for key in workspace.schema.foreign_keys if key.table == "orders"] == [
        True
    ]


def test_a_never_seen_database_opens_at_once(
    shop: Path, home: Path, opened: Callable[..., Workspace]
) -> None:
    workspace = opened(shop)
    assert workspace.notes == ()
    assert values_of(workspace, "lodz")[0] == ("customers.city", "Łódź", 1)
    assert len([key for key in workspace.schema.foreign_keys if key.table == "orders"]) == 1
    assert not home.exists()


def test_what_there_was_no_time_for_is_told(
    tmp_path: Path, opened: Callable[..., Workspace]
) -> None:
    path = tmp_path / "a large.db"
    change(
        path,
        "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT); CREATE TABLE small (b TEXT);"
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500000)"
        " INSERT INTO t SELECT i, 'value ' || i FROM n; INSERT INTO small VALUES ('Oslo')",
    )
    workspace = opened(path, seconds=0.4)
    (note,) = workspace.notes
    assert note.startswith("not all values of this database are known yet; to learn them: ")
    assert note.endswith(f"sqlwright prepare '{path}'")
    assert "\n" not in note
    assert workspace.catalog is not None
    assert any("t.a" in note for note in workspace.catalog.notes)
    assert values_of(workspace, "oslo")[0] == ("small.b", "Oslo", 1)
    assert all(
        count is None for column, _, count in values_of(workspace, "value 7") if column == "t.a"
    )


def test_descriptions_are_taken_and_noticed(shop: Path, opened: Callable[..., Workspace]) -> None:
    prepare(str(shop))
    folder = shop.parent / "database_description"
    folder.mkdir()
    (folder / "customers.csv").write_text(
        "original_column_name,column_name,column_description,data_format,value_description\n"
        "city,home town,where they live,text,\nnone,,,,\n"
    )
    workspace = opened(shop)
    column = workspace.schema.column(CITY)
    assert column is not None
    assert column.label == "home town"
    assert any("none" in note for note in workspace.notes)
    made = prepare(str(shop))
    assert made.read == ()
    again = made.catalog.schema.column(CITY)
    assert again is not None
    assert again.description == "where they live"
    assert any("none" in note for note in made.notes)


def test_descriptions_are_embedded_once_and_again_only_when_they_change(
    shop: Path, opened: Callable[..., Workspace]
) -> None:
    assert opened(shop).descriptions is None
    folder = shop.parent / "database_description"
    folder.mkdir()
    header = "original_column_name,column_name,column_description\n"
    (folder / "customers.csv").write_text(f"{header}city,home town,where they live\n")
    assert opened(shop).descriptions is None
    prepare(str(shop))
    first = opened(shop).descriptions
    vectors = first.load(load("embedder"))
    assert vectors.shape[0] == 2
    written = first.path.stat().st_mtime_ns
    change(shop, "INSERT INTO customers VALUES (9, 'Di', 'Rome')")
    prepare(str(shop))
    again = opened(shop).descriptions
    assert (again.path, again.path.stat().st_mtime_ns) == (first.path, written)
    (folder / "customers.csv").write_text(f"{header}city,home town,where they come from\n")
    assert opened(shop).descriptions is None
    prepare(str(shop))
    assert opened(shop).descriptions.digest != first.digest
    assert not first.path.exists()


def test_a_given_description_folder_must_exist(shop: Path, tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError):
        open_workspace(str(shop), descriptions=tmp_path / "absent")
    with pytest.raises(WorkspaceError):
        prepare(str(shop), descriptions=tmp_path / "absent")


def damaged_files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and path.name != "lock"]


def test_every_damaged_file_is_noticed_and_rebuilt(
    shop: Path, opened: Callable[..., Workspace]
) -> None:
    folder = prepare(str(shop)).folder
    count = len(damaged_files(folder))
    for position in range(count):
        path = sorted(damaged_files(folder))[position]
        content = bytearray(path.read_bytes())
        if not content:
            continue
        middle = len(content) // 2
        content[middle] ^= 0x41
        path.write_bytes(content)
        values = values_of(opened(shop), "lodz")
        assert values == [] or values[0][1] == "Łódź", path
        made = prepare(str(shop))
        assert made.values == 7, path
        assert values_of(opened(shop), "lodz")[0][1] == "Łódź", path


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b'{"kind": 1', b"\xff"])
def test_a_broken_manifest_is_as_good_as_none(
    content: bytes, shop: Path, opened: Callable[..., Workspace]
) -> None:
    folder = prepare(str(shop)).folder
    (folder / "manifest.json").write_bytes(content)
    workspace = opened(shop)
    assert "can't be used" in workspace.notes[0]
    assert values_of(workspace, "lodz")[0][1] == "Łódź"
    assert prepare(str(shop)).reused == ("customers", "orders", "paid")


def test_a_manifest_cannot_point_outside(shop: Path, opened: Callable[..., Workspace]) -> None:
    folder = prepare(str(shop)).folder
    data = json.loads((folder / "manifest.json").read_bytes())
    data["generation"] = "../../x"
    (folder / "manifest.json").write_text(json.dumps(data))
    assert "can't be used" in opened(shop).notes[0]


def test_a_folder_others_may_write_to_is_not_used(
    shop: Path, opened: Callable[..., Workspace]
) -> None:
    folder = prepare(str(shop)).folder
    folder.chmod(0o777)
    assert "others may write" in opened(shop).notes[0]


def test_a_place_that_cannot_be_written(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: Callable[..., Workspace]
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    monkeypatch.setenv("SQLWRIGHT_HOME", str(blocked))
    with pytest.raises(WorkspaceError) as caught:
        prepare(str(shop))
    assert "SQLWRIGHT_HOME" in caught.value.hint
    assert values_of(opened(shop), "lodz")[0][1] == "Łódź"


def test_purge_removes_what_was_prepared_and_only_that(shop: Path) -> None:
    folder = prepare(str(shop)).folder
    assert purge(str(shop))
    assert not folder.exists()
    assert not purge(str(shop))
    folder = prepare(str(shop)).folder
    (folder / "mine.txt").write_text("keep")
    shop.unlink()
    assert purge(str(shop))
    assert [path.name for path in folder.iterdir()] == ["mine.txt"]


def test_purge_leaves_other_folders_alone(shop: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "letter.txt").write_text("dear")
    with pytest.raises(WorkspaceError):
        purge(str(shop), folder=mine)
    assert (mine / "letter.txt").exists()


def test_a_missing_database(tmp_path: Path, home: Path) -> None:
    with pytest.raises(DatabaseUnavailable):
        prepare(str(tmp_path / "absent.db"))
    with pytest.raises(DatabaseUnavailable):
        open_workspace(str(tmp_path / "absent.db"))
    assert not home.exists()


def test_a_database_without_tables_is_refused(
    tmp_path: Path, shop: Path, opened: Callable[..., Workspace]
) -> None:
    path = tmp_path / "empty.db"
    change(path, "CREATE TABLE t (a); DROP TABLE t")
    for use in (opened, lambda path: prepare(str(path))):
        with pytest.raises(DatabaseUnavailable, match="has no tables"):
            use(path)
    with pytest.raises(ConfigError, match="tables lists none"):
        open_workspace(str(shop), tables=[])


def test_a_database_without_rows(tmp_path: Path, opened: Callable[..., Workspace]) -> None:
    path = tmp_path / "empty.db"
    change(path, "CREATE TABLE t (a)")
    assert prepare(str(path)).values == 0
    assert values_of(opened(path), "x") == []


def test_a_database_in_wal_mode_being_written(shop: Path, opened: Callable[..., Workspace]) -> None:
    writer = sqlite3.connect(shop)
    writer.execute("PRAGMA journal_mode=WAL")
    writer.execute("INSERT INTO customers VALUES (4, 'Dee', 'Cork')")
    writer.commit()
    assert prepare(str(shop)).values == 9
    writer.execute("UPDATE customers SET city = 'Bonn' WHERE id = 4")
    writer.commit()
    assert "changed" in opened(shop).notes[0]
    prepare(str(shop))
    assert values_of(opened(shop), "bonn")[0][1] == "Bonn"
    writer.close()


def test_cancelling_leaves_stages_to_resume_from(shop: Path) -> None:
    run = Run()

    def cancel(event: Progress) -> None:
        if event.stage == "joins":
            run.cancelled.set()

    with pytest.raises(Cancelled):
        prepare(str(shop), progress=cancel, run=run)
    assert not (prepared_folder(str(shop)) / "manifest.json").exists()
    made = prepare(str(shop))
    assert made.read == ()
    assert made.reused == ("customers", "orders", "paid")


def test_leftovers_are_swept(shop: Path) -> None:
    folder = prepare(str(shop)).folder
    (folder / ".aside-1-catalog.json").write_text("half")
    (folder / "values-abc").mkdir()
    (folder / "catalog-abc.json").write_text("{}")
    (folder / "stages" / ".aside-1-x").write_text("half")
    change(shop, "DELETE FROM orders")
    prepare(str(shop))
    left = {path.name for path in folder.iterdir()}
    assert len(left) == 6
    assert "values-abc" not in left
    assert not (folder / "stages" / ".aside-1-x").exists()


def test_two_threads_make_one_copy(shop: Path) -> None:
    made = []

    def work() -> None:
        made.append(prepare(str(shop)))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(len(each.read) for each in made) == [0, 0, 3]


def test_filtering_passes_through_what_exists(shop: Path, opened: Callable[..., Workspace]) -> None:
    index = opened(shop).values
    seen = FilteredIndex(index, None, frozenset({CITY}))
    assert [match.row_count for match in seen.search("oslo")] == [None]
    assert FilteredIndex(index, frozenset()).search("oslo") == []
    assert [len(found) for found in seen.search_many(["oslo", "lodz"])] == [1, 1]


def test_tables_of_unknown_size_are_read_whole_where_time_allows(
    tmp_path: Path, opened: Callable[..., Workspace]
) -> None:
    path = tmp_path / "unknown.db"
    change(
        path,
        "CREATE TABLE t (a TEXT PRIMARY KEY) WITHOUT ROWID; CREATE VIEW v AS SELECT a AS b FROM t;"
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000)"
        " INSERT INTO t SELECT 'value ' || i FROM n",
    )
    workspace = opened(path, seconds=60)
    assert workspace.notes == ()
    assert workspace.catalog.tables["t"].rows == 6_000
    assert workspace.catalog.tables["v"].rows == 6_000


def test_a_damaged_table_does_not_spoil_the_others(
    tmp_path: Path, opened: Callable[..., Workspace]
) -> None:
    path = tmp_path / "torn.db"
    change(
        path,
        "CREATE TABLE whole (a TEXT); INSERT INTO whole VALUES ('Oslo');"
        "CREATE TABLE torn (b TEXT);"
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"
        " INSERT INTO torn SELECT 'value ' || i FROM n",
    )
    with path.open("r+b") as file:
        file.seek(4096 * 2)  # the root page of torn
        file.write(b"\xff" * 4096)
    workspace = opened(path)
    assert any("torn could not be read" in note for note in workspace.notes)
    assert values_of(workspace, "oslo") == [("whole.a", "Oslo", 1)]
    with pytest.raises(DatabaseUnavailable):
        prepare(str(path))
