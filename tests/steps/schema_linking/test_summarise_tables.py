"""Sentences on tables: what is asked, what is kept and for whom, what bad replies cost."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sqlwright.errors import Cancelled
from sqlwright.llm.scripted import Asked
from sqlwright.prepare import prepare
from sqlwright.prepare.storage.inventory import purge
from sqlwright.protocols import Run, Workspace
from sqlwright.schema import ColumnRef, Schema, SchemaView
from sqlwright.steps.schema_linking.summarise_tables import SummariseTables
from sqlwright.types import Question, State, ValueMatch
from tests.golden import assert_prompt
from tests.steps.schema_linking.offices import asking, made, opened

STEP = "schema_linking.summarise_tables"
SAID = {"offices": "Places of work.", "clerks": "People who work there.", "files": "Their cases."}


def reply(*tables: str) -> str:
    return json.dumps({"tables": [{"table": name, "summary": SAID[name]} for name in tables]})


ALL = reply("offices", "clerks", "files")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    workspace = opened(made(tmp_path_factory.mktemp("offices")))
    yield workspace
    workspace.database.close()


@pytest.fixture
def prepared(tmp_path: Path) -> Path:
    path = made(tmp_path)
    opened(path, prepared=True).database.close()
    return path


def state_of(workspace: Workspace, text: str = "Who works in Ulm?", **known: Any) -> State:
    return State(Question(text), SchemaView(workspace.schema), **known)


def sentences(state: State) -> dict[str, str]:
    return {summary.table: summary.text for summary in state.summaries}


def test_one_call_sums_up_all_tables_from_columns_and_frequent_values(workspace: Workspace) -> None:
    context, script = asking(workspace, ALL)
    found = ValueMatch("ulm", ColumnRef("offices", "town"), "Ulm", 1.0)
    state = SummariseTables()(state_of(workspace, values=(found,)), context)
    assert sentences(state) == SAID
    assert all(summary.from_values for summary in state.summaries)
    (asked,) = script.asked
    assert asked.step == STEP
    assert "Ulm?" not in asked.prompt  # the sentences are for every question
    assert "(like" not in asked.prompt
    assert "- town TEXT: one of 'Ulm', 'Hof'" in asked.prompt
    ((_, request),) = context.llm().requests  # type: ignore[attr-defined]
    assert_prompt("summarise_tables", request.messages)


def test_a_second_question_asks_nothing(workspace: Workspace) -> None:
    step = SummariseTables()
    context, script = asking(workspace, ALL)
    first = step(state_of(workspace), context)
    again = step(state_of(workspace, "Which files are open?"), context)
    assert again.summaries == first.summaries
    assert len(script.asked) == 1


def test_nor_does_another_process_where_the_database_is_prepared(prepared: Path) -> None:
    workspace = opened(prepared, prepared=True)
    context, _ = asking(workspace, ALL)
    first = SummariseTables()(state_of(workspace), context)
    workspace.database.close()
    code = (
        "from tests.steps.schema_linking.test_summarise_tables import *\n"
        "workspace = opened(Path(sys.argv[1]), prepared=True)\n"
        "context, script = asking(workspace)\n"
        "state = SummariseTables()(state_of(workspace, 'Another?'), context)\n"
        "print(json.dumps([sentences(state), len(script.asked)]))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, str(prepared)], capture_output=True, text=True, check=True
    )
    assert json.loads(ran.stdout) == [sentences(first), 0]
    (kept,) = (prepared.parent / "prepared").glob("summaries-*.json")
    assert kept.stat().st_mode & 0o777 == 0o600
    kept.write_text("{not json")
    workspace = opened(prepared, prepared=True)
    context, script = asking(workspace, ALL)
    assert sentences(SummariseTables()(state_of(workspace), context)) == SAID
    assert len(script.asked) == 1  # what is damaged is written anew
    workspace.database.close()
    assert purge(str(prepared), folder=prepared.parent / "prepared")
    assert not (prepared.parent / "prepared").exists()


def test_a_preparation_after_a_row_was_added_keeps_them(prepared: Path) -> None:
    workspace = opened(prepared, prepared=True)
    context, _ = asking(workspace, ALL)
    first = SummariseTables()(state_of(workspace), context)
    workspace.database.close()
    with sqlite3.connect(prepared) as connection:
        connection.execute("INSERT INTO offices (town) VALUES ('Bern')")
    connection.close()
    (kept,) = (prepared.parent / "prepared").glob("summaries-*.json")
    prepare(str(prepared), folder=prepared.parent / "prepared")
    assert kept.exists()
    assert sentences(first) == SAID


def test_a_table_that_changed_is_asked_about_alone_and_another_model_about_all(
    workspace: Workspace,
) -> None:
    step = SummariseTables()
    context, _ = asking(workspace, ALL)
    step(state_of(workspace), context)
    files = workspace.schema.tables[2]
    shorter = replace(files, columns=files.columns[:-1])
    schema = replace(workspace.schema, tables=(*workspace.schema.tables[:2], shorter))
    changed = State(Question("Which?"), SchemaView(schema))
    context, script = asking(workspace, reply("files"))
    assert sentences(step(changed, context)) == SAID
    (asked,) = script.asked
    assert "table files" in asked.prompt
    assert "table offices" not in asked.prompt
    context, script = asking(workspace, ALL, name="other/model")
    step(state_of(workspace), context)
    assert len(script.asked) == 1


def test_what_tells_of_values_is_not_read_where_values_may_not_be_shown(prepared: Path) -> None:
    workspace = opened(prepared, prepared=True)
    context, _ = asking(workspace, ALL, remote=True)
    assert SummariseTables()(state_of(workspace), context).summaries[0].from_values
    private = Run(privacy="schema-only")
    context, script = asking(workspace, ALL, remote=True, run=private)
    state = SummariseTables()(state_of(workspace), context)
    assert len(script.asked) == 1
    assert not any(summary.from_values for summary in state.summaries)
    # A model of this machine may be shown them; what it writes then counts as values.
    context, _ = asking(workspace, ALL, run=private)
    assert SummariseTables()(state_of(workspace), context).summaries[0].from_values
    workspace.database.close()


def test_tables_that_a_reply_leaves_out_are_asked_about_once_more(workspace: Workspace) -> None:
    context, script = asking(workspace, reply("offices"), reply("clerks"))
    state = SummariseTables()(state_of(workspace), context)
    assert sentences(state) == {name: SAID[name] for name in ("offices", "clerks")}
    assert len(script.asked) == 2
    assert "table offices" not in script.asked[1].prompt
    assert "1 of 3 have no sentence" in state.warnings[0].text


@pytest.mark.parametrize(
    "said",
    [
        json.dumps(SAID),
        json.dumps({"tables": SAID}),
        json.dumps([{"name": name.upper(), "summary": text} for name, text in SAID.items()]),
        f"Here it is:\n```json\n{json.dumps({'tables': [SAID]})}\n```",
    ],
)
def test_replies_of_other_forms_are_read(workspace: Workspace, said: str) -> None:
    context, _ = asking(workspace, said)
    assert sentences(SummariseTables()(state_of(workspace), context)) == SAID


def test_without_a_usable_reply_the_question_goes_on(workspace: Workspace) -> None:
    context, script = asking(workspace, "I would rather not.")
    start = state_of(workspace)
    state = SummariseTables()(start, context)
    assert state.summaries == ()
    assert "summing up tables" in state.warnings[0].text
    assert len(script.asked) == 2


def test_a_schema_too_large_for_a_prompt_goes_in_parts_of_whole_tables(
    workspace: Workspace,
) -> None:
    tables = [
        replace(table, name=f"{table.name}_{number}")
        for number in range(12)
        for table in workspace.schema.tables
    ]
    schema = Schema("many", tuple(tables))
    bare = replace(workspace, catalog=None, schema=schema)
    names = [table.name for table in tables]
    said = json.dumps({name: f"It is {name}." for name in names})
    context, script = asking(bare, said, tokens=5_000)
    state = SummariseTables()(State(Question("Which?"), SchemaView(schema)), context)
    assert [summary.table for summary in state.summaries] == names
    assert len(script.asked) > 1
    shown = [name for asked in script.asked for name in names if f"table {name}:" in asked.prompt]
    assert sorted(shown) == sorted(names)


def test_a_run_that_ended_waits_for_nobody(workspace: Workspace) -> None:
    step = SummariseTables()
    begun, go, ended = threading.Event(), threading.Event(), Run()

    def waits(asked: Asked) -> str:
        begun.set()
        go.wait(10)
        return ALL

    slow, script = asking(workspace, waits)
    first = threading.Thread(target=step, args=(state_of(workspace), slow))
    first.start()
    begun.wait(10)
    context, _ = asking(workspace, ALL, run=ended)
    ended.cancelled.set()
    with pytest.raises(Cancelled):
        step(state_of(workspace), context)
    go.set()
    first.join(10)
    assert len(script.asked) == 1


def test_a_small_schema_is_not_asked_about(shop_workspace: Workspace) -> None:
    context, script = asking(shop_workspace, ALL)
    start = State(Question("Who?"), SchemaView(shop_workspace.schema))
    assert SummariseTables()(start, context) == start
    assert SummariseTables().calls(start) == 0
    assert script.asked == []
