"""With few calls each paper's recipe writes a query for the whole question, or says why there is
none."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from benchmarks.answering import Responder

from sqlwright import api
from sqlwright.llm.scripted import Asked, Script, ScriptedEndpoint
from sqlwright.messages import Capabilities
from sqlwright.types import Answer, State
from tests.llm.gates import gate
from tests.scripted import scripted_models

LINKING = ("schema_linking.entities.columns=0", "schema_linking.summarise_tables.columns=0")
"""No schema is so small that nothing is linked."""
RECIPES = {"chase": ("samples.count=2",), "mag": LINKING, "msc": (), "chess-ir-ss-cg": ()}


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database whose tables take several prompts."""
    path: Path = tmp_path_factory.mktemp("large") / "large.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        for table in range(40):
            columns = ", ".join(f"column_{table}_{number} TEXT" for number in range(15))
            connection.execute(f"CREATE TABLE part_{table} (id INTEGER PRIMARY KEY, {columns})")
        connection.commit()
    return path


def asked(path: Path, recipe: str, calls: int, home: Path, **options: Any) -> tuple[Answer, State]:
    """A question with so many calls, to an endpoint that makes no mistake."""
    script = Script(otherwise=Responder(faulty=0.0).scripted)
    endpoint = ScriptedEndpoint(script, capabilities=Capabilities(**options))
    with (
        gate(endpoint=endpoint) as (model, _),
        api.open(
            path,
            recipe=recipe,
            overrides=RECIPES[recipe],
            models={**scripted_models(), "llm": model},
            home=home,
            prepare=False,
            record=False,
            stand_in=False,
            budget=f"{calls} calls",
        ) as session,
    ):
        return session.run("Which customers from Germany live in München, and ordered?")


@pytest.mark.parametrize("calls", range(7))
@pytest.mark.parametrize("recipe", RECIPES)
def test_a_budget_of_few_calls_is_kept_and_leaves_one_for_the_query(
    recipe: str, calls: int, database_files: dict[str, Path], tmp_path: Path
) -> None:
    answer, state = asked(database_files["shop"], recipe, calls, tmp_path, n=True)
    assert answer.usage.calls <= calls
    assert (answer.status == "answered") is (calls > 0)
    assert all(one.goal == "" for one in state.candidates)
    if not calls:
        assert "budget" in " ".join(note.text for note in answer.warnings)
        assert answer.message.startswith("no language model wrote a query")


@pytest.mark.parametrize("calls", [2, 5, 9])
def test_summaries_of_a_large_schema_leave_a_call_and_those_paid_for_are_used(
    calls: int, large: Path, tmp_path: Path
) -> None:
    answer, state = asked(large, "mag", calls, tmp_path, context_tokens=8_192)
    assert (answer.status, answer.usage.calls <= calls) == ("answered", True)
    assert state.summaries


@pytest.mark.parametrize("calls", [2, 4, 5, 6])
def test_samples_leave_a_call_where_an_endpoint_gives_one_at_a_time(
    calls: int, database_files: dict[str, Path], tmp_path: Path
) -> None:
    answer, _ = asked(database_files["shop"], "msc", calls, tmp_path)
    assert (answer.status, answer.usage.calls <= calls) == ("answered", True)
    tables = answer.usage_by_step["schema_linking.select_tables"]
    assert tables.calls == min(5, calls - 1)


@pytest.mark.parametrize("calls", [3, 4, 5])
def test_refining_a_part_leaves_a_call_for_the_question(
    calls: int, database_files: dict[str, Path], tmp_path: Path
) -> None:
    def says(one: Asked) -> str:
        if "You take questions" in one.prompt:
            return json.dumps(
                {"targets": "", "conditions": ["a", "b"], "sub_questions": ["A", "B"]}
            )
        return (
            f"SELECT wrong{one.seed} FROM customers"
            if "\nQuestion: A\n" in one.prompt
            else "SELECT 1"
        )

    with (
        gate(Script(otherwise=says)) as (model, _),
        api.open(
            database_files["shop"],
            recipe="mag",
            models={**scripted_models(), "llm": model},
            home=tmp_path,
            prepare=False,
            record=False,
            stand_in=False,
            budget=f"{calls} calls",
        ) as session,
    ):
        answer = session.ask("Which customers?")
    assert (answer.sql, answer.usage.calls) == ("SELECT 1", calls)
