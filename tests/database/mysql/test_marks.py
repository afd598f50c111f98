"""Marks of tables by the times of changes that a server tells: which of them are true."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import pytest

from sqlwright.database.mysql.database import MysqlDatabase
from tests.servers.mariadb import MariadbServer, find_programs, start_server
from tests.servers.starting import running

Opener = Callable[..., MysqlDatabase]
TABLES = """
    CREATE TABLE a (id INT PRIMARY KEY, name VARCHAR(20)) ENGINE=InnoDB;
    CREATE TABLE b (id INT) ENGINE=MyISAM;
    CREATE TABLE c (id INT, a INT, FOREIGN KEY (a) REFERENCES a (id) ON DELETE CASCADE);
    CREATE TABLE d (id INT) WITH SYSTEM VERSIONING;
    CREATE VIEW shown AS SELECT id FROM a;
    INSERT INTO a VALUES (1, 'x'), (2, 'y'), (3, 'z');
    INSERT INTO b VALUES (1);
    INSERT INTO c VALUES (1, 1);
    INSERT INTO d VALUES (1);
    CREATE TABLE e AS SELECT 1 AS id UNION SELECT 2;
"""
CHANGES: Mapping[str, set[str]] = {
    "UPDATE a SET name = 'w' WHERE id = 2": {"a"},
    "UPDATE b SET id = 2": {"b"},
    "DELETE FROM a WHERE id = 1": {"a", "c"},
    "TRUNCATE TABLE b": {"b"},
    "UPDATE d SET id = 2": {"d"},
    "ALTER TABLE b ADD COLUMN more INT": {"b"},
    "ANALYZE TABLE a": set(),
    "TRUNCATE TABLE e": {"e"},
}
"""Changes one after the other, and the tables whose marks follow."""


def marks_of(database: MysqlDatabase) -> Mapping[str, str]:
    database.settle(lambda: None, kept=True)
    marks = database.table_marks(database.schema())
    assert marks is not None
    return marks


def test_marks_follow_changes(
    mariadb_server: MariadbServer, mariadb_database: Callable[[str], str], opened: Opener
) -> None:
    name = mariadb_database(TABLES)
    database = opened(mariadb_server.reader(name))
    marks, whole = marks_of(database), database.fingerprint()
    assert {table for table, mark in marks.items() if not mark} == {"shown"}
    for change, changed in CHANGES.items():
        mariadb_server.run(change, name)
        after, now = marks_of(database), database.fingerprint()
        assert {table for table in after if after[table] != marks[table]} == changed, change
        assert (now != whole) == bool(changed), change
        marks, whole = after, now


def test_two_changes_within_a_second(
    mariadb_server: MariadbServer, mariadb_database: Callable[[str], str], opened: Opener
) -> None:
    name = mariadb_database("CREATE TABLE a (id INT)")
    database = opened(mariadb_server.reader(name))
    schema = database.schema()
    with mariadb_server.connect(name) as session, session.cursor() as cursor:
        time.sleep(1 - time.time() % 1)
        cursor.execute("INSERT INTO a VALUES (1)")
        session.commit()
        marks, whole = database.table_marks(schema), database.fingerprint()
        cursor.execute("INSERT INTO a VALUES (2)")
        session.commit()
    assert marks == {"a": ""}
    assert database.fingerprint() != whole
    assert marks_of(database)["a"]


@pytest.mark.parametrize(
    "kept",
    ["ENGINE=Aria", "ENGINE=MEMORY", "ENGINE=InnoDB PARTITION BY HASH (id) PARTITIONS 2"],
)
def test_tables_that_tell_no_time(
    kept: str,
    mariadb_server: MariadbServer,
    mariadb_database: Callable[[str], str],
    opened: Opener,
) -> None:
    name = mariadb_database(f"CREATE TABLE a (id INT); CREATE TABLE b (id INT) {kept}")
    database = opened(mariadb_server.reader(name))
    marks = marks_of(database)
    assert marks["a"]
    assert marks["b"] == ""
    assert database.fingerprint() == ""


def test_a_view_that_shows_something_else(
    mariadb_server: MariadbServer, mariadb_database: Callable[[str], str], opened: Opener
) -> None:
    name = mariadb_database(TABLES)
    database = opened(mariadb_server.reader(name))
    database.settle(lambda: None, kept=True)
    before = database.fingerprint()
    assert database.fingerprint() == before
    mariadb_server.run("CREATE OR REPLACE VIEW shown AS SELECT id + 1 AS id FROM a", name)
    assert database.fingerprint() != before


def test_a_table_without_a_time_may_have_lost_it(opened: Opener) -> None:
    pytest.importorskip("pymysql", reason="PyMySQL isn't installed")
    programs = find_programs()
    if programs is None:
        pytest.skip("no MariaDB: the system's package mariadb-server isn't installed")
    with running(start_server, programs, "my") as server:
        name = server.create("CREATE TABLE never (id INT); CREATE TABLE ever (id INT)")
        database = opened(server.reader(name))
        assert all(marks_of(database).values())
        # A cache for few tables forgets some, and with them the times of their changes.
        many = ";".join(f"CREATE TABLE t{n} (id INT)" for n in range(200))
        server.run(f"SET GLOBAL table_definition_cache = 400; {many}", name)
        server.run("INSERT INTO ever VALUES (1)", name)
        marks = marks_of(database)
        assert marks["never"] == ""
        assert marks["ever"]
        assert database.fingerprint() == ""
