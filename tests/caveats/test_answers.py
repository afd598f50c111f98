"""Answers by recipes: a language model's query is told of in the first line, an embedded model's is
put right, and no answer that the data decided is shown as sure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from benchmarks.answering import Responder

from sqlwright import api
from sqlwright.llm.scripted import Asked, Script, ScriptedModel
from sqlwright.presentation.answer import answer_to_text
from sqlwright.types import CAVEATS
from tests.caveats.engines import CASES, ENGINES, build
from tests.recipes.test_engines import RECIPES, STEPS
from tests.scripted import ScriptedParser, scripted_models

LOCAL: list[dict[str, Any]] = yaml.safe_load((CASES / "mended.yaml").read_text("utf-8"))


@pytest.mark.parametrize("recipe", RECIPES)
def test_every_recipe_tells_it_first(
    recipe: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    responder = Responder(faulty=0.0)
    written = "SELECT name FROM tools ORDER BY price LIMIT 1"

    def reply(asked: Asked) -> Any:
        return f"```sql\n{written}\n```" if asked.step in STEPS else responder.scripted(asked)

    model = ScriptedModel(Script(otherwise=reply))
    with api.open(
        build("sqlite", request, tmp_path),
        recipe=recipe,
        overrides=RECIPES[recipe],
        models={**scripted_models(written, llm=model), "tuned-generator": model},
        model="scripted" if recipe == "auto" else "",
        home=tmp_path / "home",
        stand_in=False,
    ) as session:
        answer = session.ask("What is the cheapest tool?")
    assert answer.status == "answered", answer.message
    if answer.answered_by == "language_model":
        assert answer.rows == (("Bolt",),)
        told = "tools.price is NULL in 2 rows, which SQLite puts first in this order"
        assert answer.doubt.startswith(told)
        assert answer_to_text(answer).splitlines()[1].startswith("Not sure")
    else:
        assert answer.rows == (("Chisel",),)
    assert answer.confidence is None or answer.confidence < 0.5 or answer.rows == (("Chisel",),)


@pytest.mark.parametrize("engine", ENGINES)
def test_local_puts_it_right(engine: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    address = build(engine, request, tmp_path)
    queries = {case["ask"]: [case["sql"]] for case in LOCAL}
    models = {**scripted_models(), "parser": ScriptedParser(queries)}
    with api.open(address, models=models, home=tmp_path / "home") as session:
        for case in LOCAL:
            if engine not in case.get("engines", ENGINES):
                continue
            answer = session.ask(case["ask"])
            rows = [[_plain(cell) for cell in row] for row in answer.rows]
            told = [note.kind for note in answer.warnings if note.kind in CAVEATS]
            if case.get("told"):
                assert "equal by" in answer.doubt, (case, answer.sql)
                assert (answer.confidence or 0.0) < 0.5
            else:
                if not case.get("ordered"):
                    rows.sort()
                assert rows == case["rows"], (case, answer.sql)
                assert not told
                # Of a file, that a column holds both is told all the same.
                assert (answer.confidence or 0.0) >= 0.5 or "are no numbers" in answer.doubt


def _plain(cell: Any) -> Any:
    try:
        return round(float(cell), 4)
    except ValueError:
        return cell
