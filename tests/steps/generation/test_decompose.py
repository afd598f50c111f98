"""A question taken apart: what the model sees, which sub-questions are left, and the last one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sqlwright.llm.scripted import Script, ScriptedModel
from sqlwright.messages import Missing
from sqlwright.protocols import Context, Run, Workspace
from sqlwright.schema import SchemaView
from sqlwright.steps.generation.decompose import Decompose
from sqlwright.types import Question, State, SubQuestion
from tests.golden import assert_prompt

QUESTION = "Which customers from Germany ordered after 2024-01-01?"
FIRST = "Which customers are from Germany?"


def taken_apart(
    workspace: Workspace, says: Any, question: str = QUESTION, **options: Any
) -> tuple[State, ScriptedModel]:
    model = ScriptedModel(Script(otherwise=says))
    state = State(
        Question(question, "ordered after refers to placed"), SchemaView(workspace.schema)
    )
    step = Decompose(**options)
    return step(state, Context(workspace, Run(seed=1), {"llm": model})), model


def reply(
    *texts: str, conditions: tuple[str, ...] | None = None, targets: Any = "customers"
) -> str:
    named = tuple(f"condition {n}" for n, _ in enumerate(texts, 1))
    chosen = named if conditions is None else conditions
    return json.dumps({"targets": "customers", "conditions": chosen, "sub_questions": texts})


def texts(state: State) -> list[str]:
    return [one.text for one in state.sub_questions]


def test_the_model_sees_question_and_evidence_and_nothing_of_the_schema(
    shop_workspace: Workspace,
) -> None:
    _, model = taken_apart(shop_workspace, reply(FIRST, QUESTION))
    ((step, request),) = model.requests
    assert step == "generation.decompose"
    assert_prompt("decompose", request.messages)
    told = "".join(str(message.text) for message in request.messages)
    assert "ordered after refers to placed" in told
    assert not any(
        origin in {"schema", "value"}
        for message in request.messages
        for origin in {span.origin for span in message.text.spans}
    )


def test_each_sub_question_adds_one_condition_and_the_last_is_the_question(
    shop_workspace: Workspace,
) -> None:
    says = reply(
        FIRST, "Which ones ordered?", conditions=("from Germany", "ordered after 2024-01-01")
    )
    state, _ = taken_apart(shop_workspace, says)
    assert state.sub_questions == (
        SubQuestion(FIRST, "from Germany"),
        SubQuestion(QUESTION, "ordered after 2024-01-01"),
    )
    assert state.warnings == ()


@pytest.mark.parametrize(
    "says",
    [
        reply(QUESTION, conditions=()),
        reply("Which customers are there?", QUESTION, conditions=()),
        '{"targets": "customers", "conditions": null, "sub_questions": "Which?"}',
    ],
)
def test_without_a_condition_the_question_is_the_only_one(
    says: str, shop_workspace: Workspace
) -> None:
    state, _ = taken_apart(shop_workspace, says)
    assert texts(state) == [QUESTION]
    assert state.warnings == ()


@pytest.mark.parametrize(
    "text",
    [
        "Who paid: cash -- or by card?",
        "## 1. Which rows have #7 in their 'note'?",
        'Which titles are called "A: B", 2 – 3?',
        "1. Who lives at 5: 10?",
        "哪些客户来自德国：柏林？",
        "Какие клиенты — из Германии?",
        "أي العملاء من ألمانيا؟",
    ],
)
def test_a_sub_question_survives_as_it_is_written(text: str, shop_workspace: Workspace) -> None:
    state, _ = taken_apart(shop_workspace, reply(text, QUESTION))
    assert texts(state) == [text, QUESTION]


@pytest.mark.parametrize(
    "question", ["Who paid: cash -- or by card? #1", 'Which "A: B" are\nthere?']
)
def test_the_question_survives_as_it_was_asked(question: str, shop_workspace: Workspace) -> None:
    state, _ = taken_apart(shop_workspace, reply(FIRST, "cut: off"), question)
    assert texts(state) == [FIRST, question]


def test_what_repeats_another_one_or_the_question_is_left_out(shop_workspace: Workspace) -> None:
    says = reply(FIRST, f" {FIRST.upper()}", "", f"{QUESTION}  ", QUESTION)
    state, _ = taken_apart(shop_workspace, says)
    assert texts(state) == [FIRST, QUESTION]


def test_however_many_conditions_there_are_none_is_left_out(shop_workspace: Workspace) -> None:
    many = [f"Which customers fulfil {n} conditions?" for n in range(1, 15)]
    state, _ = taken_apart(shop_workspace, reply(*many, "all of them"))
    assert texts(state) == [*many, QUESTION]


@pytest.mark.parametrize(
    "says",
    [
        '```json\n{"targets": ["n", "c"], "conditions": ["a"], "sub_questions": ["F", "Q"]}```',
        "{'Targets': 'x', 'conditions': ['a', 'b'], 'sub_questions': ['F', 'Q']}",
        'So:\n{"conditions": ["a"], "sub_questions": [{"question": "F"}, {"question": "Q"}]} Yes.',
        '{"sub_questions": ["F", "Q"]}',
        "First <think>no</think>\n{targets: 'x', conditions: ['a'], sub_questions: ['F', 'Q',]}",
    ],
)
def test_a_reply_is_read_in_every_form(says: str, shop_workspace: Workspace) -> None:
    state, _ = taken_apart(shop_workspace, says)
    assert texts(state) == ["F", QUESTION]


@pytest.mark.parametrize(
    "bad",
    ["", "I would rather not.", '{"sub_questions": []}', '{"sub_questions": ["a',
     Missing("unavailable", "down")],
)  # fmt: skip
def test_without_a_usable_reply_the_question_is_the_only_one_and_it_is_said(
    bad: Any, shop_workspace: Workspace
) -> None:
    state, model = taken_apart(shop_workspace, bad)
    assert texts(state) == [QUESTION]
    (note,) = state.warnings
    assert note.kind == "model"
    assert "was not taken apart" in note.text
    assert len(model.requests) == (1 if isinstance(bad, Missing) else 2)


def test_a_reply_of_no_use_is_asked_for_again(shop_workspace: Workspace) -> None:
    state, model = taken_apart(shop_workspace, ["no", reply(FIRST, QUESTION)])
    assert texts(state) == [FIRST, QUESTION]
    assert len(model.requests) == 2


def test_no_question_is_not_asked_about(shop_workspace: Workspace) -> None:
    state, model = taken_apart(shop_workspace, reply(FIRST), "  ")
    assert (state.sub_questions, model.requests) == ((), [])
    assert Decompose().calls(state) == 0
