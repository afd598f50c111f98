"""Recipes: what is read, what is overridden, what is refused and with which words."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from sqlwright.errors import ConfigError
from sqlwright.local.steps.generation import EmbeddedGeneration
from sqlwright.protocols import Step
from sqlwright.recipes.loading import load_recipe, parse_recipe, recipe_names
from sqlwright.recipes.overrides import parse_override
from sqlwright.running import combinators
from sqlwright.running.combinators import NamedStep, leaves
from sqlwright.steps.generation.direct import DirectGeneration
from sqlwright.steps.retrieval.extract_keywords import ExtractKeywords
from sqlwright.steps.schema_linking.by_group import ByGroup

STEPS = """
  - retrieval.values
  - schema_linking.embedded
  - generation.embedded: {beam: 8}
"""


def recipe_text(steps: str = STEPS, end: str = "  - selection.first_valid\n") -> str:
    return f"name: test\nsteps:{steps}{end}"


def find(step: Step, kind: type) -> list[Step]:
    return [leaf for leaf in combinators.leaves(step) if isinstance(leaf, kind)]


@pytest.mark.parametrize("name", recipe_names())
def test_shipped_recipes_load_and_are_called_what_their_file_says(name: str) -> None:
    recipe = load_recipe(name)
    assert recipe.name == name
    assert recipe.description


def test_the_default_recipe_is_link_write_check_judge_ask() -> None:
    step = load_recipe("local").step
    assert isinstance(step, combinators.Sequence)
    *first, grouped, last = step.steps
    assert isinstance(grouped, ByGroup)
    assert [
        child.name for child in (*first, *grouped.steps, last) if isinstance(child, NamedStep)
    ] == [
        "retrieval.request",
        "retrieval.values",
        "schema_linking.embedded",
        "generation.embedded",
        "repair.execution_guided",
        "repair.veto",
        "selection.critic",
        "selection.ask_back",
    ]


def test_options_are_the_fields_of_the_step() -> None:
    step = parse_recipe(recipe_text()).step
    assert find(step, EmbeddedGeneration) == [EmbeddedGeneration(beam=8)]


def test_an_override_changes_an_option() -> None:
    step = parse_recipe(recipe_text(), ["generation.embedded.beam=4"]).step
    assert find(step, EmbeddedGeneration) == [EmbeddedGeneration(beam=4)]


TWICE = """
  - retrieval.values
  - parallel: [[generation.embedded], [generation.embedded: {beam: 2}]]
"""


def test_an_override_reaches_every_step_of_the_name_or_one_by_position() -> None:
    both = parse_recipe(recipe_text(TWICE), ["generation.embedded.beam=5"]).step
    assert find(both, EmbeddedGeneration) == [EmbeddedGeneration(5), EmbeddedGeneration(5)]
    second = parse_recipe(recipe_text(TWICE), ["generation.embedded[2].beam=5"]).step
    assert find(second, EmbeddedGeneration) == [EmbeddedGeneration(8), EmbeddedGeneration(5)]


def test_combinators_nest() -> None:
    text = """
  - retrieval.values
  - when: {condition: many_columns, then: [schema_linking.embedded]}
  - sequence: [generation.embedded]
  - repeat_until: {condition: has_rows, rounds: 2, steps: [repair.execution_guided]}
  - for_each: {field: candidates, steps: [repair.execution_guided]}
