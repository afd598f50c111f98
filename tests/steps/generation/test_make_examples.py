"""Examples made for a question: what the model sees, which are used, and who shares them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sqlwright.llm.scripted import Script, ScriptedModel, When
from sqlwright.messages import Missing
from sqlwright.protocols import Context, Run, Workspace
from sqlwright.recipes.loading import parse_recipe
from sqlwright.running.combinators import named
from sqlwright.running.control_flow import samples
from sqlwright.schema import ColumnRef, SchemaView
from sqlwright.steps.generation.direct import DirectGeneration
from sqlwright.steps.generation.make_examples import MakeExamples
from sqlwright.types import Demonstration, Question, State, ValueMatch
from tests.golden import assert_prompt

FEATURE, COLUMN = "over this database.", "like those above"
MUNICH = ValueMatch("Munich", ColumnRef("customers", "city"), "München", 0.9, 2)
NAMES = ("Who are the customers?", "SELECT name FROM customers")
CITIES = ("Which cities are there?", "SELECT DISTINCT city FROM customers")
LINES = ("How many lines are there?", "SELECT count(*) FROM lines")


def reply(*pairs: tuple[str, str]) -> str:
    return json.dumps({"examples": [{"question": q, "sql": sql} for q, sql in pairs]})


def state_of(workspace: Workspace, *columns: str) -> State:
    """A question with a stored value found, and columns of customers linked."""
    view = SchemaView(workspace.schema)
    if columns:
        view = view.narrowed(ColumnRef("customers", name) for name in columns)
    return State(Question("Who lives in Munich?"), view, values=(MUNICH,))


def model_of(feature: Any, column: Any) -> ScriptedModel:
    rules = [When(COLUMN, column), When(FEATURE, feature), When("Who lives", "SELECT 1")]
    return ScriptedModel(Script(rules))


def made(
    workspace: Workspace, feature: Any, column: Any, **options: Any
) -> tuple[State, ScriptedModel]:
    model = model_of(feature, column)
    state = state_of(workspace, "id", "name", "city")
    return MakeExamples(**options)(state, Context(workspace, Run(seed=1), {"llm": model})), model


def pairs(state: State) -> list[tuple[str, str]]:
    return [(one.question, one.sql) for one in state.demonstrations]


def test_one_call_sees_the_whole_schema_and_one_the_linked_columns(
    shop_workspace: Workspace,
) -> None:
    _, model = made(shop_workspace, reply(NAMES), reply(CITIES), by_feature=5, by_column=4, like=2)
    (feature, column) = [request.messages for _, request in model.requests]
    assert_prompt("make_examples_by_feature", feature)
    assert_prompt("make_examples_by_column", column)
    told = str(feature[-1].text)
    assert "CREATE TABLE lines" in told
    assert "Munich" not in told  # it is the same for every question about the database
    assert "CREATE TABLE lines" not in str(column[-1].text)
    assert "'München'" in str(column[-1].text)
    assert "Munich" not in str(column[-1].text)  # the question isn't shown, nor are its words


def test_both_kinds_are_used_in_turn(shop_workspace: Workspace) -> None:
    state, _ = made(shop_workspace, reply(NAMES, LINES), reply(CITIES))
    assert pairs(state) == [NAMES, CITIES, LINES]


WRONG = ("How many clients are there?", "SELECT count(*) FROM clients")
NO_SQL = ("How many?", "count them all")
WRITES = ("Delete all", "DELETE FROM customers")
NOTHING = ("Who lives in Rome?", "SELECT name FROM customers WHERE city = 'Rome'")
AGAIN = ("Name all customers!", "SELECT  name\nFROM customers;")
REWORDED = ("who are  the customers?", "SELECT name, city FROM customers")


def test_examples_are_parsed_executed_and_used_once(shop_workspace: Workspace) -> None:
    written = reply(WRONG, NAMES, NO_SQL, WRITES, NOTHING, AGAIN, REWORDED)
    state, _ = made(shop_workspace, written, reply(CITIES, NAMES))
    assert pairs(state) == [CITIES, NAMES]
    assert state.warnings == ()


def test_the_papers_form_takes_them_as_they_are(shop_workspace: Workspace) -> None:
    state, _ = made(shop_workspace, reply(WRONG, NAMES), reply(NAMES), checked=False)
    assert pairs(state) == [WRONG, NAMES, NAMES]


@pytest.mark.parametrize(
    "says",
    [
        '[{"input": "Who are the customers?", "output": "SELECT name FROM customers"}]',
        '{"question": "Who are the customers?", "query": "SELECT name FROM customers"}',
        'Here:\n```json\n{"examples": [{"question": "Who are the customers?", '
        '"sql": "SELECT name FROM customers"}]}\n```',
        '{"examples": [{"question": "Who are the customers?", "sql": "SELECT name FROM customers"},'
        ' {"question": "Broken o',
    ],
)
def test_examples_are_read_in_every_form(says: str, shop_workspace: Workspace) -> None:
    state, _ = made(shop_workspace, says, "no", by_column=0)
    assert pairs(state) == [NAMES]


@pytest.mark.parametrize("bad", ["", "None.", '{"examples": []}', Missing("unavailable", "down")])
def test_a_call_that_fails_leaves_the_other_ones_examples(
    bad: Any, shop_workspace: Workspace
) -> None:
    state, _ = made(shop_workspace, bad, reply(CITIES))
    assert pairs(state) == [CITIES]
    state, _ = made(shop_workspace, bad, bad)
    assert state.demonstrations == ()
    assert "queries are written without" in state.warnings[0].text


@pytest.mark.parametrize(
    ("options", "asked"),
    [({"by_feature": 0}, [COLUMN]), ({"by_column": 0}, [FEATURE]), ({}, [FEATURE, COLUMN])],
)
def test_either_kind_can_be_left_out(
    options: dict[str, int], asked: list[str], shop_workspace: Workspace
) -> None:
    state, model = made(shop_workspace, reply(NAMES), reply(CITIES), **options)
    assert MakeExamples(**options).calls(state) - 1 == len(model.requests) == len(asked)
    for (_, request), words in zip(model.requests, asked, strict=True):
        assert words in str(request.messages[-1].text)


@pytest.mark.parametrize(("like", "told"), [(2, True), (0, False)])
def test_the_prompt_speaks_of_examples_only_where_there_are_some(
    like: int, told: bool, shop_workspace: Workspace
) -> None:
    model = ScriptedModel(Script(otherwise=reply(CITIES)))
    step = MakeExamples(by_feature=0, like=like)
    step(state_of(shop_workspace), Context(shop_workspace, Run(), {"llm": model}))
    ((_, request),) = model.requests
    prompt = "\n".join(str(message.text) for message in request.messages)
    assert ("the following ones" in prompt) is (COLUMN in prompt) is told
    assert "Write 37 examples" in prompt
    assert FEATURE in prompt


def test_all_samples_share_what_was_made_once(shop_workspace: Workspace) -> None:
    state, model = made(shop_workspace, reply(NAMES, LINES), reply(CITIES))
    step = named(DirectGeneration("generation/synthetic_examples", shots=2))
    samples(3, step)(state, Context(shop_workspace, Run(seed=1), {"llm": model}))
    steps = [name for name, _ in model.requests]
    assert steps == ["generation.make_examples"] * 2 + ["generation.direct"] * 3
    assert_prompt("generation_synthetic_examples", model.requests[2][1].messages)
    for _, request in model.requests[2:]:
        told = str(request.messages[-1].text)
        assert told.index(NAMES[1]) < told.index(CITIES[1]) < told.index("Who lives in Munich?")
        assert LINES[1] not in told


def test_without_examples_the_prompt_speaks_of_none(shop_workspace: Workspace) -> None:
    model = model_of("", "")
    step = DirectGeneration("generation/synthetic_examples")
    step(state_of(shop_workspace), Context(shop_workspace, Run(), {"llm": model}))
    told = "".join(str(message.text) for message in model.requests[0][1].messages)
    assert "ther questions" not in told


def test_worked_examples_made_for_the_question_go_with_a_prompt_of_that_name(
    shop_workspace: Workspace, tmp_path: Path
) -> None:
    path = tmp_path / "synthetic_examples.jinja"
    path.write_text(
        "{% for one in demonstrations %}{{ one.sql }}{% endfor %} {{ question }}", "utf-8"
    )
    model = model_of("", "")
    state = state_of(shop_workspace).evolve(demonstrations=(Demonstration(*NAMES),))
    DirectGeneration(str(path))(state, Context(shop_workspace, Run(), {"llm": model}))
    assert NAMES[1] in str(model.requests[0][1].messages[-1].text)


RECIPE = """
name: two-views
steps:
  - own_view:
      steps:
        - schema_linking.select_columns: {least: 0}
        - generation.make_examples
  - generation.direct: {prompt: generation/synthetic_examples}
  - selection.first_valid
"""


def test_what_is_linked_for_examples_is_linked_for_them_only(shop_workspace: Workspace) -> None:
    chosen = '{"reasoning": "", "tables": [{"table": "customers", "columns": ["name"]}]}'
    rules = [
        When("schema_linking.select_columns", chosen),
        When(COLUMN, reply(CITIES)),
        When(FEATURE, reply(NAMES)),
    ]
    model = ScriptedModel(Script(rules, otherwise="SELECT 1"))
    context = Context(shop_workspace, Run(), {"llm": model})
    state = parse_recipe(RECIPE).step(state_of(shop_workspace), context)
    seen = [str(request.messages[-1].text) for _, request in model.requests]
    assert ["CREATE TABLE lines" in told for told in seen] == [True, True, False, True]
    assert pairs(state) == [NAMES, CITIES]
    assert state.view == SchemaView(shop_workspace.schema)
