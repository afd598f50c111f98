"""Only some tables may be known of and read: each layer alone sees to it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from sqlwright import api
from sqlwright.database import open_database
from sqlwright.database.failures import Refused
from sqlwright.database.sqlite.connection import GuardedConnection
from sqlwright.database.sqlite.failures import FAILURES
from sqlwright.database.sqlite.files import DatabaseFile
from sqlwright.errors import ConfigError, UnsafeQuery
from sqlwright.prepare import open_workspace, prepare
from sqlwright.protocols import Run
from sqlwright.sql.guard import check_query
from tests.scripted import scripted_models

CASES = yaml.safe_load(
    (Path(__file__).parents[1] / "cases" / "hidden_tables" / "some_tables.yaml").read_text("utf-8")
)
SEEN = ("orders", "open_orders", "notes")
SCRIPT = """
CREATE TABLE secrets (id INTEGER PRIMARY KEY, token TEXT);
INSERT INTO secrets VALUES (1, 'canary-token');
CREATE TABLE orders (id INTEGER PRIMARY KEY, state TEXT, secret_id REFERENCES secrets (id));
INSERT INTO orders VALUES (1, 'open', 1), (2, 'sent', 1);
CREATE VIEW open_orders AS SELECT * FROM orders WHERE state = 'open';
CREATE VIEW leaking AS SELECT o.id, s.token FROM orders o JOIN secrets s ON s.id = o.secret_id;
CREATE VIRTUAL TABLE notes USING fts5(body);
INSERT INTO notes VALUES ('hello world');
CREATE VIRTUAL TABLE private_notes USING fts5(body);
INSERT INTO private_notes VALUES ('hello canary');
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hidden") / "shop.db"
    connection = sqlite3.connect(path)
    connection.executescript(SCRIPT)
    connection.close()
    return path


@pytest.fixture(scope="module")
def guarded(file: Path) -> Iterator[GuardedConnection]:
    connection = GuardedConnection(DatabaseFile(file).source().uri, SEEN)
    yield connection
    connection.close()


@pytest.fixture(scope="module")
def names(file: Path) -> tuple[dict[str, str], frozenset[str]]:
    connection = sqlite3.connect(file)
    rows = connection.execute("SELECT name, type, sql FROM sqlite_schema").fetchall()
    connection.close()
    views = {name: sql for name, kind, sql in rows if kind == "view"}
    hidden = {name.lower() for name, kind, _ in rows if kind in {"table", "view"}} - set(SEEN)
    return views, frozenset(hidden | {"sqlite_schema", "sqlite_master"})


@pytest.mark.parametrize("sql", CASES["refused"])
def test_the_connection_alone_refuses_it(sql: str, guarded: GuardedConnection) -> None:
    with pytest.raises((Refused, *FAILURES)):
        list(guarded.execute(sql)[1])


@pytest.mark.parametrize("sql", CASES["refused"])
def test_the_parse_tree_alone_refuses_it(
    sql: str, names: tuple[dict[str, str], frozenset[str]]
) -> None:
    views, hidden = names
    with pytest.raises(UnsafeQuery):
        check_query(sql, views=views, hidden=hidden)


@pytest.mark.parametrize("sql", CASES["answered"])
def test_what_may_be_read_is_answered(sql: str, file: Path) -> None:
    with open_database(str(file), tables=SEEN) as database:
        result = database.execute(sql, Run())
    assert result.ok, result.error
    assert result.rows


def test_the_schema_has_no_others(file: Path) -> None:
    with open_database(str(file), tables=("ORDERS", "notes")) as database:
        assert database.tables == ("orders", "notes")
        schema = database.schema()
    assert {table.name for table in schema.tables} == {"orders", "notes"}
    assert schema.foreign_keys == ()


