"""Databases prepared by the way, when a question opens them."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sqlwright import api
from sqlwright.api import Session
from sqlwright.catalog.reading import TimedReader
from sqlwright.database import open_database
from sqlwright.errors import ConfigError
from sqlwright.events import Event, PreparationEnded, PreparationStarted
from sqlwright.prepare import open_workspace, prepare, prepared_folder
from sqlwright.prepare.storage.locking import locked
from sqlwright.prepare.unasked import work_on
from sqlwright.protocols import Run, Workspace
from sqlwright.schema import ColumnRef
from tests.scripted import scripted_models

SHOP = """
    CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, city TEXT);
    CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, state TEXT);
    INSERT INTO customers VALUES (1, 'Ann Bell', 'Oslo'), (2, 'Bob Cole', 'Łódź');
    INSERT INTO orders VALUES (1, 1, 'paid'), (2, 1, 'new'), (3, 2, 'paid');
"""
QUERY = "SELECT name FROM customers"
Events = list[Event]


def change(path: Path, script: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
        connection.commit()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "deep" / "home"
    monkeypatch.setenv("SQLWRIGHT_HOME", str(place))
    monkeypatch.delenv("SQLWRIGHT_PREPARE", raising=False)
    return place


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.sqlite"
    change(path, SHOP)
    return path


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """Estimated to take far more than two seconds, though nothing but numbers."""
    path = tmp_path / "large.sqlite"
    columns = ", ".join(f"c{n} INTEGER" for n in range(60))
    values = ", ".join(f"n % {n + 7}" for n in range(60))
    change(
        path,
        f"CREATE TABLE t ({columns}); WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1"
        f" FROM i WHERE n < 60000) INSERT INTO t SELECT {values} FROM i",
    )
    return path


@pytest.fixture
def opened() -> Iterator[Callable[..., Session]]:
    sessions: list[Session] = []

    def session(path: Path, **options: Any) -> Session:
        options.setdefault("models", scripted_models(QUERY))
        options.setdefault("record", False)
        sessions.append(api.open(path, **options))
        return sessions[-1]

    yield session
    for one in sessions:
        one.close()


def names(events: Events) -> list[str]:
    return [each.kind for each in events if each.kind in {"preparing", "prepared"}]


def asked(session: Session) -> Events:
    events: Events = []
    answer = session.ask("names of customers", on_event=events.append)
    assert answer.status == "answered"
    return events


def values_of(workspace: Workspace, phrase: str) -> list[str]:
    return [match.value for match in workspace.values.search(phrase)]


def test_the_first_question_prepares_and_says_so_once(
    shop: Path, opened: Callable[..., Session], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="sqlwright"):
        events = asked(opened(shop))
    assert names(events) == ["preparing", "prepared"]
    (told,) = [each for each in events if isinstance(each, PreparationEnded)]
    assert told.first
    assert told.folder == prepared_folder(str(shop))
    assert [record.levelname for record in caplog.records if "prepared" in record.message] == [
        "INFO"
    ]
    assert (prepared_folder(str(shop)) / "manifest.json").exists()
    assert names(asked(opened(shop))) == []


def test_what_it_leaves_is_what_prepare_leaves(
    shop: Path, opened: Callable[..., Session], tmp_path: Path
) -> None:
    described = tmp_path / "described"
    described.mkdir()
    (described / "customers.csv").write_text(
        "original_column_name,column_description\ncity,where they live\n"
    )
    opened(shop, descriptions=described, tables=["customers"]).warm()
    manifest = prepared_folder(str(shop)) / "manifest.json"
    before = manifest.read_bytes()
    prepare(str(shop), descriptions=described)
    assert manifest.read_bytes() == before


def test_what_changed_is_prepared_again_without_a_word(
    shop: Path, opened: Callable[..., Session]
) -> None:
    opened(shop).warm()
    change(shop, "INSERT INTO customers VALUES (3, 'Zoë Dubois', 'Lyon')")
    session = opened(shop)
    events = asked(session)
    assert [each.first for each in events if isinstance(each, PreparationEnded)] == [False]
    assert session.workspace.notes == ()
    assert values_of(session.workspace, "zoe dubois")[0] == "Zoë Dubois"


@pytest.mark.parametrize(
    ("options", "environ"),
    [({"prepare": False}, "true"), ({"prepare": False}, ""), ({}, "false"), ({}, "0")],
)
def test_switched_off_nothing_is_kept(
    options: dict[str, Any],
    environ: str,
    shop: Path,
    home: Path,
    opened: Callable[..., Session],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SQLWRIGHT_PREPARE", environ)
    assert names(asked(opened(shop, **options))) == []
    assert not home.exists()


def test_the_variable_takes_true_or_false(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SQLWRIGHT_PREPARE", "perhaps")
    with pytest.raises(ConfigError, match="SQLWRIGHT_PREPARE takes true or false"):
        api.open(shop)


def test_opening_a_workspace_alone_writes_nothing(shop: Path, home: Path) -> None:
    open_workspace(str(shop)).database.close()
    assert not home.exists()


@pytest.mark.parametrize("by_the_way", [True, False])
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_all_of_it_is_the_owners_alone(
    umask: int, by_the_way: bool, shop: Path, home: Path, opened: Callable[..., Session]
) -> None:
    before = os.umask(umask)
    try:
        events = asked(opened(shop, prepare=by_the_way, record=True))
    finally:
        os.umask(before)
    assert names(events) == (["preparing", "prepared"] if by_the_way else [])
    assert list((home / "traces").iterdir())
    for path in (home.parent, home, *home.rglob("*")):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path


def test_where_the_home_cannot_be_written_asking_goes_on(
    shop: Path, tmp_path: Path, opened: Callable[..., Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("SQLWRIGHT_HOME", str(tmp_path / "file" / "home"))
    session = opened(shop)
    assert "prepared" not in names(asked(session))
    assert session.workspace.notes == ()


def test_a_folder_that_others_may_write_to_is_left_alone(
    shop: Path, opened: Callable[..., Session]
) -> None:
    place = prepared_folder(str(shop))
    place.mkdir(parents=True)
    place.chmod(0o777)
    session = opened(shop)
    assert names(asked(session)) == []
    assert any("others may write there" in note for note in session.workspace.notes)
    assert list(place.iterdir()) == []


def test_a_large_one_waits_for_prepare(
    large: Path, home: Path, opened: Callable[..., Session]
) -> None:
    session = opened(large, models=scripted_models("SELECT count(*) FROM t"))
    events: Events = []
    session.ask("how many", on_event=events.append)
    assert names(events) == []
    assert not home.exists()


def test_a_large_one_that_changed_keeps_its_note_in_one_line(
    large: Path, opened: Callable[..., Session]
) -> None:
    change(large, "CREATE TABLE words (word TEXT); INSERT INTO words VALUES ('hello')")
    prepare(str(large))
    change(large, "ALTER TABLE words ADD COLUMN more TEXT")
    (note,) = opened(large).workspace.notes
    assert note == (
        "The database has changed since it was prepared, words.more is new. "
        f"To find new values, too: sqlwright prepare {large}"
    )


def test_little_time_for_the_question_is_not_spent_on_it(
    shop: Path, home: Path, opened: Callable[..., Session]
) -> None:
    events: Events = []
    opened(shop, seconds=0.3).ask("names", on_event=events.append)
    assert names(events) == []
    assert not home.exists()


def slow_view(path: Path) -> None:
    """Few rows, and a view that takes for ever."""
    change(
        path,
        "CREATE VIEW endless AS WITH RECURSIVE i(n) AS"
        " (SELECT 1 UNION ALL SELECT n + 1 FROM i) SELECT max(n) AS m FROM i",
    )


def test_what_takes_longer_than_thought_is_stopped_and_left_to_prepare(
    shop: Path, opened: Callable[..., Session]
) -> None:
    slow_view(shop)
    session = opened(shop)
    assert names(asked(session)) == ["preparing"]
    place = prepared_folder(str(shop))
    assert not (place / "manifest.json").exists()
    assert list((place / "stages").iterdir())
    assert (place / "late").exists()
    again = opened(shop)
    assert names(asked(again)) == []  # nor tried again soon
    assert again.workspace.notes[0].startswith("This database isn't prepared: that takes longer")
    assert again.workspace.notes[0].endswith(f"sqlwright prepare {shop}")
    before = time.time() - 100_000
    os.utime(place / "late", (before, before))
    change(shop, "DROP VIEW endless")
    assert names(asked(opened(shop))) == ["preparing", "prepared"]
    assert not (place / "late").exists()


def test_cancelled_while_preparing_the_question_ends_and_nothing_counts_as_prepared(
    shop: Path, opened: Callable[..., Session]
) -> None:
    slow_view(shop)
    cancelled = threading.Event()

    def sink(event: Event) -> None:
        if isinstance(event, PreparationStarted):
            threading.Timer(0.3, cancelled.set).start()

    answer = opened(shop).ask("names of customers", on_event=sink, cancelled=cancelled)
    assert answer.status == "failed"
    assert "cancelled" in answer.message
    place = prepared_folder(str(shop))
    assert not (place / "manifest.json").exists()
    assert not (place / "late").exists()
    assert not list(place.glob(".*"))


def test_who_comes_meanwhile_waits_and_finds_it_done(
    shop: Path, opened: Callable[..., Session]
) -> None:
    place = prepared_folder(str(shop))
    place.mkdir(parents=True, mode=0o700)
    outcome: list[Events] = []
    with locked(place, Run(), lambda _: None):
        thread = threading.Thread(target=lambda: outcome.append(asked(opened(shop))))
        thread.start()
        time.sleep(0.3)
        assert not (place / "manifest.json").exists()
    thread.join()
    assert names(outcome[0]) == ["preparing", "prepared"]


ASK = """
import sys, sqlwright
with sqlwright.open(sys.argv[1], record=False) as shop:
    shop.warm()
    print(len(shop.workspace.notes), len(shop.workspace.values.search("oslo")))
