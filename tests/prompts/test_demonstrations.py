"""Every demonstration against its own database: what it shows is so."""

from __future__ import annotations

import sqlite3
from functools import cache
from typing import Any

import pytest

from sqlwright.messages import Text
from sqlwright.prompts.demonstrations import (
    database_script,
    load_column_demonstrations,
    load_demonstrations,
    load_revisions,
    read_demonstrations,
    texts,
)
from sqlwright.sql.reading import tables_used


@cache
def opened(name: str) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    connection.executescript(database_script(name))
    return connection


def test_no_row_of_the_databases_points_nowhere() -> None:
    for name in ("allotments", "bakery", "clinic", "ferries", "library"):
        assert opened(name).execute("PRAGMA foreign_key_check").fetchall() == []


@pytest.mark.parametrize(("name", "count"), [("divide_and_conquer", 7), ("query_plan", 6)])
def test_worked_examples_are_as_many_as_the_paper_has(name: str, count: int) -> None:
    assert len(load_demonstrations(name)) == count
    assert len(load_revisions()) == 3


@pytest.mark.parametrize(
    "entry",
    [
        entry
        for name in ("divide_and_conquer", "query_plan", "revise")
        for entry in read_demonstrations(name)
    ],
    ids=lambda entry: entry["question"],
)
def test_a_worked_query_gives_the_rows_that_are_stated(entry: dict[str, Any]) -> None:
    database = opened(entry["database"])
    assert [list(row) for row in database.execute(entry["sql"])] == entry["rows"]
    assert entry["reasoning"].strip()
    assert "```" not in entry["reasoning"]


@pytest.mark.parametrize("name", ["divide_and_conquer", "query_plan"])
def test_a_worked_query_needs_all_the_tables_it_shows(name: str) -> None:
    for entry, one in zip(read_demonstrations(name), load_demonstrations(name), strict=True):
        assert {table.lower() for table in tables_used(one.sql)} - {"years", "pairs"} == set(
            entry["tables"]
        )
        assert one.schema.count("CREATE TABLE") == len(entry["tables"])


@pytest.mark.parametrize("entry", read_demonstrations("revise"), ids=lambda e: e["question"])
def test_a_faulty_query_fails_as_is_told(entry: dict[str, Any]) -> None:
    assert entry["outcome"].startswith(_outcome(entry))


def _outcome(entry: dict[str, Any]) -> str:
    try:
        rows = opened(entry["database"]).execute(entry["faulty"]).fetchall()
    except sqlite3.OperationalError as error:
        return f"It failed with an error: {error}"
    return "rows" if rows else "It ran, but found no rows."


@pytest.mark.parametrize("one", load_column_demonstrations(), ids=lambda d: f"{d.table}.{d.column}")
def test_a_column_is_described_as_it_is_stored(one: Any) -> None:
    database = opened(one.database)
    columns = {row[1]: row for row in database.execute(f"PRAGMA table_info({one.table})")}
    _, name, declared, _, _, primary = columns[one.column]
    assert (name, declared, bool(primary)) == (one.column, one.type, one.primary_key)
    stored = {str(v) for (v,) in database.execute(f"SELECT {one.column} FROM {one.table}")}
    assert set(one.examples) <= stored
    keys = _keys(database)
    assert one.references == dict(keys).get(f"{one.table}.{one.column}", "")
    assert one.referenced_by == tuple(
        near for near, far in keys if far == f"{one.table}.{one.column}"
    )


def test_columns_are_judged_both_ways_and_each_question_once() -> None:
    judged = load_column_demonstrations()
    assert (len(judged), sum(one.relevant for one in judged)) == (16, 8)
    assert len({one.question for one in judged}) == 16
    assert all("\n" not in one.reason for one in judged)


def test_a_demonstration_enters_a_template_as_text_of_our_own() -> None:
    shown = texts(load_column_demonstrations()[0])
    assert shown["relevant"] == Text.of("yes", "template")
    assert shown["examples"][0] == Text.of("2650", "template")


def _keys(database: sqlite3.Connection) -> list[tuple[str, str]]:
    tables = [row[0] for row in database.execute("SELECT name FROM sqlite_master")]
    return [
        (f"{table}.{row[3]}", f"{row[2]}.{row[4]}")
        for table in tables
        if not table.startswith("sqlite_")
        for row in database.execute(f"PRAGMA foreign_key_list({table})")
    ]
