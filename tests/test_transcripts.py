"""Recipes over the demo business with replies that were typed for real prompts, played back.

The replies were written by somebody who saw the prompts alone. They are found again by step and
seed, so a prompt may be worded better without losing them; that prompts and replies fit each other
is for a new trial to show (`benchmarks/trial.py`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import sqlwright
from sqlwright.demo.business import write_business
from sqlwright.demo.questions import demo_questions, rows_digest
from sqlwright.llm.scripted import Asked, Script, ScriptedModel, When

CASES = json.loads(
    (Path(__file__).parent / "cases/transcripts/demo.json").read_text(encoding="utf-8")
)
FEWER = {
    "chess-ir-ss-cg": [],
    "chess-ir-cg-ut": [
        "samples[1].count=2",
        "samples[2].count=2",
        "selection.generate_tests.tests=3",
    ],
}
"""How the trial was run."""


@pytest.fixture(scope="module")
def business(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("demo") / "demo.sqlite"
    write_business(path)
    return path


def script(replies: list[dict[str, Any]]) -> Script:
    """What was said to a step's request with a seed; two templates that share one, in turn."""
    said: dict[tuple[str, int], list[str]] = {}
    for reply in replies:
        said.setdefault((reply["step"], reply["seed"]), []).append(reply["text"])

    def rule(key: tuple[str, int]) -> When:
        def matches(asked: Asked) -> bool:
            return (asked.step, asked.seed) == key

        return When(matches, said[key])

    return Script([rule(key) for key in said])


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['recipe']}: {case['question']}")
def test_a_transcript_leads_to_the_answer_it_led_to(business: Path, case: dict[str, Any]) -> None:
    model = ScriptedModel(script(case["replies"]))
    with sqlwright.open(
        business,
        recipe=case["recipe"],
        overrides=FEWER[case["recipe"]],
        models={"llm": model},
        record=False,
    ) as session:
        answer = session.ask(case["question"])
    wanted = next(one for one in demo_questions() if one.text == case["question"])
    assert answer.status == "answered"
    assert rows_digest(answer.rows) == wanted.digest
    assert not [warning for warning in answer.warnings if "no reply" in warning.text]
