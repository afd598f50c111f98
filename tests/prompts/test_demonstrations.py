"""Every demonstration against its own database: what it shows is so."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from sqlwright.local.left_out.amounts import machine_checks
from sqlwright.messages import Text
from sqlwright.prepare import open_workspace
from sqlwright.prompts.cells import render_result
from sqlwright.prompts.demonstrations import (
    database_script,
    load_column_demonstrations,
    load_demonstrations,
    load_next_demonstrations,
    load_revisions,
    read_demonstrations,
    texts,
)
from sqlwright.sql.reading import tables_used
from sqlwright.types import Candidate, ExecutionResult

SUB_QUESTIONS = ("sub_sql_first", "sub_sql_next")


@cache
def opened(name: str) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    connection.executescript(database_script(name))
    return connection


def test_no_row_of_the_databases_points_nowhere() -> None:
    for name in ("allotments", "bakery", "clinic", "ferries", "library"):
        assert opened(name).execute("PRAGMA foreign_key_check").fetchall() == []


@pytest.mark.parametrize(
    ("name", "count"), [("divide_and_conquer", 7), ("query_plan", 6), ("query_plan_short", 6)]
)
def test_worked_examples_are_at_least_as_many_as_the_paper_has(name: str, count: int) -> None:
    assert len(load_demonstrations(name)) >= count


@pytest.mark.parametrize("name", ["divide_and_conquer", "query_plan"])
@pytest.mark.parametrize("feature", ["zero", "text_form", "not_found", "two_ends", "run"])
def test_there_is_a_worked_example_for_what_goes_wrong_most(name: str, feature: str) -> None:
    assert [one for one in load_demonstrations(name) if feature in one.fits]


def test_an_example_for_zeros_shows_things_without_partners() -> None:
    for name in ("divide_and_conquer", "query_plan"):
        (entry,) = (one for one in read_demonstrations(name) if "zero" in one["fits"])
        assert "LEFT JOIN" in entry["sql"]
        inner = opened(entry["database"]).execute(entry["sql"].replace("LEFT JOIN", "JOIN"))
        assert [list(row) for row in inner] != entry["rows"]


def test_an_example_for_text_would_be_wrong_without_the_cast() -> None:
    year_first = "substr(joined, 7, 4) || substr(joined, 4, 2) || substr(joined, 1, 2)"
    for name, cast, stored in (
        ("divide_and_conquer", "CAST(length AS REAL)", "length"),
        ("query_plan", year_first, "joined"),
    ):
        (entry,) = (e for e in read_demonstrations(name) if "text_form" in e["fits"])
        assert cast in entry["sql"]
        plain = opened(entry["database"]).execute(entry["sql"].replace(cast, stored))
        assert [list(row) for row in plain] != entry["rows"]


def test_a_right_query_is_kept_by_one_repair_and_mended_by_the_others() -> None:
    kept = [one for one in load_revisions() if one.sql == one.faulty]
    assert [one.question for one in kept] == ["Which boats were built before 1990?"]


@pytest.mark.parametrize(
    "entry",
    [
        entry
        for name in ("divide_and_conquer", "query_plan", "revise", "refine_nested", *SUB_QUESTIONS)
        for entry in read_demonstrations(name)
    ],
    ids=lambda entry: entry["question"],
)
def test_a_worked_query_gives_the_rows_that_are_stated(entry: dict[str, Any]) -> None:
    database = opened(entry["database"])
    assert [list(row) for row in database.execute(entry["sql"])] == entry["rows"]
    assert entry["reasoning"].strip()
    assert "```" not in entry["reasoning"]


@pytest.mark.parametrize(
    "name", ["divide_and_conquer", "query_plan", "query_plan_short", *SUB_QUESTIONS]
)
def test_a_worked_query_needs_all_the_tables_it_shows(name: str) -> None:
    loaded = load_next_demonstrations() if name == "sub_sql_next" else load_demonstrations(name)
    for entry, one in zip(read_demonstrations(name), loaded, strict=True):
        assert {table.lower() for table in tables_used(one.sql)} - {"years", "pairs"} == set(
            entry["tables"]
        )
        assert one.schema.count("CREATE TABLE") == len(entry["tables"])


@pytest.mark.parametrize(("name", "count"), [("sub_sql_first", 3), ("sub_sql_next", 2)])
def test_sub_questions_have_as_many_worked_examples_as_the_paper_has(name: str, count: int) -> None:
    assert len(read_demonstrations(name)) == count


@pytest.mark.parametrize("entry", read_demonstrations("sub_sql_next"), ids=lambda e: e["question"])
def test_a_query_that_is_gone_on_with_gives_other_rows(entry: dict[str, Any]) -> None:
    rows = [list(row) for row in opened(entry["database"]).execute(entry["earlier_sql"])]
    assert rows == entry["earlier_rows"] != entry["rows"]
    assert entry["question"].startswith(entry["earlier"][:20])


@pytest.mark.parametrize(
    "entry",
    [*read_demonstrations("revise"), *read_demonstrations("refine_nested")],
    ids=lambda e: e["question"],
)
def test_a_faulty_query_fails_as_is_told(entry: dict[str, Any]) -> None:
    assert entry["outcome"].strip().startswith(_outcome(entry))


def test_a_machine_finding_is_told_as_the_machine_finds_it(tmp_path: Path) -> None:
    (entry,) = (one for one in read_demonstrations("revise") if "finding" in one["fits"])
    with closing(sqlite3.connect(tmp_path / "bakery.sqlite")) as connection:
        connection.executescript(database_script(entry["database"]))
    workspace = open_workspace(str(tmp_path / "bakery.sqlite"), folder=tmp_path / "absent")
    (note,) = machine_checks(Candidate(entry["faulty"], "test"), workspace)
    assert entry["outcome"].strip().endswith(f"Noticed by machine: {note.text}.")
    assert machine_checks(Candidate(entry["sql"], "test"), workspace) == ()
    workspace.database.close()


def _outcome(entry: dict[str, Any]) -> str:
    try:
        cursor = opened(entry["database"]).execute(entry["faulty"])
        rows = cursor.fetchall()
    except sqlite3.OperationalError as error:
        return f"It failed with an error: {error}"
    if not rows:
        return "It ran, but found no rows."
    result = ExecutionResult(tuple(column[0] for column in cursor.description), tuple(rows))
    return f"It ran and gave:\n{render_result(result)}"


@pytest.mark.parametrize("one", load_column_demonstrations(), ids=lambda d: f"{d.table}.{d.column}")
def test_a_column_is_described_as_it_is_stored(one: Any) -> None:
    database = opened(one.database)
    columns = {row[1]: row for row in database.execute(f"PRAGMA table_info({one.table})")}
    _, name, declared, _, _, primary = columns[one.column]
    assert (name, declared) == (one.column, one.type)
    stored = {str(v) for (v,) in database.execute(f"SELECT {one.column} FROM {one.table}")}
    assert set(one.examples) <= stored
    near_and_far = {column for pair in _keys(database) for column in pair}
    assert not primary  # keys are kept unasked
    assert f"{one.table}.{one.column}" not in near_and_far


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
