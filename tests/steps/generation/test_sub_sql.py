"""Queries for sub-questions: what the model sees, what they build on, and what bad replies cost."""

from __future__ import annotations

from typing import Any

import pytest

from sqlwright.llm.scripted import Script, ScriptedModel
from sqlwright.messages import Missing
from sqlwright.protocols import Context, Run, Workspace
from sqlwright.running.combinators import named
from sqlwright.running.sequences import SubQuestions
from sqlwright.schema import ColumnRef, SchemaView
from sqlwright.steps.generation.sub_sql import ATTEMPTS, SubSql
from sqlwright.steps.repair.execute import ExecuteCandidates
from sqlwright.types import Candidate, Question, State, SubQuestion, ValueMatch
from tests.golden import assert_prompt

PARTS = ("Who lives in Munich?", "Who lives in Munich and ordered?", "Who lives in Munich and …?")
QUESTION = PARTS[-1]
MUNICH = ValueMatch("Munich", ColumnRef("customers", "city"), "München", 0.9, 2)
FIRST = "SELECT name FROM customers WHERE city = 'München'"
SECOND = f"{FIRST} AND id IN (SELECT customer_id FROM orders)"
THIRD = f"{SECOND} AND name > 'A'"
WRONG = "SELECT shoe_size FROM customers"


def state_of(workspace: Workspace, number: int = 0, *queries: Candidate) -> State:
    question = Question(QUESTION, "Munich is written München")
    state = State(question, SchemaView(workspace.schema), values=(MUNICH,))
    parts = tuple(map(SubQuestion, PARTS))
    return state.evolve(sub_questions=parts, sub_question=number, candidates=queries)


def asked(
    workspace: Workspace, state: State, says: Any, **options: Any
) -> tuple[State, ScriptedModel]:
    model = ScriptedModel(Script(otherwise=says))
    return SubSql(**options)(state, Context(workspace, Run(seed=1), {"llm": model})), model


def prompts(model: ScriptedModel) -> list[str]:
    return ["\n\n".join(str(m.text) for m in one.messages) for _, one in model.requests]


def test_the_first_sub_question_is_asked_from_scratch(shop_workspace: Workspace) -> None:
    reply = f"Targets: names.\n\n```sql\n{FIRST}\n```"
    state, model = asked(shop_workspace, state_of(shop_workspace, 1), reply)
    assert_prompt("sub_sql_first", model.requests[0][1].messages)
    (candidate,) = state.candidates
    assert (candidate.sql, candidate.goal, candidate.plan) == (FIRST, PARTS[0], "Targets: names.")
    assert candidate.values == (MUNICH,)
    assert candidate.by_model
    assert f"Question: {PARTS[0]}" in prompts(model)[0]
    assert QUESTION not in prompts(model)[0]


def test_a_sub_question_is_shown_the_values_that_it_speaks_of(shop_workspace: Workspace) -> None:
    status = ColumnRef("orders", "status")
    values = (MUNICH, ValueMatch("lost", status, "open", 0.9))  # of a later condition
    shown = []
    for number in (1, 3):
        state = state_of(shop_workspace, number).evolve(values=values)
        question = Question("Who lives in Munich and lost an order?")
        parts = (SubQuestion(PARTS[0]), SubQuestion(PARTS[1]), SubQuestion(question.text))
        state = state.evolve(question=question, sub_questions=parts)
        _, model = asked(shop_workspace, state, FIRST, style="soft")
        told = prompts(model)[0]
        shown.append(("'München' (like" in told, "'open' (like" in told))
    assert shown == [(True, False), (True, True)]


def test_the_next_one_is_built_on_the_query_for_the_one_before(shop_workspace: Workspace) -> None:
    before = Candidate(FIRST, "test", goal=PARTS[0], by_model=True)
    state, model = asked(shop_workspace, state_of(shop_workspace, 2, before), SECOND)
    assert_prompt("sub_sql_next", model.requests[0][1].messages)
    assert [(one.sql, one.goal) for one in state.candidates] == [
        (FIRST, PARTS[0]),
        (SECOND, PARTS[1]),
    ]
    (prompt,) = prompts(model)
    assert (
        f"Question: {PARTS[1]}\n\nAnswered already: {PARTS[0]}\nBy this query:\n{FIRST}" in prompt
    )


