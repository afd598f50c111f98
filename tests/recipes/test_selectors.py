"""Selectors are interchangeable: any of them ends any recipe that asks a language model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from benchmarks.answering import Responder

from sqlwright import api
from sqlwright.boundary.yaml_text import read_yaml
from sqlwright.candidates import group_by_result
from sqlwright.errors import ConfigError
from sqlwright.llm.scripted import Script, ScriptedModel
from sqlwright.protocols import Context, Run, Workspace
from sqlwright.recipes.loading import load_recipe, parse_recipe, recipe_names
from sqlwright.recipes.registry import RECIPES, STEPS
from sqlwright.schema import SchemaView
from sqlwright.types import Question, State
from tests.scripted import scripted_models

QUESTION = "How many customers and orders are there for each city?"
FEW = (
    "samples.count=6",
    "generation.direct.sampling.temperature=0.7",
    "second_opinion.enabled=false",
)
TESTS = ("selection.generate_tests", "selection.evaluate_tests")
"""CHESS's unit tester is two lines: a selector, and the step that writes what it goes by."""
AFTER = ("selection.ask_back",)
"""Steps that look at what was chosen, and choose nothing."""
SELECTORS: Mapping[str, tuple[Any, ...]] = {
    **{
        name: (name,)
        for name in STEPS
        if name.startswith("selection.") and name not in TESTS + AFTER
    },
    "unit tests": TESTS,
    "by pairs": ({"selection.multi_sample": {"form": "pairs"}},),
    "in windows": ({"selection.multi_sample": {"window": 2}},),
    "embedded tournament": ({"selection.pairwise": {"judge": "critic"}},),
}
ASKING = {
    "selection.pairwise",
    "selection.ranker",
    "selection.multi_sample",
    "selection.independent",
    "unit tests",
    "by pairs",
    "in windows",
}
"""Those that ask a language model where results differ."""


def exchanged(steps: list[Any], selector: tuple[Any, ...]) -> list[Any]:
    """The steps of a recipe with this selector in the place of theirs; what stands in is left."""
    kept: list[Any] = []
    for step in steps:
        name = step if isinstance(step, str) else next(iter(step))
        if name.startswith("selection."):
            kept += [one for one in selector if one not in kept]
        elif isinstance(step, dict) and name not in {"stand_in", "second_opinion"}:
            kept.append({name: {k: _inside(v, selector) for k, v in step[name].items()}})
        else:
            kept.append(step)
    return kept


def _inside(value: Any, selector: tuple[Any, ...]) -> Any:
    nested = isinstance(value, list) and all(isinstance(one, str | dict) for one in value)
    return exchanged(value, selector) if nested else value


def exchanged_text(name: str, selector: tuple[Any, ...]) -> str:
    """The recipe with another selector."""
    text = files("sqlwright").joinpath(RECIPES[name]).read_text(encoding="utf-8")
    source = read_yaml(text, name)
    return json.dumps({**source, "steps": exchanged(source["steps"], selector)})


@cache
def fewer(name: str) -> tuple[str, ...]:
    """The overrides of `FEW` that the recipe takes."""
    taken: list[str] = []
    for override in FEW:
        with suppress(ConfigError):
            load_recipe(name, [override])
            taken.append(override)
    return tuple(taken)


@pytest.mark.parametrize(
    "recipe", [name for name in recipe_names() if load_recipe(name).needs_model]
)
@pytest.mark.parametrize("selector", SELECTORS)
def test_any_selector_ends_any_recipe(
    selector: str, recipe: str, shop_workspace: Workspace
) -> None:
    made = parse_recipe(exchanged_text(recipe, SELECTORS[selector]), fewer(recipe))
    model = ScriptedModel(Script(otherwise=Responder(faulty=0.1).scripted))
    asked_models = {name or "llm": model for name in made.asks}
    context = Context(shop_workspace, Run(seed=3), {**scripted_models("SELECT 1"), **asked_models})
    state = made.step(State(Question(QUESTION), SchemaView(shop_workspace.schema)), context)
    assert state.selected is not None
    groups = group_by_result(state.candidates)
    assert any(state.selected.sql == one.sql for group in groups for one in group.candidates)
    assert not any(note.kind == "stand_in" for note in state.warnings)
    asked = {step for step, _ in model.requests if step.startswith("selection.")}
    named = {next(iter(one)) if isinstance(one, dict) else one for one in SELECTORS[selector]}
    assert asked <= named
    assert len(groups) > 1 or "samples.count=6" not in fewer(recipe)
    if len(groups) > 1 and selector in ASKING:
        assert named == asked


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        (
            ["selection.multi_sample", "generation.direct"],
            "selection.multi_sample reads 'candidates'",
        ),
        (
            [{"samples": {"count": 2, "steps": ["generation.direct", "selection.independent"]}}],
            "inside samples, where only additions can be merged",
        ),
        (["generation.direct", "selection.multisample"], "did you mean 'selection.multi_sample'"),
    ],
)
def test_a_selector_in_the_wrong_place_is_refused_by_name(steps: list[Any], told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_recipe(json.dumps({"name": "x", "steps": steps}))
    assert told in str(caught.value)


def test_a_selector_before_anything_ran_says_what_is_missing(
    database_files: dict[str, Path], tmp_path: Path
) -> None:
    path = tmp_path / "early.yaml"
    steps = ["generation.direct", "selection.multi_sample", "repair.execute"]
    path.write_text(json.dumps({"name": "early", "steps": steps}), encoding="utf-8")
    with api.open(
        database_files["shop"], recipe=path, models=scripted_models("SELECT 1"), prepare=False
    ) as session:
        answer = session.ask(QUESTION)
    assert answer.status == "failed"
    assert answer.message == "the query that was selected was never run"
    assert "put repair.execute before the selection" in answer.suggestion
