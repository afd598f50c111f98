"""MSc-SQL as a whole: who is asked what, how often, and what becomes of a bad endpoint."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from benchmarks.answering import Responder

from sqlwright import api
from sqlwright.errors import ConfigError
from sqlwright.llm.scripted import Asked, Script, ScriptedModel
from sqlwright.recipes.ablation_lists import find_ablation
from sqlwright.types import Answer, State
from tests.recipes.asking import ask_a_hundred
from tests.scripted import scripted_models

QUESTION = "Which customers are from Germany?"
RIGHT = "SELECT name FROM customers WHERE country = 'Germany'"
WRONG = "SELECT city FROM customers WHERE country = 'Germany'"
TABLES, WRITER, CRITIC = (
    "schema_linking.select_tables",
    "generation.direct",
    "selection.multi_sample",
)
MODELS = ("llm", "second", "third")


@dataclass
class Ran:
    """What became of a question."""

    answer: Answer
    state: State
    requests: dict[str, list[tuple[str, Asked]]] = field(default_factory=dict)
    """By step: the model's name and what it was asked."""

    def prompts(self, step: str) -> list[str]:
        return [asked.prompt for _, asked in self.requests.get(step, ())]

    def count(self, step: str) -> int:
        return len(self.requests.get(step, ()))


Ask = Callable[..., Ran]


@pytest.fixture
def ask(database_files: dict[str, Path], tmp_path: Path) -> Ask:
    """A question through the recipe with three models. The Responder says what `says` doesn't."""

    def asked(
        says: Callable[[str, Asked], Any], *overrides: str, question: str = QUESTION, **options: Any
    ) -> Ran:
        responder, ran = Responder(faulty=0.0), dict[str, list[tuple[str, Asked]]]()

        def reply(name: str, one: Asked) -> Any:
            ran.setdefault(one.step, []).append((name, one))
            said = says(name, one)
            return responder.scripted(one) if said is None else said

        def model(name: str) -> ScriptedModel:
            return ScriptedModel(Script(otherwise=lambda one: reply(name, one)))

        with api.open(
            database_files["shop"],
            recipe="msc",
            overrides=overrides,
            models=scripted_models(RIGHT, **{name: model(name) for name in MODELS}),
            home=tmp_path / "home",
            prepare=False,
            record=False,
            **options,
        ) as session:
            answer, state = session.run(question)
        return Ran(answer, state, ran)

    return asked


def naming(*tables: str) -> str:
    return json.dumps({"reasoning": "", "tables": tables})


def writing(query: Callable[[str, Asked], str]) -> Callable[[str, Asked], Any]:
    """Replies of models that name two tables and write these queries."""

    def says(name: str, asked: Asked) -> Any:
        if asked.step == TABLES:
            return naming("orders") if asked.sample else naming("customers")
        return query(name, asked) if asked.step == WRITER else None

    return says


def varied(name: str, asked: Asked) -> Any:
    """Models that don't agree, and a critic that names the second query."""
    if asked.step == CRITIC:
        return json.dumps({"reasoning": "", "correct_sql": 2})
    return writing(lambda name, one: RIGHT if one.seed % 2 else WRONG)(name, asked)


def test_five_samples_name_tables_and_any_of_them_is_enough(ask: Ask) -> None:
    ran = ask(writing(lambda name, asked: RIGHT))
    assert ran.count(TABLES) == 5
    assert {asked.temperature for _, asked in ran.requests[TABLES]} == {1.0}
    assert "Germany" not in ran.prompts(TABLES)[0].replace(QUESTION, "")
    for prompt in ran.prompts(WRITER):
        assert "CREATE TABLE customers" in prompt
        assert "CREATE TABLE orders" in prompt
        assert "CREATE TABLE lines" not in prompt


def test_each_column_shows_the_values_nearest_to_the_question(ask: Ask) -> None:
    shown = []
    for overrides in ((), ("retrieval.nearest_values.enabled=false",)):
        ran = ask(
            writing(lambda name, asked: RIGHT),
            "retrieval.nearest_values.per_column=1",
            *overrides,
            question="Who is called Chen Li?",
        )
        shown.append("e.g. 'Chen Li'\n" in ran.prompts(WRITER)[0])
        assert bool(ran.state.examples) is shown[-1]
    assert shown == [True, False]


def test_one_model_gives_three_candidates_with_seeds_of_their_own(ask: Ask) -> None:
    ran = ask(writing(lambda name, asked: RIGHT))
    asked = [one for _, one in ran.requests[WRITER]]
    assert {name for name, _ in ran.requests[WRITER]} == {"llm"}
    assert len({one.seed for one in asked}) == len(asked) == 3
    assert len({one.prompt for one in asked}) == 1
    assert [one.sample for one in ran.state.candidates] == [1, 11, 21]
    assert ran.answer.sql == RIGHT
    assert ran.answer.basis.agreeing == 3
    assert ran.count(CRITIC) == 0


