"""docs/how-a-question-travels.md: its excerpts are of a run, its files were in use in that run."""

from __future__ import annotations

import ast
import re

import pytest

from sqlwright.recipes.registry import STEPS
from tests.travel import FENCE, PAGE, QUESTION, SOURCE, Travelled

TEXT = PAGE.read_text("utf-8")
WAY = TEXT[TEXT.index("## To the first step") : TEXT.index("`presentation/answer.py`")]
FIGURE = re.compile(r"\d+\.\d+")
NEAR = 0.05
"""Scores differ in the last digits from processor to processor."""


@pytest.fixture(scope="module")
def travelled(tmp_path_factory: pytest.TempPathFactory) -> Travelled:
    return Travelled(tmp_path_factory.mktemp("travel"))


def test_the_question_is_the_one_on_the_page() -> None:
    assert f'"{QUESTION}"' in TEXT


def test_the_excerpts_are_those_of_a_run(travelled: Travelled) -> None:
    shown, made = dict(FENCE.findall(TEXT)), travelled.excerpts()
    assert list(shown) == list(made)
    for name, text in made.items():
        advice = "write them anew with: python -m tests.travel"
        assert FIGURE.sub("0", shown[name]) == FIGURE.sub("0", text), advice
        figures = zip(FIGURE.findall(shown[name]), FIGURE.findall(text), strict=True)
        assert all(abs(float(one) - float(other)) <= NEAR for one, other in figures), advice


def test_the_files_on_the_way_were_in_use(travelled: Travelled) -> None:
    named = set(re.findall(r"`([\w/]+\.(?:py|yaml))`", WAY))
    assert len(named) >= 30
    assert named - travelled.files == set()


def test_what_is_said_to_be_in_a_file_is_in_it() -> None:
    found = re.findall(r"`([\w/]+\.py)`\s\((`\w+`(?:, `\w+`)*)\)", WAY)
    assert len(found) >= 4
    for module, names in found:
        tree = ast.parse((SOURCE / module).read_text("utf-8"))
        there = {n.name for n in tree.body if isinstance(n, ast.ClassDef | ast.FunctionDef)}
        assert set(re.findall(r"\w+", names)) <= there


def test_every_step_of_the_recipe_has_its_place(travelled: Travelled) -> None:
    ran = {event["step"] for event in travelled.events if event["kind"] == "begin"}
    modules = {step: STEPS[step].partition(":")[0].split(".")[1:] for step in ran}
    places = {step: f"`{'/'.join(parts)}.py`" for step, parts in modules.items()}
    assert {step for step, place in places.items() if place not in WAY} == set()
