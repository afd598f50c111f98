"""With few calls each paper's recipe writes a query for the whole question, or says why there is
none."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.answering import Responder

from sqlwright import api
from sqlwright.llm.scripted import Script
from tests.llm.gates import gate
from tests.scripted import scripted_models

LINKING = ("schema_linking.entities.columns=0", "schema_linking.summarise_tables.columns=0")
"""No schema is so small that nothing is linked."""
RECIPES = {"chase": (), "mag": LINKING, "msc": (), "chess-ir-ss-cg": ()}


@pytest.mark.parametrize("calls", range(7))
@pytest.mark.parametrize("recipe", RECIPES)
def test_a_budget_of_few_calls_is_kept_and_leaves_one_for_the_query(
    recipe: str, calls: int, database_files: dict[str, Path], tmp_path: Path
) -> None:
    with (
        gate(Script(otherwise=Responder(faulty=0.0).scripted)) as (model, _),
        api.open(
            database_files["shop"],
            recipe=recipe,
            overrides=RECIPES[recipe],
            models={**scripted_models(), "llm": model},
            home=tmp_path / "home",
            prepare=False,
            record=False,
            stand_in=False,
            budget=f"{calls} calls",
        ) as session,
    ):
        answer, state = session.run("Which customers from Germany live in München, and ordered?")
    assert answer.usage.calls <= calls
    assert (answer.status == "answered") is (calls > 0)
    assert all(one.goal == "" for one in state.candidates)
    if not calls:
        assert "budget" in " ".join(note.text for note in answer.warnings)
        assert answer.message.startswith("no language model wrote a query")
