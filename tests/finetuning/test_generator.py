"""Examples for the model that writes queries."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlwright import api
from sqlwright.errors import ConfigError
from sqlwright.lab.finetuning.roles.distractors import (
    name_likeness,
    similar_tables,
    weighted_tables,
)
from sqlwright.llm.scripted import Script, ScriptedModel, When
from sqlwright.prompts.replies import sql_from
from sqlwright.schema import Column, Schema, Table
from tests.finetuning.built import CASES, QUESTIONS, data_set, made, plan_of

SCHEMA = Schema(
    "school",
    tuple(
        Table(name, tuple(map(Column, columns)))
        for name, columns in {
            "students": ("id", "name", "age"),
            "student_grades": ("id", "student_id", "grade"),
            "invoices": ("number", "total"),
            "rooms": ("room", "floor"),
            "teachers": ("id", "name", "subject"),
        }.items()
    ),
)
weights = st.lists(st.floats(0, 10), min_size=1, max_size=4).filter(lambda each: sum(each) > 0.01)


@given(weights, st.sets(st.sampled_from([t.name for t in SCHEMA.tables])), st.integers(0, 99))
def test_as_many_tables_are_added_as_a_weight_allows(
    weights: list[float], needed: set[str], seed: int
) -> None:
    added = weighted_tables(SCHEMA, needed, weights, random.Random(seed))
    assert added == weighted_tables(SCHEMA, needed, weights, random.Random(seed))
    assert needed.isdisjoint(added)
    assert len(set(added)) == len(added)
    left = len(SCHEMA.tables) - len(needed)
    assert len(added) == left or weights[len(added)] > 0
    assert len(added) < len(weights)


def test_similar_tables_are_the_likest_first() -> None:
    like = name_likeness(None)
    added = similar_tables(SCHEMA, {"students"}, (0, 0, 1), random.Random(1), like)
    assert set(added) == {"student_grades", "teachers"}


def test_a_weight_holds_in_the_long_run() -> None:
    draw = random.Random(7)
    counts = [len(weighted_tables(SCHEMA, {"rooms"}, (1, 3), draw)) for _ in range(2_000)]
    assert 0.72 < sum(counts) / len(counts) < 0.78


@pytest.mark.parametrize(("recipe", "block"), [("tuned", False), ("block", True)])
def test_the_reply_is_the_gold_query_in_the_prompts_form(
    recipe: str, block: bool, tmp_path: Path, database_files: dict[str, Path]
) -> None:
    asked = data_set(tmp_path / "data", {"shop": database_files["shop"]})
    _, examples = made(plan_of("generator", [asked], tmp_path / "set", recipe))
    assert len(examples) == 3
    for one, gold in zip(examples, QUESTIONS.values(), strict=True):
        assert sql_from(one.completion) == gold.rstrip(";")
        assert one.completion.startswith("```sql\n") is block
        assert one.facts["distractors"] == ("similar" if block else "weighted")


def test_injected_tables_are_in_the_prompt_and_seeded(
    tmp_path: Path, database_files: dict[str, Path]
) -> None:
    asked = data_set(tmp_path / "data", {"shop": database_files["shop"]})
    always: dict[str, Any] = {"options": {"weights": "0,0,1"}}
    made_of = {}
    for name, seed in (("one", 1), ("again", 1), ("other", 5)):
        plan = plan_of("generator", [asked], tmp_path / name, seed=seed, **always)
        made_of[name] = made(plan)[1]
    assert made_of["one"] == made_of["again"]
    added = [one.facts["injected_tables"] for one in made_of["one"]]
    assert added == ["orders, lines", "customers, lines", ""]  # there are but three tables
    for one in made_of["one"]:
        assert all(f"CREATE TABLE {t}" in one.messages[-1].text for t in TABLES)
    none = plan_of("generator", [asked], tmp_path / "none", options={"distractors": "none"})
    (first, *_) = made(none)[1]
    assert "CREATE TABLE customers" in first.messages[-1].text
    assert "CREATE TABLE lines" not in first.messages[-1].text


TABLES = ("customers", "orders", "lines")


def test_another_seed_draws_other_tables(tmp_path: Path, database_files: dict[str, Path]) -> None:
    asked = data_set(tmp_path / "data", {"shop": database_files["shop"]})
    drawn = set()
    for seed in range(6):
        plan = plan_of(
            "generator",
            [asked],
            tmp_path / str(seed),
            seed=seed,
            options={"weights": "0,1"},
            limit=1,
        )
        drawn.add(made(plan)[1][0].facts["injected_tables"])
    assert drawn == {"orders", "lines"}


def test_similar_columns_stand_beside_the_needed_ones(
    tmp_path: Path, database_files: dict[str, Path]
) -> None:
    asked = data_set(tmp_path / "data", {"shop": database_files["shop"]})
    shown = {}
    for kind in ("none", "similar"):
        options = {"distractors": kind, "weights": "0,1"}
        plan = plan_of("generator", [asked], tmp_path / kind, "block", options=options)
        shown[kind] = [int(one.facts["shown_columns"]) for one in made(plan)[1]]
    assert all(a < b for a, b in zip(shown["none"], shown["similar"], strict=True))


def test_a_prompt_is_the_one_that_a_session_sends(
    tmp_path: Path, database_files: dict[str, Path]
) -> None:
    asked = data_set(tmp_path / "data", {"shop": database_files["shop"]})
    plan = plan_of("generator", [asked], tmp_path / "set", options={"distractors": "none"})
    first = made(plan)[1][0]
    script = Script(
        [When("schema_linking.select_tables", '{"tables": ["customers"]}')],
        otherwise=first.completion,
    )
    model = ScriptedModel(script)
    with api.open(
        asked.examples[0].database,
        recipe=CASES / "tuned.yaml",
        models={"llm": model},
        home=tmp_path / "home",
        record=False,
    ) as session:
        answer = session.ask(asked.examples[0].question)
    sent = next(request for step, request in model.requests if step == first.step)
    assert [(m.role, str(m.text)) for m in sent.messages] == [
        (turn.role, turn.text) for turn in first.messages
    ]
    assert answer.sql == first.completion


@pytest.mark.parametrize("given_weights", ["0,0", "-1,2", "none"])
def test_weights_that_draw_nothing_are_refused(
    given_weights: str, tmp_path: Path, database_files: dict[str, Path]
) -> None:
    asked = data_set(tmp_path / "data", {"shop": database_files["shop"]})
    with pytest.raises(ConfigError, match="weights"):
        made(plan_of("generator", [asked], tmp_path / "set", options={"weights": given_weights}))
