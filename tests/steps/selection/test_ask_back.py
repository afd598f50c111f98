"""The question back: what is asked where two queries are likely, and where nothing is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from sqlwright.candidates import execute
from sqlwright.prepare import open_workspace
from sqlwright.protocols import Context, Run, Workspace
from sqlwright.schema import Schema, SchemaView
from sqlwright.steps.selection.ask_back import AskBack
from sqlwright.types import (
    Account,
    AskedPhrase,
    Candidate,
    Question,
    QuestionBack,
    State,
    ValueMatch,
    Veto,
)
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


def with_account(candidate: Candidate, *phrases: AskedPhrase) -> Candidate:
    return replace(candidate, account=Account(phrases))


def test_a_reading_that_leaves_a_phrase_out_is_no_choice(office: Workspace) -> None:
    state = state_of(office, CASES[0])
    best, other = state.candidates
    phone = AskedPhrase("word", "phone", (9, 14), "contacts.phone")
    left = AskedPhrase("word", "phone", (9, 14), doubt=0.25)

    def back(ours: AskedPhrase, theirs: AskedPhrase) -> QuestionBack | None:
        ran = (with_account(best, ours), with_account(other, theirs))
        return asked(office, state.evolve(candidates=ran, selected=ran[0])).question_back

    assert back(phone, left) is None
    assert back(left, phone) is not None
    assert back(left, left) is not None
    assert back(phone, replace(left, doubt=0.05)) is not None


def test_calibrated_probabilities_decide_and_stay_out_of_the_state(office: Workspace) -> None:
    def halved(state: State, _: Schema) -> State:
        ran = tuple(replace(c, confidence=(c.confidence or 0.0) / 2) for c in state.candidates)
        return state.evolve(candidates=ran, selected=ran[0], confidence=ran[0].confidence)

    sure = next(case for case in CASES if case.get("why") == "sure enough")
    state = state_of(office, sure)
    after = AskBack()(state, Context(office, Run(), {}, halved))
    assert after.question_back is not None
    assert [one.candidate.confidence for one in after.question_back.choices] == [0.45, 0.4]
    assert (after.candidates, after.selected) == (state.candidates, state.selected)


def test_a_fitted_answer_leaves_the_rest_to_other_samples(office: Workspace) -> None:
    def fitted(sure: float) -> Callable[[State, Schema], State]:
        return lambda state, _: state.evolve(confidence=sure)

    state = state_of(office, CASES[0])
    best, other = (replace(c, confidence=None, share=c.confidence) for c in state.candidates)
    state = state.evolve(candidates=(best, other), selected=best)
    context = Context(office, Run(), {}, fitted(0.4))
    found = AskBack()(state, context).question_back  # shares of 0.4 and 0.32
    assert found is not None
    assert [one.share for one in found.choices] == pytest.approx([0.4 / 0.72, 0.32 / 0.72])
    assert AskBack()(state, replace(context, calibrated=fitted(0.9))).question_back is None


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
