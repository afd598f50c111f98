"""Columns by what the question speaks of: the prompt, the view it leaves, and bad replies."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from sqlwright.messages import Missing
from sqlwright.prompts.demonstrations import database_script
from sqlwright.protocols import Run, Workspace
from sqlwright.schema import ColumnRef, Detail, Schema, SchemaView
from sqlwright.steps.schema_linking.entities import LIMIT, EntityColumns
from sqlwright.types import Question, State, TableSummary, ValueMatch
from tests.golden import assert_prompt
from tests.steps.schema_linking.offices import asking, made, opened

TOWN, NAME, PAY = (
    ColumnRef("offices", "town"),
    ColumnRef("clerks", "name"),
    ColumnRef("clerks", "pay"),
)
SUMMARIES = (
    TableSummary("offices", "Places of work."),
    TableSummary("clerks", "People who work there.", from_values=False),
)
QUESTION = Question("Who earns most in ulm?", "earns means pay")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    workspace = opened(made(tmp_path_factory.mktemp("offices")))
    yield workspace
    workspace.database.close()


def reply(**entities: list[str]) -> str:
    listed = [{"entity": name, "columns": columns} for name, columns in entities.items()]
    return json.dumps({"reasoning": "x", "entities": listed})


WHO = ["clerks.name", "clerks.clerk_id", "clerks.grade"]
EARNS = ["clerks.pay", "clerks.grade", "files.fee"]


def state_of(workspace: Workspace, **known: Any) -> State:
    return State(QUESTION, SchemaView(workspace.schema), **known)


def full(state: State) -> set[str]:
    return {str(ref) for ref in state.view.visible if state.view.detail(ref) is Detail.FULL}


def test_the_prompt_shows_schema_summaries_and_found_values(workspace: Workspace) -> None:
    context, script = asking(workspace, reply(who=WHO, earns=EARNS))
    found = ValueMatch("ulm", TOWN, "Ulm", 1.0)
    state = EntityColumns()(state_of(workspace, values=(found,), summaries=SUMMARIES), context)
    ((step, request),) = context.llm().requests  # type: ignore[attr-defined]
    assert step == "schema_linking.entities"
    prompt = str(request.messages[-1].text)
    assert "offices: Places of work.\nclerks: People who work there." in prompt
    assert "- town TEXT: one of 'Ulm' (like \"ulm\"), 'Hof'" in prompt
    assert "at least 3 columns" in script.asked[0].prompt
    hidden = str(request.messages[-1].text.without("value"))
    assert "Ulm" not in hidden
    assert "Places of work" not in hidden  # written by a model that saw values
    assert "People who work there." in hidden
    assert_prompt("entity_columns", request.messages)
    assert full(state) == {*WHO, *EARNS}


def test_what_is_named_is_shown_in_full_and_nothing_is_hidden(workspace: Workspace) -> None:
    context, _ = asking(workspace, reply(who=["CLERKS.Name", '"clerks"."pay"', "clerks.room"]))
    start = state_of(workspace)
    state = EntityColumns()(start, context)
    assert full(state) == {"clerks.name", "clerks.pay", "clerks.room"}
    assert set(state.view.visible) == set(workspace.schema.columns)
    assert [one.text for one in state.entities] == ["who"]
    assert {str(ref) for ref in state.entities[0].columns} == full(state)
    assert state.evolve(view=start.view, entities=()) == start


def test_what_was_hidden_before_stays_hidden(workspace: Workspace) -> None:
    shown = [ref for ref in workspace.schema.columns if ref.column != "remark"]
    start = State(QUESTION, SchemaView(workspace.schema).narrowed(shown))
    context, _ = asking(workspace, reply(who=[*WHO, "clerks.remark"]))
    state = EntityColumns()(start, context)
    assert set(state.view.visible) == set(shown)
    assert "clerks.remark" in state.warnings[0].text


def test_an_entity_with_fewer_columns_gets_those_nearest_to_its_words(
    workspace: Workspace,
) -> None:
    context, script = asking(workspace, reply(**{"the phone": ["files.fee"], "towns": []}))
    state = EntityColumns()(state_of(workspace), context)
    assert len(script.asked) == 1
    assert {"files.fee", "offices.phone", "offices.town"} <= full(state)
    assert len(full(state)) >= 3
    context, _ = asking(workspace, reply(**{"the phone": ["files.fee"]}))
    assert full(EntityColumns(least=1)(state_of(workspace), context)) == {"files.fee"}


def test_names_that_are_not_there_are_left_out_with_a_warning(workspace: Workspace) -> None:
    context, script = asking(workspace, reply(who=[*WHO, "clerks.wage", "nowhere.x"]))
    state = EntityColumns()(state_of(workspace), context)
    assert full(state) == set(WHO)
    assert "'clerks.wage', 'nowhere.x'" in state.warnings[0].text
    assert len(script.asked) == 1


@pytest.mark.parametrize(
    "said",
    [
        json.dumps({"who": WHO, "earns": EARNS}),
        json.dumps({"reasoning": "x", "entities": {"who": WHO, "earns": EARNS}}),
        json.dumps({"entities": [{"who": WHO}, {"earns": EARNS}]}),
        json.dumps([{"entity": "who", "columns": ", ".join([*WHO, *EARNS])}]),
        "First I look.\n```json\n" + reply(who=WHO, earns=EARNS) + "\n```",
        reply(who=[f"<{name}>" for name in [*WHO, *EARNS]]),
        json.dumps(
            {"entities": [{"entity": "who", "columns": [{"table": t, "column": c} for t, c in
             (name.split(".") for name in [*WHO, *EARNS])]}]}
        ),
    ],
)  # fmt: skip
def test_replies_of_other_forms_are_read(workspace: Workspace, said: str) -> None:
    context, script = asking(workspace, said)
    assert full(EntityColumns()(state_of(workspace), context)) == {*WHO, *EARNS}
    assert len(script.asked) == 1


def test_a_reply_of_no_use_is_asked_for_again(workspace: Workspace) -> None:
    for bad in ("I would rather not.", reply(who=["nowhere.x"]), reply(), '{"entities": 3}'):
        context, script = asking(workspace, bad, reply(who=WHO))
        assert full(EntityColumns()(state_of(workspace), context)) == set(WHO)
        assert len(script.asked) == 2


@pytest.mark.parametrize("said", ["nothing", Missing("unavailable", "down")])
def test_without_a_usable_reply_everything_stays_in_detail(workspace: Workspace, said: Any) -> None:
    context, _ = asking(workspace, said)
    start = state_of(workspace)
    state = EntityColumns()(start, context)
    assert state.view == start.view
    assert "linking columns left the schema as it was" in state.warnings[0].text


def test_a_small_schema_is_left_in_detail_without_a_call(shop_workspace: Workspace) -> None:
    context, script = asking(shop_workspace, reply(who=["customers.name"]))
    start = State(QUESTION, SchemaView(shop_workspace.schema))
    assert EntityColumns()(start, context) == start
    assert EntityColumns().calls(start) == 0
    assert script.asked == []
    state = EntityColumns(columns=5)(start, context)
    assert "customers.name" in full(state)
    assert EntityColumns(per_table=4.0).calls(start) == 2


def many(workspace: Workspace, count: int) -> Schema:
    tables = [
        replace(table, name=f"{table.name}_{number}")
        for number in range(count)
        for table in workspace.schema.tables
    ]
    return Schema("many", tuple(tables))


def test_a_schema_too_large_for_a_prompt_goes_in_parts(workspace: Workspace) -> None:
    schema = many(workspace, 12)
    bare = replace(workspace, catalog=None, schema=schema)
    named = ["clerks_0.pay", "clerks_5.pay", "files_11.fee"]

    def says(asked: Any) -> str:
        there = [name for name in named if f"table {name.partition('.')[0]}" in asked.prompt]
        return reply(earns=there)

    context, script = asking(bare, says, tokens=4_000)
    state = EntityColumns(least=1)(State(QUESTION, SchemaView(schema)), context)
    assert len(script.asked) > 1
    assert f"part 1 of {len(script.asked)}" in script.asked[0].prompt
    assert full(state) == set(named)
    assert len(list(state.view.visible)) == 360


def test_of_too_many_parts_those_nearest_to_the_question_are_asked_about(
    workspace: Workspace,
) -> None:
    schema = many(workspace, 40)
    bare = replace(workspace, catalog=None, schema=schema)
    question = Question("What do clerks_33 earn?")
    context, script = asking(bare, reply(earns=["clerks_33.pay"]), tokens=5_000)
    state = EntityColumns(least=1)(State(question, SchemaView(schema)), context)
    assert len(script.asked) == LIMIT
    assert "table clerks_33" in script.asked[0].prompt
    assert full(state) == {"clerks_33.pay"}
    assert any("of 1,200 columns" in note.text for note in state.warnings)


def test_the_example_names_what_its_database_holds(workspace: Workspace) -> None:
    context, _ = asking(workspace, reply(who=WHO))
    EntityColumns()(state_of(workspace), context)
    ((_, request),) = context.llm().requests  # type: ignore[attr-defined]
    text = str(request.messages[0].text)
    example = json.loads(
        next(line for line in text.splitlines() if line.startswith('{"reasoning": "ten'))
    )
    script = database_script("allotments")
    for entity in example["entities"]:
        assert len(entity["columns"]) >= 3
        for name in entity["columns"]:
            table, column = name.split(".")
            made_of = script.partition(f"CREATE TABLE {table} (")[2].partition(");")[0]
            assert f"\n    {column} " in made_of


def test_privacy_holds_for_what_is_shown(workspace: Workspace) -> None:
    run = Run(seed=3, privacy="schema-only")
    context, _ = asking(workspace, reply(who=WHO), remote=True, run=run)
    state = EntityColumns()(state_of(workspace, summaries=SUMMARIES), context)
    assert full(state) == set(WHO)
