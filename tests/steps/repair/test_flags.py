"""A flag that every row has is never missing: “not active” asks for its no, “active” doesn't."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from sqlwright.candidates import execute
from sqlwright.local.steps.veto import VetoRepair
from sqlwright.prepare import open_workspace, prepare
from sqlwright.protocols import Context, Run, Workspace
from sqlwright.schema import ColumnRef, SchemaView
from sqlwright.types import Candidate, Question, State, ValueMatch

ROWS = [
    (n, f"Member {n}", n % 4 != 0, "NY"[n % 5 == 0], None if n % 3 else True) for n in range(60)
]
TABLE = """
CREATE TABLE members (
    id INTEGER PRIMARY KEY, name VARCHAR(20), active BOOLEAN, newsletter VARCHAR(1), paid BOOLEAN
)
"""
LESS = "Members without a newsletter"
ASKED_NO = "members.active is 0, as the question says"
CASES = [
    ("Members that aren't active", "active IS NULL", 15,
     ["members.active is never empty; 0 is meant"]),
    ("Active members", "active IS NOT NULL", 45, ["members.active is never empty; 1 is meant"]),
    (LESS, "newsletter IS NULL", 48, ["members.newsletter is never empty; 'N' is meant"]),
    (LESS, "newsletter IS NULL AND id < 10", 8,
     ["members.newsletter is never empty; 'N' is meant"]),
    (LESS, "active = 1", 36, ["members.newsletter is 'N', as the question says"]),
    ("Members without a fee", "paid IS NULL", 40, []),
    ("Members without a name", "name IS NULL", 0, []),
    ("Inactive members", "active IS NULL", 15, ["members.active is never empty; 0 is meant"]),
    ("Which members are active?", "active IS NULL", 0, []),
    ("Which members are active?", "active = 1", 45, []),
    ("Which members are active?", "active = 0", 45, ["members.active is 1, as the question says"]),
    ("Which members are not active?", "active = 1", 15, [ASKED_NO]),
    ("Which members aren't active?", "active != 0", 15, [ASKED_NO]),
    ("Members that have never been active", "active = 1", 15,
     [ASKED_NO]),
    ("Inactive members", "active = 1", 15, [ASKED_NO]),
    (LESS, "newsletter = 'Y'", 48,
     ["members.newsletter is 'N', as the question says"]),
    ("Active members without a newsletter", "active = 1 AND newsletter = 'N'", 36, []),
    ("Members whose newsletter is N", "newsletter = 'N'", 48, []),
    (LESS, "NOT newsletter = 'Y'", 48, []),
    ("Members who haven't paid", "id NOT IN (SELECT id FROM members WHERE paid = 1)", 40, []),
    ("How many members from Riga?", "active = 0", 15, []),
]  # fmt: skip


@pytest.fixture(scope="module", params=["sqlite", "duckdb"])
def members(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Workspace]:
    folder: Path = tmp_path_factory.mktemp("members")
    path = folder / f"members.{request.param}"
    if request.param == "sqlite":
        with sqlite3.connect(path) as sqlite:
            sqlite.execute(TABLE)
            sqlite.executemany("INSERT INTO members VALUES (?, ?, ?, ?, ?)", ROWS)
        sqlite.close()
    else:
        duckdb = pytest.importorskip("duckdb", reason="duckdb isn't installed")
        with duckdb.connect(str(path)) as duck:
            duck.execute(TABLE)
            duck.executemany("INSERT INTO members VALUES (?, ?, ?, ?, ?)", ROWS)
    prepare(str(path), folder=folder / "prepared")
    workspace = open_workspace(str(path), folder=folder / "prepared")
    yield workspace
    workspace.database.close()


@pytest.mark.parametrize(("question", "condition", "count", "done"), CASES)
def test_missing_flags(
    members: Workspace, question: str, condition: str, count: int, done: list[str]
) -> None:
    run = Run()
    sql = f"SELECT COUNT(*) FROM members WHERE {condition}"
    written = execute([Candidate(sql, "test")], members.database, run)
    state = State(Question(question), SchemaView(members.schema), candidates=written)
    (candidate,) = VetoRepair(unanswered=False)(state, Context(members, run)).candidates
    if members.schema.dialect != "sqlite":  # its truth values are no numbers
        done = [
            re.sub(r"\b[01]\b", lambda one: ("FALSE", "TRUE")[int(one[0])], text) for text in done
        ]
    assert [veto.done for veto in candidate.mended] == done
    assert candidate.result is not None
    assert candidate.result.rows == ((count,),)


def test_a_value_that_stands_for_a_number_is_told_as_one(members: Workspace) -> None:
    run, question = Run(), Question("How many Gold members?")
    match = ValueMatch("Gold", ColumnRef("members", "id"), "7", 1.0, 1, (9, 13))
    written = execute([Candidate("SELECT name FROM members", "test")], members.database, run)
    state = State(question, SchemaView(members.schema), values=(match,), candidates=written)
    (candidate,) = VetoRepair(unanswered=False)(state, Context(members, run)).candidates
    assert [veto.done for veto in candidate.mended] == ["“Gold” is read as members.id = 7"]
