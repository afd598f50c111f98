"""Marks of tables by the server's counts and its catalog: what changes them, and what can't."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from sqlwright.database.postgres.database import PostgresDatabase
from sqlwright.prepare import prepare
from tests.servers.postgres import PostgresServer, find_programs, start_server
from tests.servers.starting import running
from tests.waiting import comes

Opener = Callable[..., PostgresDatabase]
TABLES = """
    CREATE TABLE a (id int, name text);
    CREATE TABLE b (id int);
    CREATE TABLE parts (id int, kind int) PARTITION BY LIST (kind);
    CREATE TABLE part_1 PARTITION OF parts FOR VALUES IN (1);
    CREATE TABLE part_2 PARTITION OF parts FOR VALUES IN (2);
    CREATE TABLE parent (x int);
    CREATE TABLE child (y int) INHERITS (parent);
    CREATE MATERIALIZED VIEW kept AS SELECT id FROM a;
    CREATE VIEW shown AS SELECT id FROM a;
    CREATE TYPE mood AS ENUM ('sad', 'well');
    CREATE TABLE moods (today mood);
    CREATE SCHEMA other;
    CREATE TABLE other.a (id int);
    INSERT INTO a VALUES (1, 'x');
    INSERT INTO b VALUES (1);
    INSERT INTO parts VALUES (1, 1);
