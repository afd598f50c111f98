"""A language model that says the database can't answer is heard, in every recipe that asks one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from benchmarks.declining import (
    IN_FORM,
    IN_PROSE,
    MISSING,
    RECIPES,
    WRITERS,
    ask,
    declining,
    told,
)

from sqlwright.llm.scripted import Asked
from sqlwright.presentation.answer import answer_to_dict
from sqlwright.types import Answer
from tests.scripted import ScriptedCritic, scripted_models

QUESTION = "Which customers own a dog?"
COUNTED = "SELECT count(*) FROM customers"
SAMPLES = {
    "chess-ir-cg-ut": ("samples.count=2", "selection.generate_tests.tests=1"),
    "chess-agents": ("samples.count=2", "selection.generate_tests.tests=1"),
    "chase": ("samples.count=2",),
    "chess-ir-ss-cg": ("samples.count=5", "generation.direct.sampling.temperature=1"),
    "mag": ("samples.count=5",),
    "baseline": ("samples.count=5", "generation.direct.sampling.temperature=1"),
}

Asks = Callable[..., tuple[Answer, int]]


@pytest.fixture
def asked(database_files: dict[str, Path], tmp_path: Path) -> Asks:
    """Asks the shop: the answer, and the replies asked of those who write queries. The embedded
    parser has a query that the critic likes."""

    def asks(recipe: str, reply: Callable[[Asked], str], *more: str) -> tuple[Answer, int]:
        models: Any = scripted_models(COUNTED, critic=ScriptedCritic(missing=()))
        overrides = (*SAMPLES.get(recipe, ()), *more)
        path = database_files["shop"]
        answer, steps = ask(path, tmp_path, recipe, QUESTION, reply, *overrides, models=models)
        return answer, sum(steps[step] for step in WRITERS)

    return asks


@pytest.mark.parametrize("recipe", [*RECIPES, "chess-agents"])
@pytest.mark.parametrize(("words", "tries"), [(IN_FORM, 1), (IN_PROSE, 2)])
def test_where_all_decline_nobody_answers(asked: Asks, recipe: str, words: str, tries: int) -> None:
    answer, replies = asked(recipe, declining(words))
    assert (answer.status, answer.refusal, answer.sql) == ("refused", "unanswerable", None)
    assert answer.answered_by is None
    assert MISSING in answer.message or IN_PROSE[:-1] in answer.message
    assert "customers (" in answer.suggestion
    samples = {"chess-ir-cg-ut": 4, "chase": 6, "msc": 3, "chess-agents": 2}.get(recipe, 5)
    parts = 2 if recipe == "mag" else 1  # a sub-question, then the question itself
    assert replies <= tries * samples * parts


@pytest.mark.parametrize("recipe", RECIPES)
def test_where_one_of_several_declines_the_answer_says_so(asked: Asks, recipe: str) -> None:
    answer, _ = asked(recipe, declining(IN_FORM, most=1))
    assert told(answer)
    if answer.status == "answered":
        assert answer.answered_by == "language_model"
        assert answer.basis.agreeing < answer.basis.of
        if recipe != "mag":  # there it was a sub-question
            (note,) = [n for n in answer_to_dict(answer)["warnings"] if n["kind"] == "declined"]
            assert note["text"].startswith(f"1 of {answer.basis.of} replies said")
