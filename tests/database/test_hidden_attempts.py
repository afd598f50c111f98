"""Attempts to read hidden tables, or to learn of them: no layer lets one through, and a hidden
table fares like one that does not exist."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
import yaml

from sqlwright.database import open_database
from sqlwright.database.failures import Refused
from sqlwright.database.sqlite.connection import GuardedConnection
from sqlwright.database.sqlite.database import Others, SqliteDatabase, Stored
from sqlwright.database.sqlite.failures import FAILURES, explain_failure
from sqlwright.database.sqlite.files import DatabaseFile
from sqlwright.errors import ConfigError, UnsafeQuery
from sqlwright.prepare import open_workspace, prepare
from sqlwright.protocols import Run
from sqlwright.schema import fold_name
from sqlwright.sql.guard import check_query
from sqlwright.sql.tokens import UnreadableQuery

CASES = yaml.safe_load(
    (Path(__file__).parents[1] / "cases" / "hidden_tables" / "attempts.yaml").read_text("utf-8")
)
LISTED, HIDDEN, ABSENT = CASES["listed"], CASES["hidden"], CASES["absent"]
Outcome = tuple[str, object]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("attempts") / "shop.db"
    connection = sqlite3.connect(path)
    connection.executescript(CASES["database"])
    connection.close()
    return path


@pytest.fixture(scope="module")
def guarded(file: Path) -> Iterator[GuardedConnection]:
    connection = GuardedConnection(DatabaseFile(file).source().uri, LISTED)
    yield connection
    connection.close()


@pytest.fixture(scope="module")
def database(file: Path) -> Iterator[SqliteDatabase]:
    with open_database(str(file), tables=LISTED) as opened:
        yield opened


@pytest.fixture(scope="module")
def views(file: Path) -> dict[str, str]:
    connection = sqlite3.connect(file)
    found = dict(connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'view'"))
    connection.close()
    return found


def by_connection(guarded: GuardedConnection, sql: str) -> Outcome:
    try:
        return "rows", list(guarded.execute(sql)[1])
    except (Refused, *FAILURES) as error:
        failure = explain_failure(error)
        return failure.kind, failure.message


def by_tree(views: dict[str, str], sql: str) -> Outcome:
    try:
        check_query(
            sql, views=views, hidden=Others(frozenset(map(fold_name, LISTED)) | {"json_each"})
        )
    except UnsafeQuery as error:
        return "sql" if isinstance(error, UnreadableQuery) else "unsafe", str(error)
    return "passed", None


def by_both(database: SqliteDatabase, sql: str) -> Outcome:
    result = database.execute(sql, Run())
    return (
        ("rows", result.rows) if result.error is None else (result.error.kind, result.error.message)
    )


def told(outcome: Outcome, name: str) -> Outcome:
    """What came of a query, with the name that it was about left out."""
    kind, said = outcome
    return kind, said.lower().replace(name.lower(), "*") if isinstance(said, str) else said


def test_there_are_enough() -> None:
    assert len(CASES["attempts"]) * len(HIDDEN) >= 200
    assert all("{t}" in sql for sql in CASES["attempts"])


@pytest.mark.parametrize("name", HIDDEN)
def test_the_connection_alone_leaks_nothing(name: str, guarded: GuardedConnection) -> None:
    for sql in CASES["attempts"]:
        kind, said = by_connection(guarded, sql.format(t=name))
        assert kind in {"sql", "unsafe"}, sql
        assert "canary-" not in str(said), sql
    for sql in CASES["told_apart"]:
        assert "canary" not in str(by_connection(guarded, sql.format(t=name))).replace(
            ":canary", ""
        )


@pytest.mark.parametrize("name", HIDDEN)
def test_the_parse_tree_alone_refuses_each(name: str, views: dict[str, str]) -> None:
    for sql in CASES["attempts"]:
        assert by_tree(views, sql.format(t=name))[0] != "passed", sql


@pytest.mark.parametrize("name", HIDDEN)
def test_each_layer_says_what_it_says_of_an_absent_one(
    name: str, guarded: GuardedConnection, database: SqliteDatabase, views: dict[str, str]
) -> None:
    for sql in (*CASES["attempts"], *CASES["harmless"], *CASES["told_apart"]):
        asked, absent = sql.format(t=name), sql.format(t=ABSENT)
        for outcome in (
            lambda text: by_both(database, text),
            lambda text: by_tree(views, text),
            lambda text: by_connection(guarded, text),
        ):
            assert told(outcome(asked), name) == told(outcome(absent), ABSENT), sql


@pytest.mark.parametrize("name", [*HIDDEN, ABSENT])
def test_their_names_are_free_for_other_uses(name: str, database: SqliteDatabase) -> None:
    for sql in CASES["harmless"]:
        kind, rows = by_both(database, sql.format(t=name))
        assert kind == "rows", (sql, rows)
        assert rows, sql


@pytest.mark.parametrize("name", CASES["provided"])
def test_a_hidden_table_is_none_of_those_that_are_provided(tmp_path: Path, name: str) -> None:
    columns = CASES["provided"][name]
    path = tmp_path / "shop.db"
    connection = sqlite3.connect(path)
    connection.executescript(f"""
        CREATE TABLE orders (id INTEGER PRIMARY KEY);
        INSERT INTO orders VALUES (1);
        CREATE TABLE "{name}" ({", ".join(columns)});
        INSERT INTO "{name}" VALUES ('canary', 1), (2, 3);
    """)
    connection.close()
    guarded = GuardedConnection(DatabaseFile(path).source().uri, ["orders"])
    hidden = Stored(frozenset({"orders", name}), {}).without(["orders"]).hidden
    with open_database(str(path), tables=["orders"]) as database:
        for attempt in CASES["provided_attempts"]:
            sql = attempt.format(t=name, c=columns[0])
            assert by_connection(guarded, sql)[0] in {"sql", "unsafe"}, sql
            assert by_both(database, sql)[0] in {"sql", "unsafe"}, sql
            with pytest.raises(UnsafeQuery):
                check_query(sql, hidden=hidden)
    guarded.close()


SHOWING = {
    "content": "CREATE VIRTUAL TABLE shown USING fts5(token, content='secrets', content_rowid=id)",
    "content of FTS4": 'CREATE VIRTUAL TABLE shown USING fts4(token, content="secrets")',
    "words": "CREATE VIRTUAL TABLE shown USING fts5vocab(notes_archive, row)",
    "words of FTS4": "CREATE VIRTUAL TABLE shown USING fts4aux(archive)",
    "pages": "CREATE VIRTUAL TABLE shown USING dbstat",
}


@pytest.mark.parametrize("kind", SHOWING)
def test_what_shows_hidden_content_can_not_be_listed(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "shop.db"
    connection = sqlite3.connect(path)
    connection.executescript("""
        CREATE TABLE secrets (id INTEGER PRIMARY KEY, token TEXT);
        CREATE VIRTUAL TABLE notes_archive USING fts5(token);
        CREATE VIRTUAL TABLE archive USING fts4(token);
        INSERT INTO secrets VALUES (1, 'canary');
        INSERT INTO notes_archive VALUES ('canary');
        INSERT INTO archive VALUES ('canary');
    """)
    made = apsw.Connection(str(path))  # the interpreter's own SQLite may lack a module
    made.execute(SHOWING[kind])
    if kind.startswith("content"):
        made.execute("INSERT INTO shown(shown) VALUES ('rebuild')")
    made.close()
    connection.close()
    with pytest.raises(ConfigError, match="shown can't be among the tables: it shows what"):
        open_database(str(path), tables=["shown"])
    guarded = GuardedConnection(DatabaseFile(path).source().uri, ["shown"])
    for sql in ("SELECT count(*) FROM shown WHERE shown MATCH 'canary'", "SELECT * FROM shown"):
        assert by_connection(guarded, sql) == ("sql", "no such table: shown")
    guarded.close()
    if kind == "pages":
        return
    named = ["shown", "secrets", "notes_archive", "archive"]
    with open_database(str(path), tables=named) as database:
        assert by_both(database, "SELECT count(*) FROM shown")[0] == "rows"


def test_description_files_name_no_hidden_table(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    connection = sqlite3.connect(path)
    connection.executescript(CASES["database"])
    folder = tmp_path / "database_description"
    folder.mkdir()
    for stem in ("orders", "secrets", "vault"):
        text = "original_column_name,column_name\nid,number\nlost,gone\n"
        (folder / f"{stem}.csv").write_text(text)
    (folder / "private.csv").write_text("nothing of use")
    prepared = tmp_path / "prepared"
    for state in ("unprepared", "prepared", "changed"):
        if state == "prepared":
            prepare(str(path), folder=prepared)
        elif state == "changed":
            connection.executescript("INSERT INTO orders VALUES (9, 'x', 1)")
        workspace = open_workspace(str(path), folder=prepared, tables=("orders",))
        said = " ".join((*workspace.notes, *workspace.catalog.notes))
        workspace.database.close()
        assert not any(name in said for name in ("secrets", "vault", "private", "notes")), said
        assert "lost" in said or state == "prepared"
    connection.close()
