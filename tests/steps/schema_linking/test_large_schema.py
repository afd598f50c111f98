"""The whole selector on the schema of 4,337 columns, from a question to two tables."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sqlwright.llm.scripted import Asked, Script, ScriptedModel
from sqlwright.local import models
from sqlwright.messages import Capabilities
from sqlwright.prepare import open_workspace
from sqlwright.protocols import Context, Run, Workspace
from sqlwright.schema import ColumnRef, SchemaView
from sqlwright.steps.schema_linking.filter_columns import FilterColumns
from sqlwright.steps.schema_linking.select_columns import SelectColumns
from sqlwright.steps.schema_linking.select_tables import SelectTables
from sqlwright.types import Question, State

pytestmark = pytest.mark.skipif("SQLWRIGHT_DATA" not in os.environ, reason="needs SQLWRIGHT_DATA")
SCRIPT = Path(__file__).parents[3] / "benchmarks" / "large_schema.py"


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    folder = tmp_path_factory.mktemp("large")
    command = [sys.executable, str(SCRIPT), os.environ["SQLWRIGHT_DATA"], str(folder)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    workspace = open_workspace(told.partition(": ")[0], folder=folder / "absent")
    yield workspace
    workspace.database.close()


@pytest.mark.parametrize("form", ["embedded", "batched"])
@pytest.mark.parametrize("context_tokens", [128_000, 8_000])
def test_a_question_finds_its_tables_among_hundreds(
    form: Any, context_tokens: int, large: Workspace
) -> None:
    assert large.schema.column_count >= 4_337
    assert len(large.schema.foreign_keys) > 400
    wanted = {"law_episode_Keyword": ["keyword"], "law_episode_Episode": ["season", "episode"]}

    def says(asked: Asked) -> str:
        assert len(asked.prompt) < 4 * context_tokens
        if asked.step.endswith("tables"):
            assert all(name in asked.prompt for name in wanted)
            return json.dumps({"reasoning": "x", "tables": list(wanted)})
        listed = [{"table": table, "columns": names} for table, names in wanted.items()]
        return json.dumps({"reasoning": "x", "tables": listed})

    model = ScriptedModel(
        Script(otherwise=says),
        capabilities=Capabilities(remote=False, context_tokens=context_tokens),
    )
    context = Context(large, Run(), {"llm": model, "linker": models.load("linker")})
    state = State(
        Question("How many keywords are there for season 9, episode 23 of law and order?"),
        SchemaView(large.schema),
    )
    for step in (FilterColumns(form=form), SelectTables(), SelectColumns(least=0)):
        state = step(state, context)
    shown = set(state.view.visible)
    assert {ColumnRef(table, name) for table, names in wanted.items() for name in names} <= shown
    assert {ref.table for ref in shown} == set(wanted)
    assert len(state.view.visible_schema().foreign_keys) == 1
    assert state.view.visible_schema().column_count <= 6