"""
ALL = {"a", "b", "parts", "parent", "child", "kept", "moods", "other.a"}
CHANGES: Mapping[str, set[str]] = {
    "SELECT count(*) FROM a": set(),
    "UPDATE a SET name = 'y'": {"a"},
    "INSERT INTO other.a VALUES (1)": {"other.a"},
    "INSERT INTO parts VALUES (1, 2)": {"parts"},
    "DELETE FROM part_1": {"parts"},
    "ALTER TABLE parts DETACH PARTITION part_2": {"parts", "part_2"},
    "INSERT INTO child VALUES (1, 2)": {"parent", "child"},
    "REFRESH MATERIALIZED VIEW kept": {"kept"},
    "TRUNCATE b": {"b"},
    "ALTER TABLE a ADD COLUMN size int DEFAULT 3": {"a"},
    "ALTER TABLE a RENAME COLUMN size TO width": {"a"},
    "ALTER TYPE mood RENAME VALUE 'sad' TO 'low'": {"moods"},
    "ANALYZE": set(),
    "VACUUM": {"parts"},  # it gives back a page that has no rows any more
    "CHECKPOINT": set(),
    "CREATE OR REPLACE VIEW shown AS SELECT id FROM b": set(),
    "SELECT pg_stat_reset_single_table_counters('b'::regclass)": ALL | {"part_2"},
    "SELECT pg_stat_reset()": ALL | {"part_2"},
}
"""Changes one after the other, and the tables whose marks follow."""


@pytest.fixture
def own_server() -> Iterator[PostgresServer]:
    """A server that the test may crash."""
    pytest.importorskip("psycopg", reason="psycopg isn't installed")
    programs = find_programs()
    if programs is None:
        pytest.skip("no PostgreSQL")
    with running(start_server, programs, "pg") as server:
        yield server


def marks_of(database: PostgresDatabase) -> Mapping[str, str]:
    database.settle(lambda: None, kept=True)
    marks = database.table_marks(database.schema())
    assert marks is not None
    return marks


def test_marks_follow_changes(
    postgres_server: PostgresServer, postgres_database: Callable[[str], str], opened: Opener
) -> None:
    name = postgres_database(TABLES)
    database = opened(postgres_server.url(name))
    marks = marks_of(database)
    assert set(marks) == ALL
    assert all(marks.values())
    for change, changed in CHANGES.items():
        postgres_server.run(change, name)
        after = marks_of(database)
        assert {table for table in after if after[table] != marks.get(table)} == changed, change
        marks = after


def test_what_nobody_can_tell_has_an_empty_mark(
    postgres_server: PostgresServer, postgres_database: Callable[[str], str], opened: Opener
) -> None:
    name = postgres_database(
        TABLES + "CREATE FOREIGN DATA WRAPPER far; CREATE SERVER away FOREIGN DATA WRAPPER far;"
        "CREATE FOREIGN TABLE abroad (id int) SERVER away;"
        "CREATE FOREIGN TABLE part_3 PARTITION OF parts FOR VALUES IN (3) SERVER away;"
        "ALTER TABLE b ENABLE ROW LEVEL SECURITY;"
    )
    marks = marks_of(opened(postgres_server.url(name)))
    assert {table for table, mark in marks.items() if not mark} == {"abroad", "parts"}
    reader = postgres_server.reader(name, "SELECT ON ALL TABLES IN SCHEMA public")
    limited = marks_of(opened(reader))
    assert {table for table, mark in limited.items() if not mark} == {"abroad", "parts", "b"}


def test_equal_counts_after_a_reset_are_a_change(
    postgres_server: PostgresServer, postgres_database: Callable[[str], str], opened: Opener
) -> None:
    name = postgres_database("CREATE TABLE a (id int)")
    postgres_server.run("INSERT INTO a VALUES (1)", name)
    database = opened(postgres_server.url(name))
    marks, before = marks_of(database), database.fingerprint()
    postgres_server.run("SELECT pg_stat_reset()", name)
    postgres_server.run("INSERT INTO a VALUES (2)", name)
    assert marks_of(database) != marks
    assert database.fingerprint() != before


def test_a_crash_loses_the_counts_and_hides_no_change(
    own_server: PostgresServer, opened: Opener
) -> None:
    own_server.run("CREATE TABLE a (id int); CREATE TABLE b (id int); INSERT INTO a VALUES (1)")
    own_server.run("CHECKPOINT")
    database = opened(own_server.url())
    marks, before = marks_of(database), database.fingerprint()
    with own_server.connect() as session:
        os.kill(session.info.backend_pid, signal.SIGKILL)
        wait_until_up(own_server)
    own_server.run("INSERT INTO a VALUES (2)")  # the count is one again
    after = marks_of(database)
    assert after["a"] != marks["a"]
    crashed = database.fingerprint()
    assert crashed != before
    own_server.run("INSERT INTO b VALUES (1)")
    last = marks_of(database)
    assert {table for table in last if last[table] != after[table]} == {"b"}
    assert database.fingerprint() != crashed


def wait_until_up(server: PostgresServer) -> None:
    """Wait until a server that crashed accepts connections again."""
    import psycopg

    def up() -> bool:
        try:
            server.rows("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True

    time.sleep(0.3)
    assert comes(up)


@pytest.mark.parametrize(
    "setting",
    [
        "ALTER DATABASE {0} SET track_counts = off",
        "ALTER ROLE owner IN DATABASE {0} SET track_counts = off",
    ],
)
def test_nothing_is_told_where_somebody_writes_uncounted(
    setting: str,
    postgres_server: PostgresServer,
    postgres_database: Callable[[str], str],
    opened: Opener,
) -> None:
    name = postgres_database(TABLES)
    reader = postgres_server.reader(name, "SELECT ON ALL TABLES IN SCHEMA public")
    postgres_server.run(setting.format(name))
    database = opened(reader)
    assert database.table_marks(database.schema()) is None
    assert database.fingerprint() == ""


def test_a_change_whose_count_comes_late_is_read(
    postgres_server: PostgresServer, postgres_database: Callable[[str], str], tmp_path: Path
) -> None:
    name = postgres_database(TABLES)
    url = postgres_server.reader(name, "SELECT ON ALL TABLES IN SCHEMA public")
    folder = tmp_path / "prepared"
    prepare(url, folder=folder)
    with postgres_server.connect(name) as session:
        session.execute("INSERT INTO b VALUES (2)")
        session.execute("UPDATE a SET name = 'z'")  # its count is held back for ten seconds
        assert "a" in prepare(url, folder=folder).read


def test_a_count_that_is_missed_all_the_same_comes_later(
    postgres_server: PostgresServer, postgres_database: Callable[[str], str], tmp_path: Path
) -> None:
    name = postgres_database(TABLES)
    url = postgres_server.reader(name, "SELECT ON ALL TABLES IN SCHEMA public")
    folder = tmp_path / "prepared"
    prepare(url, folder=folder)
    with postgres_server.connect(name) as session:
        session.execute("INSERT INTO b VALUES (2)")
        session.execute("UPDATE a SET name = 'z'")
        hasty = prepare(url, folder=folder, settle=False)
        assert "a" not in hasty.read
    assert "a" in prepare(url, folder=folder).read


def test_a_view_of_a_table_that_the_login_cannot_read(
    postgres_server: PostgresServer, postgres_database: Callable[[str], str], tmp_path: Path
) -> None:
    name = postgres_database("CREATE TABLE hidden (id int); CREATE VIEW v AS SELECT id FROM hidden")
    url = postgres_server.reader(name, "SELECT ON v")
    assert prepare(url, folder=tmp_path).read == ("v",)
    assert prepare(url, folder=tmp_path).read == ()
    postgres_server.run("INSERT INTO hidden VALUES (1)", name)
    assert prepare(url, folder=tmp_path).read == ("v",)
