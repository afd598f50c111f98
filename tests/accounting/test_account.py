"""The account of a query: each phrase of the question and what answers it, or nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from sqlwright.local.left_out.account import GRAVE, account
from sqlwright.local.left_out.said import Said
from sqlwright.prepare import open_workspace
from sqlwright.protocols import Context, Run, Workspace
from sqlwright.schema import SchemaView
from sqlwright.sql.calculations import calculations
from sqlwright.sql.reading import read_facts
from sqlwright.steps.retrieval.values import ValueRetrieval
from sqlwright.types import Account, Question, State

CASES: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parents[1] / "cases" / "accounting" / "cases.yaml").read_text("utf-8")
)


@pytest.fixture(scope="module")
def desk(
    database_files: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Workspace]:
    absent = tmp_path_factory.mktemp("prepared") / "absent"
    workspace = open_workspace(str(database_files["desk"]), folder=absent)
    yield workspace
    workspace.database.close()


def account_of(case: dict[str, Any], workspace: Workspace) -> Account:
    """The account of a case's query."""
    question = Question(case["question"], case.get("evidence", ""))
    state = State(question, SchemaView(workspace.schema))
    state = ValueRetrieval()(state, Context(workspace, Run()))
    facts = read_facts(case["sql"], workspace.schema)
    assert facts is not None
    said = Said(facts, workspace.schema, calculations(case["sql"]).functions)
    return account(question, workspace.schema, state.values, said)


@pytest.mark.parametrize("case", CASES, ids=[f"{c['question']} {c['sql'][:40]}" for c in CASES])
def test_phrases_have_their_answers(desk: Workspace, case: dict[str, Any]) -> None:
    found = account_of(case, desk)
    answers = {phrase.text: phrase.answer for phrase in found.phrases}
    assert {text: answers.get(text) for text in case.get("answers", {})} == case.get("answers", {})
    assert [phrase.text for phrase in found.unanswered] == case.get("nothing", [])
    assert all(case["question"][slice(*one.span)] == one.text for one in found.phrases)
    if "value" in case:
        assert [str(one.value.column) for one in found.unanswered if one.value] == [case["value"]]
    if "columns" in case:
        assert [str(ref) for ref in found.unanswered[0].columns] == case["columns"]


def test_nothing_weighs_against_a_query_that_answers_all(desk: Workspace) -> None:
    assert account_of(CASES[0], desk).doubt == 0.0


def test_several_phrases_weigh_more_than_one(desk: Workspace) -> None:
    one, several = account_of(CASES[1], desk), account_of(CASES[3], desk)
    assert GRAVE <= one.doubt < several.doubt <= 1.0
