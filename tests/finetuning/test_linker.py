"""Examples for the model that names tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sqlwright import api
from sqlwright.errors import ConfigError
from sqlwright.llm.scripted import Script, ScriptedModel
from tests.finetuning.built import CASES, QUESTIONS, data_set, made, plan_of

TABLES = {
    "Who lives in Germany?": ["customers"],
    "How many orders are open?": ["orders"],
    "Which customers ordered a lamp?": ["customers", "orders", "lines"],
}


def test_the_reply_names_the_gold_tables_as_they_are_stored(
    tmp_path: Path, database_files: dict[str, Path]
) -> None:
    asked = data_set(tmp_path / "data", {"shop": database_files["shop"]})
    folder, examples = made(plan_of("linker", [asked], tmp_path / "set"))
    told = {one.question_id: json.loads(one.completion)["tables"] for one in examples}
    assert told == {one.id: TABLES[one.question] for one in asked.examples}
    assert folder.about.skipped == {}


def test_rejected_replies_lack_a_needed_table_or_name_another(
    tmp_path: Path, database_files: dict[str, Path]
) -> None:
    asked = data_set(tmp_path / "data", {"shop": database_files["shop"]})
    _, examples = made(plan_of("linker", [asked], tmp_path / "set"))
    for one in examples:
        needed = set(json.loads(one.completion)["tables"])
        wrong = [set(json.loads(reply)["tables"]) for reply in one.rejected]
        assert wrong
        assert all(tables and needed - tables for tables in wrong)
        assert len(set(one.rejected)) == len(one.rejected)


def test_a_prompt_is_the_one_that_a_session_sends(
    tmp_path: Path, database_files: dict[str, Path]
) -> None:
    asked = data_set(tmp_path / "data", {"shop": database_files["shop"]})
    _, examples = made(plan_of("linker", [asked], tmp_path / "set"))
    model = ScriptedModel(Script(otherwise=examples[0].completion))
    with api.open(
        asked.examples[0].database,
        recipe=CASES / "tuned.yaml",
        models={"llm": model},
        home=tmp_path / "home",
        record=False,
    ) as session:
        session.ask(asked.examples[0].question)
    sent = next(request for step, request in model.requests if step == examples[0].step)
    assert [(m.role, str(m.text)) for m in sent.messages] == [
        (turn.role, turn.text) for turn in examples[0].messages
    ]


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT 1", "the gold query's tables can't be read"),
        ("SELECT nothing FROM nowhere", "the gold query fails"),
    ],
)
def test_a_question_without_an_example_has_a_reason(
    sql: str, reason: str, tmp_path: Path, database_files: dict[str, Path]
) -> None:
    questions = {**QUESTIONS, "What is there?": sql}
    asked = data_set(tmp_path / "data", {"shop": database_files["shop"]}, questions)
    folder, examples = made(plan_of("linker", [asked], tmp_path / "set"))
    assert folder.about.skipped == {reason: 1}
    assert len(examples) == 3


def test_options_are_checked(tmp_path: Path, database_files: dict[str, Path]) -> None:
    asked = data_set(tmp_path / "data", {"shop": database_files["shop"]})
    for options, named in [
        ({"wrongs": "1"}, "no option 'wrongs'"),
        ({"wrong": "many"}, "wrong"),
        ({"wrong": "-1"}, "negative"),
    ]:
        with pytest.raises(ConfigError, match=named):
            made(plan_of("linker", [asked], tmp_path / "set", options=options))
    _, examples = made(plan_of("linker", [asked], tmp_path / "set", options={"wrong": "0"}))
    assert not any(one.rejected for one in examples)
