"""The tables: every name loads, nothing loads before it is asked for, others can add steps."""

from __future__ import annotations

import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from sqlwright.errors import ConfigError
from sqlwright.recipes import registry
from sqlwright.recipes.loading import BESIDE
from sqlwright.running.control_flow import Condition

LOCAL = {
    "schema_linking.embedded": "linking",
    "generation.embedded": "generation",
    "repair.execution_guided": "execution_guided",
    "repair.veto": "veto",
    "selection.critic": "critic",
}


@pytest.mark.parametrize("name", registry.STEPS)
def test_every_step_loads_and_declares_itself(name: str) -> None:
    step = registry.load_step(name)
    assert step.__doc__
    assert step.reads
    assert step.writes


@pytest.mark.parametrize("name", registry.STEPS)
def test_a_step_is_called_after_its_stage(name: str) -> None:
    module, _, _ = registry.STEPS[name].partition(":")
    own, stage = LOCAL.get(name), name.partition(".")[0]
    if own is None:
        assert module.startswith(f"sqlwright.steps.{stage}.")
    else:  # steps of embedded models stand in their wing
        assert module == f"sqlwright.local.steps.{own}"


@pytest.mark.parametrize("name", registry.CONDITIONS)
def test_every_condition_loads(name: str) -> None:
    assert isinstance(registry.load_condition(name), Condition)


@pytest.mark.parametrize("name", registry.RECIPES)
def test_every_recipe_has_its_file(name: str) -> None:
    assert files("sqlwright").joinpath(registry.RECIPES[name]).is_file()


def test_no_recipe_file_is_left_out() -> None:
    folder = files("sqlwright").joinpath("recipes")
    found = {f"recipes/{path.name}" for path in folder.iterdir() if path.name.endswith(".yaml")}
    assert found == {*registry.RECIPES.values(), BESIDE}


@pytest.mark.parametrize("load", [registry.load_step, registry.load_condition])
def test_an_unknown_name_is_refused_with_the_known_ones(load: object) -> None:
    with pytest.raises(ConfigError, match=r"unknown .* 'nothing\.like_it'") as caught:
        load("nothing.like_it")  # type: ignore[operator]
    assert caught.value.hint.startswith("Known: ")


def test_what_is_named_but_no_class_is_refused() -> None:
    with pytest.raises(ConfigError, match="is not a class"):
        registry.load_step("sqlwright.steps.conditions:MANY", allow_code=True)
    with pytest.raises(ConfigError, match="can't be loaded"):
        registry.load_step("sqlwright.steps.absent:X", allow_code=True)


def test_the_registry_imports_no_step() -> None:
    code = (
        "import sys, sqlwright.recipes.registry\n"
        "assert not [m for m in sys.modules if m.startswith('sqlwright.steps')]\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_installed_packages_add_steps(tmp_path: Path) -> None:
    """A real distribution on the path, found through its entry points."""
    (tmp_path / "mine.py").write_text(
        "class Mine:\n    reads = frozenset({'question'})\n    writes = frozenset()\n"
    )
    info = tmp_path / "mine-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[sqlwright.steps]\nmine.step = mine:Mine\n")
    code = (
        "from sqlwright.recipes import registry\n"
        "assert registry.load_step('mine.step').__name__ == 'Mine'\n"
        "assert registry.step_names()[-1] == 'mine.step'\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": str(tmp_path)})
