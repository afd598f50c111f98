"""Recipes end to end with small language models of real weights, served on this machine.

What such a model writes is wrong in every way that replies can be. No test asks whether an answer
is right, or how long it takes: every question has one, or a failure that says what the model did.
The packages of the extras `test-llm` and `test-llm-larger` bring weights and server; without them
these tests are skipped. SQLWRIGHT_TEST_LLM names how many of the thirty demo questions are asked.
"""

from __future__ import annotations

import json
import os
import re
import threading
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from benchmarks.small_models import MODELS, joined, served

import sqlwright
from sqlwright.demo.business import demo_questions, write_business
from sqlwright.events import Event, ModelCalled, StepStarted
from sqlwright.llm.options import LlmOptions, ModelOptions
from sqlwright.messages import Reply
from sqlwright.recipes.loading import load_recipe
from sqlwright.recipes.registry import RECIPES
from sqlwright.types import Answer

SECONDS = 120.0
"""Of a question; what isn't done by then ends with what is at hand, and says so."""
SMALLER, LARGER = MODELS
QUESTIONS = {SMALLER: int(os.environ.get("SQLWRIGHT_TEST_LLM", "30")), LARGER: 6}
ASKING = [name for name in RECIPES if load_recipe(name).asks]
SAYS = re.compile(r"model|quer|column|table|time limit|syntax|budget|repl", re.IGNORECASE)
"""Words of a failure that says what the model did, or what became of its query."""

pytestmark = [pytest.mark.llm, pytest.mark.timeout(30 * (SECONDS + 60))]


@dataclass(frozen=True)
class Small:
    name: str
    url: str

    def told(self, path: str) -> Any:
        with urllib.request.urlopen(self.url.removesuffix("/v1") + path, timeout=SECONDS) as answer:
            return json.load(answer)

    def open(self, recipe: str, folder: Path, **options: Any) -> sqlwright.Session:
        """A session by this model, whatever models the recipe names."""
        named = [name for name in load_recipe(recipe).asks if name]
        entries = {name: ModelOptions("openai-compatible/small", self.url) for name in named}
        return sqlwright.open(
            folder / "shop.sqlite",
            recipe=recipe,
            base_url=self.url,
            llm=LlmOptions("openai-compatible/small", cache=False, models=entries),
            home=folder / "home",
            seconds=SECONDS,
            stand_in=False,
            **options,
        )


@pytest.fixture(scope="module", params=[SMALLER, LARGER])
def small(request: pytest.FixtureRequest) -> Iterator[Small]:
    model = MODELS[request.param]
    if missing := model.missing():
        extra = "test-llm" if model.name == SMALLER else "test-llm-larger"
        pytest.skip(f"needs the extra {extra}: {', '.join(missing[:3])} isn't installed")
    with served(joined(model)) as url:
        yield Small(model.name, url)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("small")
    write_business(made / "shop.sqlite")
    return made


def is_told(answer: Answer) -> bool:
    """A query, or why there is none."""
    if answer.status == "answered":
        return bool(answer.sql)
    return SAYS.search(answer.message) is not None


@pytest.mark.parametrize("recipe", ASKING)
def test_every_question_ends_and_every_failure_has_words(
    small: Small, folder: Path, recipe: str
) -> None:
    asked = [question.text for question in demo_questions()[: QUESTIONS[small.name]]]
    with small.open(recipe, folder) as session:
        answers = [session.ask(question) for question in asked]
    assert [answer.question for answer in answers] == asked
    assert not [(a.status, a.message, a.sql) for a in answers if not is_told(a)]
    assert recipe == "auto" or all(answer.usage.calls for answer in answers)
    assert all(answer.answered_by != "embedded" for answer in answers if recipe != "auto")


def test_a_server_with_one_slot_is_asked_by_openais_name(small: Small, folder: Path) -> None:
    calls: list[ModelCalled] = []

    def watch(event: Event) -> None:
        if isinstance(event, ModelCalled):
            calls.append(event)

    question = demo_questions()[0].text
    with sqlwright.open(
        folder / "shop.sqlite",
        recipe="msc",
        base_url=small.url,
        llm=LlmOptions("openai/small", cache=False),
        home=folder / "home",
        environ={},
        stand_in=False,
    ) as session:
        answer = session.ask(question, on_event=watch)
    assert is_told(answer)
    assert all(isinstance(reply, Reply) for call in calls for reply in call.replies)


def test_a_server_ends_with_whoever_asked_it(small: Small, folder: Path) -> None:
    cancelled = threading.Event()

    def stop(event: Event) -> None:
        if isinstance(event, StepStarted) and event.step == "generation.direct":
            threading.Timer(1.0, cancelled.set).start()

    with small.open("baseline", folder) as session:
        answer = session.ask(demo_questions()[-1].text, on_event=stop, cancelled=cancelled)
        while any(slot["is_processing"] for slot in small.told("/slots")):
            time.sleep(0.2)  # a batch of a prompt is read to its end
    assert answer.status == "failed"
    assert "cancelled" in answer.message or "stopped" in answer.message