def test_each_sub_question_is_built_on_the_one_before_up_to_the_question(
    shop_workspace: Workspace,
) -> None:
    model = ScriptedModel(Script(otherwise=[FIRST, SECOND, THIRD]))
    body = SubQuestions((named(SubSql()), named(ExecuteCandidates())))
    context = Context(shop_workspace, Run(seed=1), {"llm": model})
    state = body(state_of(shop_workspace), context)
    shown = prompts(model)
    assert "Answered already" not in shown[0].rpartition("Database schema:")[2]
    assert f"Answered already: {PARTS[0]}\nBy this query:\n{FIRST}\n" in shown[1]
    assert f"Answered already: {PARTS[1]}\nBy this query:\n{SECOND}\n" in shown[2]
    assert f"Question: {QUESTION}\n" in shown[2]
    assert [(one.sql, one.goal) for one in state.candidates] == [(THIRD, "")]
    assert len({request.seed for _, request in model.requests}) == 3


def test_a_query_that_fails_is_not_built_on(shop_workspace: Workspace) -> None:
    model = ScriptedModel(Script(otherwise=[FIRST, WRONG, THIRD]))
    body = SubQuestions((named(SubSql()), named(ExecuteCandidates())))
    body(state_of(shop_workspace), Context(shop_workspace, Run(seed=1), {"llm": model}))
    assert f"Answered already: {PARTS[0]}\nBy this query:\n{FIRST}\n" in prompts(model)[2]


@pytest.mark.parametrize(
    "bad", ["My query:", "CANNOT: nothing is stored.", Missing("unavailable", "down")]
)
def test_a_sub_question_without_a_query_is_passed_over(bad: Any, shop_workspace: Workspace) -> None:
    second = "Who lives in Munich and ordered?"

    def says(one: Any) -> Any:
        return bad if f"Question: {second}" in one.prompt.rpartition("schema:")[2] else THIRD

    model = ScriptedModel(Script(otherwise=says))
    body = SubQuestions((named(SubSql()),))
    state = body(state_of(shop_workspace), Context(shop_workspace, Run(seed=1), {"llm": model}))
    assert [one.goal for one in state.candidates] == [""]
    assert [note.kind for note in state.warnings] == ["model"]
    assert "sub-question 2" in state.warnings[0].text
    assert f"Answered already: {PARTS[0]}" in prompts(model)[-1]


def test_the_question_itself_is_asked_again_from_scratch(shop_workspace: Workspace) -> None:
    before = Candidate(SECOND, "test", goal=PARTS[1], by_model=True)
    down = Missing("unavailable", "down")
    state, model = asked(shop_workspace, state_of(shop_workspace, 3, before), [down, down, THIRD])
    assert [one.sql for one in state.candidates] == [SECOND, THIRD]
    shown = [f"Answered already: {PARTS[1]}" in prompt for prompt in prompts(model)]
    assert shown == [True, False, False]
    assert len({request.seed for _, request in model.requests}) == 3
    state, model = asked(shop_workspace, state_of(shop_workspace, 3, before), down)
    assert (len(model.requests), [one.sql for one in state.candidates]) == (ATTEMPTS, [SECOND])
    assert [note.kind for note in state.warnings] == ["left_out"]


def test_without_sub_questions_the_question_is_asked_from_scratch(
    shop_workspace: Workspace,
) -> None:
    bare = state_of(shop_workspace).evolve(sub_questions=())
    state, model = asked(shop_workspace, bare, THIRD)
    assert [(one.sql, one.goal) for one in state.candidates] == [(THIRD, "")]
    assert "Answered already" not in prompts(model)[0]


@pytest.mark.parametrize(
    ("number", "options", "shown"),
    [(1, {}, 3), (1, {"shots": 1}, 1), (2, {}, 2), (2, {"next_shots": 0}, 0)],
)
def test_worked_examples_of_each_prompt(
    number: int, options: dict[str, int], shown: int, shop_workspace: Workspace
) -> None:
    before = Candidate(FIRST, "test", goal=PARTS[0], by_model=True)
    _, model = asked(shop_workspace, state_of(shop_workspace, number, before), SECOND, **options)
    assert prompts(model)[0].count("=== Example") == shown


def test_options_are_bounded() -> None:
    for option in ({"shots": -1}, {"examples": -1}):
        with pytest.raises(ValueError, match=next(iter(option))):
            SubSql(**option)


def test_no_question_is_not_asked_about(shop_workspace: Workspace) -> None:
    state = State(Question(" "), SchemaView(shop_workspace.schema))
    after, model = asked(shop_workspace, state, FIRST)
    assert (after, model.requests, SubSql().calls(state)) == (state, [], 0)
