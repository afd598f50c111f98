"""The words that are searched for: as a language model names them, and as the question has them."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from sqlwright.errors import BudgetSpent, Cancelled
from sqlwright.llm.scripted import Script, ScriptedModel
from sqlwright.messages import Missing
from sqlwright.prompts.sampling import Sampling
from sqlwright.protocols import Context, Run
from sqlwright.recipes.loading import parse_recipe
from sqlwright.running.combinators import leaves
from sqlwright.schema import Schema, SchemaView
from sqlwright.steps.retrieval.extract_keywords import ExtractKeywords
from sqlwright.steps.retrieval.question_words import MOST, QuestionWords, question_words
from sqlwright.types import Question, State

CASES = Path(__file__).parents[2] / "cases" / "keywords"
ASKED = Question(
    "How many customers in München ordered a Lamp?", "ordered refers to status = 'open'"
)


def state(question: Question = ASKED) -> State:
    return State(question, SchemaView(Schema("x", ())))


def extracted(
    says: Any, step: ExtractKeywords | None = None, question: Question = ASKED
) -> tuple[State, Script]:
    script = Script(otherwise=says)
    workspace: Any = SimpleNamespace(catalog=None)
    context = Context(workspace, Run(seed=3), {"llm": ScriptedModel(script)})
    return (step or ExtractKeywords())(state(question), context), script


@pytest.mark.parametrize(
    "reply",
    [
        '{"keywords": ["customers", "München", "customers"]}',
        '```json\n["customers", "München"]\n```',
        "['customers', 'München']",
        "The keywords are:\n- customers\n- München",
    ],
)
def test_keywords_of_any_reply_each_once(reply: str) -> None:
    found, script = extracted(reply)
    assert found.keywords == ("customers", "München")
    assert not found.warnings
    assert len(script.asked) == 1


def test_the_prompt_has_three_examples_and_ends_with_the_question() -> None:
    _, script = extracted("[]")
    prompt = script.asked[0].prompt
    assert f"{prompt}\n" == (CASES / "prompt.txt").read_text(encoding="utf-8")
    assert prompt.count('{"keywords": [') == 4  # the form, then three examples
    assert prompt.index("status = 'open'") < prompt.index("customers in München")
    assert prompt.endswith("ordered a Lamp?")
    assert script.asked[0].temperature == 0.2


@pytest.mark.parametrize("says", ["I can't.", "[]", Missing("unavailable", "down")])
def test_without_a_usable_reply_the_questions_own_words_are_taken(says: Any) -> None:
    found, _ = extracted(says)
    assert found.keywords == question_words(ASKED)
    assert "the question's own words were taken" in found.warnings[0].text


def test_a_spent_budget_and_a_cancelled_run_pass_through() -> None:
    with pytest.raises(BudgetSpent):
        extracted(Missing("budget", "spent"))
    workspace: Any = SimpleNamespace(catalog=None)
    run = Run()
    run.cancelled.set()
    model = ScriptedModel(Script(otherwise=Missing("cancelled", "cancelled")))
    with pytest.raises(Cancelled):
        ExtractKeywords()(state(), Context(workspace, run, {"llm": model}))


def test_the_keywords_of_all_samples() -> None:
    step = ExtractKeywords(sampling=Sampling(n=2))
    found, _ = extracted(lambda asked: json.dumps(["a", f"b{asked.sample}", "c"]), step)
    assert found.keywords == ("a", "b0", "c", "b1")


def test_nothing_is_asked_without_a_question() -> None:
    found, script = extracted("[]", question=Question(" "))
    assert found.keywords == ()
    assert not script.asked
    assert ExtractKeywords().calls(state(Question(""))) == 0
    assert ExtractKeywords().calls(state()) == 2


def test_options_come_from_a_recipe() -> None:
    recipe = parse_recipe(
        "name: x\nsteps:\n  - retrieval.extract_keywords: {sampling: {temperature: 0}}\n"
        "  - generation.direct\n  - selection.first_valid\n"
    )
    steps = list(leaves(recipe.step))
    assert steps[:2] == [ExtractKeywords(sampling=Sampling(temperature=0)), QuestionWords()]


@pytest.mark.parametrize(
    "case",
    yaml.safe_load((CASES / "questions.yaml").read_text(encoding="utf-8")),
    ids=lambda case: case["question"][:40],
)
def test_words_of_a_question(case: dict[str, Any]) -> None:
    words = question_words(Question(case["question"], case.get("evidence", "")))
    assert set(case["finds"]) <= set(words)
    assert words[: len(case.get("first", ()))] == tuple(case.get("first", ()))
    assert not set(case.get("not", ())) & set(words)
    assert len({word.casefold() for word in words}) == len(words)


@given(text=st.text(max_size=200), evidence=st.text(max_size=40))
def test_words_of_anything(text: str, evidence: str) -> None:
    words = question_words(Question(text, evidence))
    assert len(words) <= MOST
    assert all(word.strip() for word in words)


def test_the_step_without_a_model() -> None:
    workspace: Any = SimpleNamespace(catalog=None)
    found = QuestionWords()(state(), Context(workspace, Run()))
    assert found.keywords == question_words(ASKED)
