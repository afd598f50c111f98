"""The question back: what is asked where two queries are likely, and where nothing is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from sqlwright.candidates import execute
from sqlwright.prepare import open_workspace
from sqlwright.protocols import Context, Run, Workspace
from sqlwright.schema import SchemaView
from sqlwright.steps.selection.ask_back import AskBack
from sqlwright.types import Candidate, Question, State, ValueMatch, Veto
from tests.conftest import build_database

FOLDER = Path(__file__).parents[2] / "cases" / "asking_back"
CASES = yaml.safe_load((FOLDER / "cases.yaml").read_text("utf-8"))


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    folder = tmp_path_factory.mktemp("office")
    path = build_database(FOLDER / "office.sql", folder / "office.sqlite")
    workspace = open_workspace(str(path), folder=folder / "absent")
    yield workspace
    workspace.database.close()


def state_of(office: Workspace, case: dict[str, Any]) -> State:
    written = [
        Candidate(sql, "test", confidence=confidence) for confidence, sql in case["queries"].items()
    ]
    ran = execute(written, office.database, Run())
    assert all(one.result is not None and one.result.ok for one in ran)
    question = Question(case["question"], case.get("evidence", ""))
    return State(question, SchemaView(office.schema), candidates=ran, selected=ran[0])


def asked(office: Workspace, state: State, **options: float) -> State:
    return AskBack(**options)(state, Context(office, Run(), {}))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.get("why", case["question"]))
def test_cases(office: Workspace, case: dict[str, Any]) -> None:
    found = asked(office, state_of(office, case)).question_back
    if "asked" not in case:
        assert found is None
        return
    assert found is not None
    assert found.text == case["asked"]
    assert {one.text: one.gives for one in found.choices} == case["choices"]
    assert [one.candidate.sql for one in found.choices] == list(case["queries"].values())
    assert sum(one.share for one in found.choices) == pytest.approx(1.0)


def test_the_spelling_of_a_value_is_told_as_it_was_asked(office: Workspace) -> None:
    state = state_of(office, CASES[2])
    column = next(ref for ref in office.schema.columns if ref.column == "status")
    matches = tuple(
        ValueMatch("open", column, value, 1.0, span=(15, 19)) for value in ("open", "Open")
    )
    found = asked(office, state.evolve(values=matches)).question_back
    assert found is not None
    assert found.phrase == "open"


def test_a_reading_with_a_fault_is_no_choice(office: Workspace) -> None:
    state = state_of(office, CASES[0])
    best, other = state.candidates
    faulty = replace(other, vetoes=(Veto("shown", "it shows what nobody asked for"),))
    assert asked(office, state.evolve(candidates=(best, faulty))).question_back is None


def test_shares_of_samples_weigh_where_nothing_is_calibrated(office: Workspace) -> None:
    state = state_of(office, CASES[0])
    counted = tuple(replace(c, confidence=None, share=c.confidence) for c in state.candidates)
    found = asked(office, state.evolve(candidates=counted, selected=counted[0])).question_back
    assert found is not None
    unknown = tuple(replace(c, share=None) for c in counted)
    state = state.evolve(candidates=unknown, selected=unknown[0])
    assert asked(office, state).question_back is None


@pytest.mark.parametrize("option", ["near", "least", "sure"])
def test_options_are_shares(option: str) -> None:
    with pytest.raises(ValueError, match=option):
        AskBack(**{option: 0.0})