"""
    step = parse_recipe(recipe_text(text)).step
    assert isinstance(step, combinators.Sequence)
    kinds = [type(child).__name__ for child in step.steps]
    assert kinds == ["NamedStep", "When", "Sequence", "RepeatUntil", "ForEach", "NamedStep"]


def test_a_recipe_file_is_found_by_path(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(recipe_text())
    assert load_recipe(str(path)).name == "test"


def test_the_source_records_overrides_for_the_trace() -> None:
    recipe = parse_recipe(recipe_text(), ["generation.embedded.beam=4"])
    assert recipe.source["overrides"] == ["generation.embedded.beam=4"]


def test_embedded_models_beside_a_recipe_are_steps_of_it() -> None:
    text = recipe_text() + "beside: [stand_in, second_opinion]\n"
    recipe = parse_recipe(text, ["second_opinion.seconds=1", "generation.embedded[3].beam=2"])
    assert [next(iter(step)) for step in recipe.source["steps"][-2:]] == [
        "stand_in", "second_opinion",
    ]  # fmt: skip
    _, *beside = recipe.step.steps[-3:]  # type: ignore[attr-defined]
    assert beside[1].seconds == 1
    assert [one.beam for one in leaves(beside[1]) if isinstance(one, EmbeddedGeneration)] == [2]
    alone = parse_recipe(text, ["stand_in.enabled=false", "second_opinion.enabled=false"])
    assert alone.step == parse_recipe(recipe_text()).step


def test_override_values_are_typed() -> None:
    assert parse_override("a.b.c=4").value == 4
    assert parse_override("a.b.c=null").value is None
    assert parse_override("a.b[3].c=x").place == 3
    assert str(parse_override("a.b[3].c=x")) == "a.b[3].c"


def test_one_field_of_an_option_is_overridden_alone() -> None:
    plain = load_recipe("chess-ir-cg-ut").step
    changed = load_recipe(
        "chess-ir-cg-ut",
        ["generation.direct.sampling.model=a/b", "generation.direct[2].sampling.temperature=0.1"],
    ).step
    before, after = (
        [each.sampling for each in leaves(step) if isinstance(each, DirectGeneration)]
        for step in (plain, changed)
    )
    assert after[0] == replace(before[0], model="a/b")
    assert after[1] == replace(before[1], model="a/b", temperature=0.1)


def test_a_field_that_the_recipe_leaves_to_its_default_is_overridden_alone() -> None:
    text = recipe_text().replace("schema_linking.embedded", "retrieval.extract_keywords")
    recipe = parse_recipe(text, ["retrieval.extract_keywords.sampling.model=a/b"])
    (step,) = (each for each in leaves(recipe.step) if isinstance(each, ExtractKeywords))
    assert step.sampling == replace(ExtractKeywords().sampling, model="a/b")


@pytest.mark.parametrize(
    ("override", "says"),
    [
        ("generation.direct.sampling.modle=x", "modle"),
        ("generation.direct.shuffle.x=1", "single value"),
        ("samples.count.x=1", "single value"),
        ("generation.direct..model=x", "not an override"),
        ("generation.dirct.sampling.model=x", "no such step"),
    ],
)
def test_a_field_that_is_not_there_is_refused(override: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        load_recipe("chess-ir-cg-ut", [override])


REFUSED: list[dict[str, str]] = yaml.safe_load(
    (Path(__file__).parents[1] / "cases" / "recipes" / "refused.yaml").read_text("utf-8")
)


def _written_out(steps: str) -> str:
    """`9@5000` as five thousand nines."""
    return re.sub(r"(\d)@(\d+)", lambda found: found[1] * int(found[2]), steps)


@pytest.mark.parametrize("case", REFUSED, ids=[case["title"] for case in REFUSED])
def test_what_does_not_fit_is_refused(case: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match=case["message"]):
        parse_recipe(recipe_text(f"\n  {_written_out(case['steps'])}\n"))


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("beam=4", "is not an override"),
        ("generation.embedded.beam", "is not an override"),
        ("generation.embeded.beam=4", "did you mean 'generation.embedded'"),
        ("generation.embedded.beams=4", "did you mean 'beam'"),
        ("generation.embedded[2].beam=4", "has 1 of that step"),
        ("generation.embedded[0].beam=4", "has 1 of that step"),
        ("generation.embedded.beam=wide", "not 'wide'"),
        ("generation.embedded.beam=!!python/name:os.system", "constructor"),
        ("generation.embedded.reads=[x]", "unknown option 'reads'"),
    ],
)
def test_overrides_that_do_not_fit_are_refused(override: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_recipe(recipe_text(), [override])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: x\nsteps: []\n", "no step selects"),
        ("steps: []\n", "name: field required"),
        ("name: x\nstep: []\n", "unknown key 'step'; did you mean 'steps'"),
        (
            "name: x\nsteps: []\nbeside: [stand_inn]\n",
            "sequence 'stand_inn'; did you mean 'stand_in'",
        ),
        ("name: x\nsteps: []\nbeside: stand_in\n", "beside: input should be a valid list"),
        ("- a\n", "a recipe is a mapping"),
        ("", "a recipe is a mapping"),
    ],
)
def test_files_that_are_no_recipe_are_refused(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_recipe(text)


def test_an_unknown_recipe_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="did you mean 'local'") as caught:
        load_recipe("locl")
    assert "local" in caught.value.hint
    with pytest.raises(ConfigError, match="can't be read"):
        load_recipe(str(tmp_path / "absent.yaml"))


def test_a_file_too_large_for_a_recipe_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "large.yaml"
    path.write_text("#" * 100_000)
    with pytest.raises(ConfigError, match="too large"):
        load_recipe(str(path))


def test_code_runs_only_when_it_is_allowed() -> None:
    path = "sqlwright.local.steps.generation:EmbeddedGeneration"
    steps = f"\n  - retrieval.values\n  - {path}: {{beam: 3}}\n"
    with pytest.raises(ConfigError, match="code outside the registry"):
        parse_recipe(recipe_text(steps))
    step = parse_recipe(recipe_text(steps), allow_code=True).step
    assert find(step, EmbeddedGeneration) == [EmbeddedGeneration(beam=3)]


def test_a_class_that_is_no_step_is_refused_before_anything_runs() -> None:
    for path in ("sqlwright.types:Candidate", "sqlwright.protocols:Step"):
        with pytest.raises(ConfigError, match="is not a step") as error:
            parse_recipe(recipe_text(f"\n  - {path}\n"), allow_code=True)
        assert "protocols.Step" in error.value.hint


def test_samples_and_what_overrides_do_to_combinators() -> None:
    text = """