def test_three_models_write_one_candidate_each_and_the_critic_sees_them_all(ask: Ask) -> None:
    queries = dict(zip(MODELS, (WRONG, RIGHT, "SELECT id FROM customers"), strict=True))

    def says(name: str, asked: Asked) -> Any:
        if asked.step == CRITIC:
            places = [asked.prompt.index(query) for query in queries.values()]
            number = sorted(places).index(places[1]) + 1
            return json.dumps({"reasoning": "", "correct_sql": number})
        return writing(lambda name, _: queries[name])(name, asked)

    ran = ask(says, *find_ablation("msc-families").overrides)
    assert sorted((name, asked.temperature) for name, asked in ran.requests[WRITER]) == [
        ("llm", 0), ("second", 0), ("third", 0)
    ]  # fmt: skip
    assert [one.sql for one in ran.state.candidates] == list(queries.values())
    assert ran.count(CRITIC) == 1
    assert ran.answer.sql == RIGHT


def test_a_model_that_is_not_configured_is_named_with_what_to_do(
    database_files: dict[str, Path], tmp_path: Path
) -> None:
    overrides = find_ablation("msc-families").overrides
    with (
        pytest.raises(ConfigError, match="second") as caught,
        api.open(
            database_files["shop"], recipe="msc", overrides=overrides, model="ollama/small",
            home=tmp_path, prepare=False, record=False,
        ) as session,
    ):  # fmt: skip
        session.ask(QUESTION)
    assert "models.second" in caught.value.hint
    with (
        pytest.raises(ConfigError, match="none was named") as caught,
        api.open(
            database_files["shop"], recipe="msc", home=tmp_path, prepare=False, record=False
        ) as session,
    ):
        session.ask(QUESTION)
    assert "-m provider/model" in caught.value.hint


def test_the_embedded_parser_writes_beside_the_models(ask: Ask) -> None:
    overrides = find_ablation("msc-with-parser").overrides
    ran = ask(writing(lambda name, asked: WRONG), *overrides)
    assert Counter(one.source for one in ran.state.candidates) == {
        WRITER: 3, "generation.embedded": 1
    }  # fmt: skip
    assert all("CREATE TABLE" in prompt for prompt in ran.prompts(WRITER))


@pytest.mark.parametrize(
    ("name", "written", "asked"),
    [
        ("msc", 3, {CRITIC: 1}),
        ("msc-single", 1, {}),
        ("msc-single-unlinked", 1, {TABLES: 0}),
        ("msc-pair", 2, {CRITIC: 1}),
        ("msc-without-tables", 3, {TABLES: 0, CRITIC: 1}),
        ("msc-without-samples", 3, {TABLES: 1, CRITIC: 1}),
        ("msc-five-cool", 5, {CRITIC: 1}),
        ("msc-five-warm", 5, {CRITIC: 1}),
        ("msc-five-hot", 5, {CRITIC: 1}),
        ("msc-majority", 3, {}),
        ("msc-independent", 3, {"selection.independent": 2}),
        ("msc-independent-embedded", 3, {}),
        ("msc-pairs", 3, {CRITIC: 1}),
        ("msc-number", 3, {CRITIC: 1}),
        ("msc-window", 3, {CRITIC: 1}),
        ("msc-bracket", 3, {CRITIC: 1}),
        ("msc-by-tournament", 3, {"selection.pairwise": 2}),
    ],
)
def test_an_ablation_asks_what_it_says(
    name: str, written: int, asked: dict[str, int], ask: Ask
) -> None:
    turns = iter(range(9))

    def says(model: str, one: Asked) -> Any:
        if one.step == WRITER:
            return WRONG if next(turns) == 0 else RIGHT
        return varied(model, one) if one.step == TABLES else None

    ran = ask(says, *find_ablation(name).overrides)
    wanted = {TABLES: 5, **asked, WRITER: written}
    assert {step: ran.count(step) for step in ran.requests} == {
        step: count for step, count in wanted.items() if count
    }
    assert ran.answer.status == "answered"


@pytest.mark.parametrize(
    ("name", "examples"),
    [
        ("msc", "'München'"),
        ("msc-frequent-values", "one of 'München', 'Copenhagen'"),
        ("msc-random-values", "'München'"),
        ("msc-cut-values", "'München'"),
        ("msc-without-values", ""),
    ],
)
def test_an_ablation_shows_other_values(name: str, examples: str, ask: Ask) -> None:
    (*_, prompt) = ask(varied, *find_ablation(name).overrides).prompts(WRITER)
    assert ("München" in prompt) == bool(examples)
    assert examples in prompt


def test_no_question_of_a_hundred_is_lost_where_a_fifth_of_the_replies_is_bad(
    database_files: dict[str, Path], tmp_path: Path
) -> None:
    answers, spoiled = ask_a_hundred(database_files["shop"], tmp_path, "msc", RIGHT, faulty=0.0)
    assert [answer.question for answer in answers if answer.status != "answered"] == []
    assert spoiled > 100
