"""Vetoes over a board of tasks: what isn't there, numbers that are no amounts, parts of values."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from sqlwright.candidates import execute
from sqlwright.local.steps.veto import VetoRepair
from sqlwright.protocols import Context, Run, Workspace
from sqlwright.schema import SchemaView
from sqlwright.steps.retrieval.values import ValueRetrieval
from sqlwright.types import Candidate, Question, State
from tests.steps.repair.prepared import ENGINES, prepared_on

CASES: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parents[2] / "cases" / "vetoes" / "board.yaml").read_text("utf-8")
)
SCRIPT = """
CREATE TABLE states (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL);
CREATE TABLE people (
    id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL, city VARCHAR(20), is_admin INTEGER NOT NULL,
    manager_id INTEGER REFERENCES people (id), illness VARCHAR(40)
);
CREATE TABLE projects (
    id INTEGER PRIMARY KEY, name VARCHAR(20), owner_id INTEGER REFERENCES people (id)
);
CREATE TABLE tasks (
    id INTEGER PRIMARY KEY, title VARCHAR(20), project_id INTEGER REFERENCES projects (id),
    state_id INTEGER REFERENCES states (id), position INTEGER NOT NULL, floor INTEGER, year INTEGER
);
INSERT INTO states VALUES (1, 'Open'), (2, 'Won''t fix'), (3, 'Done');
INSERT INTO people VALUES
    (1, 'Ann', 'Rome', 0, NULL, 'Mild asthma'), (2, 'Bo', 'Oslo', 0, NULL, NULL);
INSERT INTO people VALUES
    (3, 'Cy', 'Bern', 0, 1, 'Acute bronchitis'), (4, 'Di', 'Rome', 1, 1, 'Severe asthma');
INSERT INTO projects VALUES (1, 'Apollo', 1), (2, 'Borealis', 1);
"""
TASKS = """
(1, 'Task 1', 1, 1, 1, 1, 2023), (2, 'Task 2', 2, 2, 2, 1, 2024), (3, 'Task 3', 1, 3, 3, 1, 2023),
(4, 'Task 4', 2, 2, 4, 1, 2024), (5, 'Task 5', 1, 1, 5, 2, 2023), (6, 'Task 6', 2, 3, 6, 2, 2024),
(7, 'Task 7', 1, NULL, 7, 3, 2023), (8, 'Task 8', 2, NULL, 8, 3, 2024)
"""


@pytest.fixture(scope="module", params=ENGINES)
def board(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Workspace]:
    script = f"{SCRIPT}INSERT INTO tasks VALUES {TASKS};"
    folder = tmp_path_factory.mktemp("board")
    with prepared_on(request.param, script, folder, request) as workspace:
        yield workspace


@pytest.mark.parametrize("case", CASES, ids=[f"{c['question']} {c['sql'][:50]}" for c in CASES])
def test_the_board(board: Workspace, case: dict[str, Any]) -> None:
    context = Context(board, Run())
    state = ValueRetrieval()(State(Question(case["question"]), SchemaView(board.schema)), context)
    written = execute([Candidate(case["sql"], "test")], board.database, context.run)
    (candidate,) = VetoRepair(unanswered=False)(
        state.evolve(candidates=written), context
    ).candidates
    assert [veto.done for veto in candidate.mended] == case.get("done", []), candidate.sql
    assert [veto.message for veto in candidate.vetoes] == case.get("vetoes", [])
    assert candidate.result is not None
    assert sorted(map(list, candidate.result.rows)) == case["rows"]
