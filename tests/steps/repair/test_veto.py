"""Vetoes: each fault is mended or told, and what looks like one is left alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from sqlwright import api
from sqlwright.api import Session
from sqlwright.candidates import execute, same_result
from sqlwright.local.steps.veto import VetoRepair
from sqlwright.prepare import open_workspace
from sqlwright.protocols import Context, Run, Workspace
from sqlwright.schema import SchemaView
from sqlwright.steps.retrieval.values import ValueRetrieval
from sqlwright.types import Candidate, Question, State

CASES: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parents[2] / "cases" / "vetoes" / "cases.yaml").read_text("utf-8")
)


@pytest.fixture(scope="module")
def desk(
    database_files: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Workspace]:
    absent = tmp_path_factory.mktemp("prepared") / "absent"
    workspace = open_workspace(str(database_files["desk"]), folder=absent)
    yield workspace
    workspace.database.close()


def looked_at(case: dict[str, Any], workspace: Workspace, run: Run) -> Candidate:
    """The one candidate after the step."""
    context = Context(workspace, run)
    state = State(Question(case["question"]), SchemaView(workspace.schema))
    state = ValueRetrieval()(state, context)
    written = execute([Candidate(case["sql"], "test")], workspace.database, run)
    (candidate,) = VetoRepair()(state.evolve(candidates=written), context).candidates
    return candidate


@pytest.mark.parametrize("case", CASES, ids=[f"{c['question']} {c['sql'][:40]}" for c in CASES])
def test_faults(desk: Workspace, case: dict[str, Any]) -> None:
    run = Run(today=case["today"]) if "today" in case else Run()
    candidate = looked_at(case, desk, run)
    assert [veto.message for veto in candidate.vetoes] == case.get("vetoes", [])
    assert sorted(veto.done for veto in candidate.mended) == sorted(case.get("done", []))
    if "becomes" in case:
        (wanted,) = execute([Candidate(case["becomes"], "test")], desk.database, run)
        assert same_result(candidate, wanted), candidate.sql
        assert candidate.parent is not None
    else:
        assert candidate.sql == case["sql"]


def test_a_query_that_finds_nothing_is_not_put_in_place_of_one_that_does(desk: Workspace) -> None:
    case = {
        "question": "Closed urgent tickets",
        "sql": "SELECT subject FROM tickets WHERE status = 'closed'",
    }
    candidate = looked_at(case, desk, Run())
    assert candidate.sql == case["sql"]
    assert [veto.kind for veto in candidate.vetoes] == ["value"]


def test_nothing_is_mended_when_the_time_is_up(desk: Workspace) -> None:
    case = {"question": "Agents in Kenya", "sql": "SELECT name FROM agents"}
    run = Run()
    looked = looked_at(case, desk, run)
    assert looked.mended
    run.cancelled.set()
    state = State(Question(case["question"]), SchemaView(desk.schema), candidates=(looked,))
    assert VetoRepair()(state, Context(desk, run)).candidates == (looked,)


@pytest.fixture
def ask_desk(database_files: dict[str, Path], tmp_path: Path) -> Iterator[Callable[..., Session]]:
    """The real models over the help desk."""
    with api.open(database_files["desk"], home=tmp_path) as session:
        yield session.ask


def test_an_answer_with_a_fault_says_so_and_is_not_sure(ask_desk: Callable[..., Any]) -> None:
    answer = ask_desk("Cumulative fee of the tickets")
    assert answer.confidence <= 0.5
    assert "asks for a running total" in answer.doubt


def test_an_answer_with_a_condition_added_says_so(ask_desk: Callable[..., Any]) -> None:
    answer = ask_desk("Subjects of the open high priority tickets")
    assert answer.rows == (("Printer on fire",),)
    assert "'high'" in answer.sql
    assert "'open'" in answer.sql
