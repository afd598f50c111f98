"""CHESS's recipes with an endpoint that misbehaves, and stopped at random moments: the small form
of `benchmarks/llm_robustness.py` and `benchmarks/llm_cancel.py`."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from benchmarks.answering import Responder
from benchmarks.llm_cancel import Stage
from benchmarks.llm_robustness import PLANS, run
from benchmarks.setting import Place

from tests.llm.server import ModelServer, constant, some_bad, well

QUESTIONS = (
    "How many customers live in Munchen?",
    "List the names of the customers with the most orders.",
    "Which products were never ordered?",
    "What is the state of each order?",
)
KINDS = ("rate_limit", "server_error", "drop", "cut", "slow", "truncated", "html", "few", "many",
         "empty", "prose")  # fmt: skip


@pytest.mark.parametrize("recipe", list(PLANS))
def test_bad_replies_lose_no_question_and_no_candidate(
    recipe: str, database_files: dict[str, Path], tmp_path: Path
) -> None:
    place = Place(database_files["shop"], tmp_path / "home")
    clean = run(place, recipe, QUESTIONS, well, PLANS[recipe], at_once=2)
    bad = run(place, recipe, QUESTIONS, some_bad(0.4, KINDS, 1), PLANS[recipe], at_once=2)
    assert sum(count for fault, count in bad.faults.items() if fault) >= 3
    for undisturbed, disturbed in zip(clean.asked, bad.asked, strict=True):
        assert disturbed.status == undisturbed.status == "answered"
        assert disturbed.candidates == disturbed.at_hand > 0
        if recipe != "chess-agents":  # whose model decides how many it writes, if it is heard
            assert disturbed.candidates == undisturbed.candidates


def test_stopped_at_any_moment_nothing_is_left_or_half_written(
    database_files: dict[str, Path], tmp_path: Path
) -> None:
    draw = random.Random(5)
    place = Place(database_files["shop"], tmp_path / "home")
    overrides = ("samples.count=2", "selection.generate_tests.tests=2")
    with ModelServer(Responder(), latency=constant(0.05)) as server:
        stage = Stage(place, tmp_path, server, overrides)
        for place_in_line in range(6):
            question = f"{QUESTIONS[place_in_line % 4]} ({place_in_line})"
            if place_in_line % 2:
                stopped = stage.ask(question, budget=f"{draw.randint(0, 9)} calls")
            else:
                stopped = stage.ask(question, cancel_at=draw.uniform(0, 0.5))
            assert stopped.damage == ()
            assert stopped.left == 0
            assert stopped.answer.status in {"answered", "failed"}