"""


def test_processes_at_once(shop: Path) -> None:
    running = [
        subprocess.Popen([sys.executable, "-c", ASK, str(shop)], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [process.communicate(timeout=120)[0].split() for process in running]
    assert [process.returncode for process in running] == [0, 0]
    assert said == [["0", "1"], ["0", "1"]]
    place = prepared_folder(str(shop))
    assert not list(place.glob(".*"))
    assert len(list(place.glob("values-*"))) == 1
    assert prepare(str(shop)).read == ()


def test_a_killed_process_leaves_nothing_that_counts(shop: Path) -> None:
    slow_view(shop)
    process = subprocess.Popen([sys.executable, "-c", ASK, str(shop)])
    place = prepared_folder(str(shop))
    for _ in range(600):
        if (place / "stages").exists() and list((place / "stages").iterdir()):
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (place / "manifest.json").exists()
    change(shop, "DROP VIEW endless")
    assert prepare(str(shop)).values == 6


def estimate(path: Path, known: frozenset[ColumnRef] = frozenset()) -> float:
    with (
        open_database(str(path)) as database,
        database.reader() as reader,
        TimedReader(reader, Run()) as reading,
    ):
        return work_on(reading, database.schema(), path.stat().st_size, known).seconds


def test_the_estimate_grows_with_what_there_is_to_do(
    shop: Path, large: Path, tmp_path: Path
) -> None:
    assert estimate(shop) < 0.5
    assert estimate(large) > 2
    bare = tmp_path / "bare.sqlite"
    shutil.copyfile(shop, bare)
    change(
        bare,
        "CREATE TABLE empty (a, b, c); CREATE TABLE keyed (k TEXT PRIMARY KEY) WITHOUT ROWID;"
        "CREATE TABLE notes (body TEXT); INSERT INTO notes VALUES (zeroblob(9000000));"
        "CREATE VIEW both AS SELECT * FROM empty, keyed",
    )
    assert estimate(bare) < 0.6  # large, but few rows
    gaps = tmp_path / "gaps.sqlite"
    shutil.copyfile(shop, gaps)
    change(gaps, "INSERT INTO customers VALUES (9000000000, 'far', 'off')")
    assert estimate(gaps) < 0.5  # row numbers aren't rows
    wide = tmp_path / "wide.sqlite"
    columns = ", ".join(f"c{n} TEXT" for n in range(1_500))
    change(wide, f"CREATE TABLE t ({columns})")
    every = frozenset(ColumnRef("t", f"c{n}") for n in range(1_500))
    assert estimate(wide, every) < 2 < estimate(wide)
