"""The recipes of tuned models: who is asked what, and what to do for a model that isn't there."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from math import log
from pathlib import Path
from typing import Any

import pytest
from benchmarks.answering import Responder

from sqlwright import api
from sqlwright.errors import ConfigError
from sqlwright.llm.options import LlmOptions, ModelOptions
from sqlwright.llm.scripted import Asked, Script, ScriptedModel
from sqlwright.messages import Reply, Request, TokenLogprob
from sqlwright.recipes.loading import load_recipe
from sqlwright.types import Answer, State
from tests.scripted import scripted_models

QUESTION = "Which customers are from Germany?"
RIGHT = "SELECT name FROM customers WHERE country = 'Germany'"
WRONG = "SELECT city FROM customers WHERE country = 'Germany'"
TABLES = "schema_linking.select_tables"
WRITER = "generation.direct"
CRITIC = "selection.multi_sample"
PAIRS = "selection.pairwise"
TUNED = {
    "msc-tuned": [
        "tuned-linker",
        "tuned-generator",
        "tuned-generator-2",
        "tuned-generator-3",
        "tuned-critic",
    ],
    "chase-tuned": ["tuned-selector"],
    "chess-tuned": ["tuned-generator"],
}
ONE_GENERATOR = ("samples[2].enabled=false", "samples[3].enabled=false")
SAMPLED = (
    "generation.direct.sampling.model=tuned-generator",
    "generation.direct.sampling.temperature=0.5",
)


@dataclass
class Ran:
    """What became of a question."""

    answer: Answer
    state: State
    requests: dict[str, list[tuple[str, Request]]] = field(default_factory=dict)
    """By step: the model's name and what it was asked."""

    def asked(self, step: str) -> Counter[str]:
        return Counter(name for name, _ in self.requests.get(step, ()))


Ask = Callable[..., Ran]


@pytest.fixture
def ask(database_files: dict[str, Path], tmp_path: Path) -> Ask:
    """A question through a recipe with a model of its own for each name."""

    def asked(recipe: str, says: Callable[[str, Asked], Any], *overrides: str) -> Ran:
        responder, ran = Responder(faulty=0.0), dict[str, list[tuple[str, Request]]]()

        def model(name: str) -> ScriptedModel:
            def reply(one: Asked) -> Any:
                said = says(name, one)
                return responder.scripted(one) if said is None else said

            return ScriptedModel(Script(otherwise=reply))

        models = {name or "llm": model(name) for name in load_recipe(recipe, overrides).asks}
        with api.open(
            database_files["shop"],
            recipe=recipe,
            overrides=overrides,
            models={**scripted_models(RIGHT), **models},
            home=tmp_path / "home",
            prepare=False,
            record=False,
        ) as session:
            answer, state = session.run(QUESTION)
        for name, each in models.items():
            for step, request in each.requests:
                ran.setdefault(step, []).append((name, request))
        return Ran(answer, state, ran)

    return asked


def likely(**tokens: float) -> Reply:
    """A reply of one token, the likeliest of these."""
    ranked = sorted(tokens.items(), key=lambda pair: -pair[1])
    told = tuple((token.strip("_"), log(share)) for token, share in ranked)
    return Reply(told[0][0], logprobs=(TokenLogprob(*told[0], told),))


def disagreeing(name: str, asked: Asked) -> Any:
    """Generators that disagree, and a critic that holds the right query for the likelier one."""
    if asked.step == TABLES:
        return json.dumps({"tables": ["orders"] if asked.sample else ["customers"]})
    if asked.step == WRITER:
        return RIGHT if name == "tuned-generator-2" else WRONG
    if asked.step == CRITIC:
        right, wrong = ("_1", "_2") if asked.prompt.index(RIGHT) < asked.prompt.index(WRONG) else (
            "_2", "_1"
        )  # fmt: skip
        return likely(**{right: 0.8, wrong: 0.2})
    return None


@pytest.mark.parametrize("recipe", TUNED)
def test_the_models_are_named_for_the_project_file(recipe: str) -> None:
    assert [name for name in load_recipe(recipe).asks if name] == TUNED[recipe]