name: chains
steps:
  - retrieval.values
  - samples: {count: 4, steps: [generation.embedded, repair.execution_guided]}
  - selection.first_valid
"""
    overrides = ["samples.count=2", "samples.first=3", "repair.execution_guided.enabled=false"]
    chains = parse_recipe(text, overrides).step.steps[1]  # type: ignore[attr-defined]
    assert (chains.count, chains.first, chains.workers) == (2, 3, 2)
    assert [named.name for named in chains.body.steps] == ["generation.embedded"]


@pytest.mark.parametrize(
    "override", ["samples.count=0", "samples.size=2", "samples.count=many", "samples.first=0"]
)
def test_a_wrong_override_of_a_combinator_is_refused(override: str) -> None:
    text = "name: c\nsteps:\n  - samples: {count: 4, steps: [generation.embedded]}\n"
    with pytest.raises(ConfigError):
        parse_recipe(text + "  - selection.first_valid\n", [override])


def test_the_model_of_an_agent_is_one_that_the_recipe_asks() -> None:
    agent = "{task: find values, sampling: {model: openai/x}, steps: [retrieval.values]}"
    assert parse_recipe(recipe_text(f"\n  - agent: {agent}{STEPS}")).asks == ("openai/x",)


@pytest.mark.parametrize("number", ["9" * 5000, "0x" + "f" * 5000, "-" + "1" * 31])
def test_a_number_of_thousands_of_digits_is_refused(number: str) -> None:
    with pytest.raises(ConfigError, match="a whole number has more than 30 digits"):
        parse_recipe(f"name: x\nsteps:\n  - retrieval.substrings: {{limit: {number}}}\n")
    with pytest.raises(ConfigError, match="a whole number has more than 30 digits"):
        parse_override(f"generation.embedded.beam={number}")