def test_a_table_made_later_stays_hidden(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    connection = sqlite3.connect(path)
    connection.executescript(SCRIPT)
    with open_database(str(path), tables=SEEN) as database:
        assert database.execute("SELECT * FROM orders", Run()).ok
        connection.executescript("CREATE TABLE later (x); INSERT INTO later VALUES ('canary')")
        result = database.execute("SELECT * FROM later", Run())
        assert result.error is not None
        assert (result.error.kind, result.error.message) == ("sql", "no such table: later")
    connection.close()


@pytest.mark.parametrize(
    ("tables", "told"),
    [
        (("orders", "sales"), "no table 'sales'"),
        (("orders", "leaking"), "no such table: secrets among them"),
    ],
)
def test_a_list_that_does_not_fit_is_refused(
    file: Path, tables: tuple[str, ...], told: str
) -> None:
    with pytest.raises(ConfigError, match=told):
        open_database(str(file), tables=tables)


@pytest.mark.parametrize("is_prepared", [True, False])
def test_nothing_of_other_tables_is_known(file: Path, tmp_path: Path, is_prepared: bool) -> None:
    if is_prepared:
        prepare(str(file), folder=tmp_path / "prepared")
    workspace = open_workspace(str(file), folder=tmp_path / "prepared", tables=("orders",))
    try:
        assert [table.name for table in workspace.schema.tables] == ["orders"]
        assert {ref.table for ref in workspace.catalog.columns} == {"orders"}
        assert set(workspace.catalog.tables) <= {"orders"}
        assert "secrets" not in " ".join(workspace.notes)
        assert workspace.values.search("canary-token") == []
        assert workspace.values.search("sent")[0].value == "sent"
    finally:
        workspace.database.close()


def test_a_session_can_not_be_made_to_read_them(file: Path, tmp_path: Path) -> None:
    models = scripted_models("SELECT token FROM secrets", "SELECT count(*) FROM orders")
    with api.open(file, tables=["orders"], models=models, home=tmp_path, record=False) as session:
        answer = session.ask("How many orders are there?")
        typed = session.run_sql("SELECT token FROM secrets")
    assert answer.rows == ((2,),)
    assert typed.status == "failed"
    assert "canary" not in answer.to_json()


def test_an_index_of_places_is_listed_after_analyze(tmp_path: Path) -> None:
    """It asks for what ANALYZE counted of its own table; a query may not."""
    path = tmp_path / "places.db"
    connection = sqlite3.connect(path)
    connection.executescript(
        "CREATE TABLE orders (id INTEGER PRIMARY KEY); INSERT INTO orders VALUES (1), (2);"
        "CREATE INDEX by_id ON orders (id);"
        "CREATE VIRTUAL TABLE boxes USING rtree(id, low, high); "
        "INSERT INTO boxes VALUES (1, 0, 1); ANALYZE;"
    )
    connection.close()
    with open_database(str(path), tables=["orders", "boxes"]) as database:
        assert database.execute("SELECT low, high FROM boxes", Run()).rows == ((0.0, 1.0),)
        for sql in ("SELECT * FROM sqlite_stat1", "SELECT * FROM boxes_node"):
            assert database.execute(sql, Run()).error is not None
    guarded = GuardedConnection(DatabaseFile(path).source().uri, ["orders", "boxes"])
    for sql in ("SELECT * FROM sqlite_stat1", "SELECT stat FROM boxes, sqlite_stat1"):
        with pytest.raises((Refused, *FAILURES)):
            list(guarded.execute(sql)[1])
    guarded.close()


def test_a_few_of_many_tables_are_read_alone(tmp_path: Path) -> None:
    path = tmp_path / "many.db"
    connection = sqlite3.connect(path)
    connection.executescript(
        "CREATE TABLE kinds (id INTEGER PRIMARY KEY, name TEXT);"
        "CREATE TABLE things (id INTEGER PRIMARY KEY, kind REFERENCES kinds (id), x REFERENCES t9);"
        "INSERT INTO kinds VALUES (1, 'a'); PRAGMA writable_schema = ON;"
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8000) "
        "INSERT INTO sqlite_schema SELECT 'table', 't' || i, 't' || i, 2, "
        "'CREATE TABLE t' || i || ' (id INTEGER PRIMARY KEY, name TEXT)' FROM n;"
    )
    connection.close()
    with open_database(str(path), tables=["things", "kinds"]) as database:
        schema = database.schema()
        assert [table.name for table in schema.tables] == ["kinds", "things"]
        assert [key.target_table for key in schema.foreign_keys] == ["kinds"]
        assert database.execute("SELECT name FROM kinds", Run()).rows == (("a",),)
        assert database.execute("SELECT name FROM t9", Run()).error is not None