def test_each_role_is_asked_of_its_own_model(ask: Ask) -> None:
    ran = ask("msc-tuned", disagreeing)
    assert {step: dict(ran.asked(step)) for step in ran.requests} == {
        TABLES: {"tuned-linker": 1},
        WRITER: {"tuned-generator": 1, "tuned-generator-2": 1, "tuned-generator-3": 1},
        CRITIC: {"tuned-critic": 1},
    }
    ((_, linking),) = ran.requests[TABLES]
    assert (linking.n, linking.temperature) == (5, 1.0)
    assert {request.temperature for _, request in ran.requests[WRITER]} == {0}
    assert len({str(request.messages) for _, request in ran.requests[WRITER]}) == 1
    assert "CREATE TABLE orders" in str(ran.requests[WRITER][0][1].messages[-1].text)


def test_the_critic_is_scored_by_what_is_likely_and_may_overrule_the_most(ask: Ask) -> None:
    ran = ask("msc-tuned", disagreeing)
    ((_, judging),) = ran.requests[CRITIC]
    assert judging.logprobs
    assert judging.max_tokens == 8
    assert ran.answer.sql == RIGHT  # one generator of three wrote it


@pytest.mark.parametrize(
    ("overrides", "written"),
    [(ONE_GENERATOR, {"tuned-generator": 1}), (SAMPLED, {"tuned-generator": 3})],
)
def test_one_generator_is_enough(
    ask: Ask, overrides: tuple[str, ...], written: dict[str, int]
) -> None:
    assert [n for n in load_recipe("msc-tuned", overrides).asks if "generator" in n] == [
        "tuned-generator"
    ]
    ran = ask("msc-tuned", disagreeing, *overrides)
    assert ran.asked(WRITER) == written
    assert not ran.asked(CRITIC)


def test_only_the_choice_of_chase_is_asked_of_the_selector(ask: Ask) -> None:
    def says(name: str, asked: Asked) -> Any:
        if asked.step == PAIRS:
            first = asked.prompt.index(RIGHT) < asked.prompt.index(WRONG)
            return likely(A=0.9, B=0.1) if first else likely(B=0.9, A=0.1)
        return (RIGHT if asked.seed % 2 else WRONG) if asked.step == WRITER else None

    ran = ask("chase-tuned", says, "samples.count=2")
    assert ran.asked(PAIRS) == {"tuned-selector": 2}
    assert {name for step in ran.requests if step != PAIRS for name in ran.asked(step)} == {"llm"}
    assert all(request.logprobs for _, request in ran.requests[PAIRS])
    assert ran.answer.sql == RIGHT


def test_only_the_writing_of_chess_is_asked_of_the_generator(ask: Ask) -> None:
    ran = ask("chess-tuned", lambda name, asked: RIGHT if asked.step == WRITER else None)
    assert ran.asked(WRITER) == {"tuned-generator": 1}
    others = {name for step in ran.requests if step != WRITER for name in ran.asked(step)}
    assert others == {"llm"}
    assert ran.answer.sql == RIGHT


@pytest.mark.parametrize("recipe", TUNED)
@pytest.mark.parametrize("entries", [{}, {"other": ModelOptions("ollama/small")}])
def test_a_model_that_is_not_configured_is_told_before_anything_is_asked(
    recipe: str, entries: dict[str, ModelOptions], database_files: dict[str, Path], tmp_path: Path
) -> None:
    with pytest.raises(ConfigError) as caught:
        api.open(
            database_files["shop"],
            recipe=recipe,
            llm=LlmOptions("ollama/small", models=entries),
            home=tmp_path,
            prepare=False,
            record=False,
            environ={},
        )
    missing = TUNED[recipe][0]
    assert f"the recipe {recipe} asks the model {missing}" in str(caught.value)
    assert f'[models.{missing}] with model = "provider/model"' in caught.value.hint


@pytest.mark.parametrize("recipe", TUNED)
def test_one_model_may_have_all_roles(
    recipe: str, database_files: dict[str, Path], tmp_path: Path
) -> None:
    entry = ModelOptions("ollama/small")
    with api.open(
        database_files["shop"],
        recipe=recipe,
        llm=LlmOptions("ollama/small", models=dict.fromkeys(TUNED[recipe], entry)),
        home=tmp_path,
        prepare=False,
        record=False,
        environ={},
    ) as session:
        assert session.recipe.name == recipe
