"""Embedded models in place of a language model that wrote no query: said, counted, forbidden."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sqlwright import api
from sqlwright.llm.scripted import Script, ScriptedModel, When
from sqlwright.local.models import EmbeddedModels
from sqlwright.presentation.answer import answer_to_dict
from sqlwright.running.trace import find_trace, read_trace
from sqlwright.types import Answer, Basis
from tests.scripted import ScriptedCritic, scripted_models

QUESTION = "How many customers live in Germany?"
COUNTED = "SELECT count(*) FROM customers WHERE country = 'Germany'"
NOTHING = "Here is the query:"
OTHERS = (
    "Which customers are from Denmark?",
    "What is the highest total of an order?",
    "What is the horsepower and blood type of each customer?",
)
RECIPES = ("chess-ir-ss-cg", "chess-ir-cg-ut", "chess-agents", "chase", "mag", "msc")
SMALL = ("samples.count=2", "selection.generate_tests.tests=1")

FAIR = ScriptedCritic(missing=())

Ask = Callable[..., Answer]


@pytest.fixture
def ask(database_files: dict[str, Path], tmp_path: Path) -> Ask:
    """Asks the shop by a recipe, a language model that says one thing, and the parser's queries."""

    def asked(
        recipe: str,
        said: str,
        *written: str,
        question: str = QUESTION,
        critic: ScriptedCritic = FAIR,
        **options: Any,
    ) -> Answer:
        model = ScriptedModel(Script([When("selection.generate_tests", '["It counts."]')], said))
        known = SMALL if recipe in {"chess-ir-cg-ut", "chess-agents"} else ()
        with api.open(
            database_files["shop"],
            recipe=recipe,
            overrides=known,
            models={**scripted_models(*written, critic=critic), "llm": model},
            home=tmp_path / "home",
            **options,
        ) as session:
            return session.ask(question)

    return asked


@pytest.mark.parametrize("recipe", RECIPES)
def test_an_answer_says_that_the_embedded_models_stood_in(
    ask: Ask, recipe: str, tmp_path: Path
) -> None:
    answer = ask(recipe, NOTHING, COUNTED)
    assert (answer.status, answer.sql, answer.answered_by) == ("answered", COUNTED, "stand_in")
    (told,) = [note for note in answer.warnings if note.kind == "stand_in"]
    assert "embedded" in told.text
    assert answer.warnings[0] == told  # what led to it stands behind it
    assert answer_to_dict(answer)["answered_by"] == "stand_in"
    assert "embedded" in str(answer)
    trace = read_trace(find_trace(tmp_path / "home" / "traces", answer.trace_id))
    assert trace.answer["answered_by"] == "stand_in"
    assert trace.start["stand_in"] is True


@pytest.mark.parametrize("recipe", RECIPES)
def test_the_critic_chooses_among_the_queries_of_a_stand_in(ask: Ask, recipe: str) -> None:
    every = "SELECT count(*) FROM customers"
    critic = ScriptedCritic({every: 0.2, COUNTED: 0.9}, missing=())
    answer = ask(recipe, NOTHING, every, COUNTED, critic=critic)
    assert (answer.sql, answer.answered_by, answer.confidence) == (COUNTED, "stand_in", 0.9)
    assert answer.basis == Basis("calibrated")


@pytest.mark.parametrize("recipe", RECIPES)
def test_no_model_is_asked_to_judge_the_queries_of_a_stand_in(ask: Ask, recipe: str) -> None:
    answer = ask(recipe, NOTHING, COUNTED, "SELECT count(*) FROM customers")
    assert not {"selection.generate_tests", "selection.evaluate_tests"} & set(answer.usage_by_step)


@pytest.mark.parametrize("recipe", RECIPES)
def test_without_a_stand_in_the_question_fails_and_says_why(
    ask: Ask, recipe: str, tmp_path: Path
) -> None:
    answer = ask(recipe, NOTHING, COUNTED, stand_in=False)
    assert (answer.status, answer.sql, answer.answered_by) == ("failed", None, None)
    assert "language model" in answer.message
    assert "stand in" in answer.message
    trace = read_trace(find_trace(tmp_path / "home" / "traces", answer.trace_id))
    assert trace.start["stand_in"] is False


@pytest.mark.parametrize("allowed", [True, False])
def test_what_a_language_model_wrote_is_its_own(ask: Ask, allowed: bool) -> None:
    answer = ask("chess-ir-ss-cg", f"```sql\n{COUNTED}\n```", COUNTED, stand_in=allowed)
    assert (answer.status, answer.answered_by) == ("answered", "language_model")
    assert not [note for note in answer.warnings if note.kind == "stand_in"]


def test_embedded_models_of_a_recipe_that_uses_no_others_stand_in_for_nobody(ask: Ask) -> None:
    answer = ask("local-unscored", "", COUNTED, stand_in=False)
    assert (answer.status, answer.answered_by) == ("answered", "embedded")
    assert answer.sql == COUNTED


def test_nothing_stands_in_for_a_language_that_the_parser_cannot_read(ask: Ask) -> None:
    answer = ask(
        "chess-ir-ss-cg", NOTHING, COUNTED, question="Wie viele Kunden wohnen in Deutschland?"
    )
    assert (answer.status, answer.sql) == ("failed", None)
    assert "German" in answer.message


def test_a_query_of_your_own_was_answered_by_nobody(database_files: dict[str, Path]) -> None:
    with api.open(database_files["shop"], record=False) as session:
        answer = session.run_sql(COUNTED)
    assert answer.answered_by is None
    assert json.loads(answer.to_json())["answered_by"] is None


@pytest.mark.parametrize("recipe", ["chess-ir-ss-cg", "msc"])
def test_what_stands_in_is_the_recipe_local(
    recipe: str, database_files: dict[str, Path], tmp_path: Path
) -> None:
    """Its number was fitted to answers of that recipe: what the language model's steps found and
    narrowed is none of it."""
    wanted = json.dumps({"reasoning": "", "tables": ["orders"], "keywords": ["total"]})
    model = ScriptedModel(Script(otherwise=wanted))
    answers = []
    for name, more in (("local", {}), (recipe, {"llm": model})):
        with api.open(
            database_files["shop"], recipe=name, models={**EmbeddedModels(), **more}, home=tmp_path
        ) as session:
            answers.append([session.ask(question) for question in (QUESTION, *OTHERS)])
    for local, stood_in in zip(*answers, strict=True):
        assert (stood_in.sql, stood_in.status) == (local.sql, local.status)
        assert (stood_in.confidence, stood_in.interval) == (local.confidence, local.interval)
        assert stood_in.basis.kind == local.basis.kind
        assert stood_in.message == local.message
    assert {one.status for one in answers[1]} == {"answered", "refused"}
    assert "stand_in" in {one.answered_by for one in answers[1]}
