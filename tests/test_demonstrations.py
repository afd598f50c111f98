"""Every demonstration against its own database: what it shows is so."""

from __future__ import annotations

import sqlite3
from functools import cache
from typing import Any

import pytest

from sqlwright.demonstrations import (
    database_script,
    load_column_demonstrations,
    texts,
)
from sqlwright.messages import Text


@cache
def opened(name: str) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    connection.executescript(database_script(name))
    return connection


def test_no_row_of_the_databases_points_nowhere() -> None:
    for name in ("allotments", "bakery", "clinic", "ferries", "library"):
        assert opened(name).execute("PRAGMA foreign_key_check").fetchall() == []


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
