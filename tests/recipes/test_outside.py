"""Published systems added from outside: one by a file of YAML alone, one by that, a step with its
prompt, and one line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from sqlwright.api import Session
from sqlwright.errors import ConfigError
from sqlwright.llm.scripted import Script, ScriptedModel, When
from sqlwright.recipes import registry
from sqlwright.recipes.loading import load_recipe
from tests.evaluation.sets import GERMAN, SWEDISH

SYSTEMS = Path(__file__).parents[2] / "examples" / "systems"
TABLES = json.dumps({"reasoning": "", "tables": ["customers"]})
COLUMNS = json.dumps(
    {"reasoning": "", "tables": [{"table": "customers", "columns": ["name", "country"]}]}
)


def test_a_fifth_paper_that_recombines_steps_is_one_file(
    tmp_path: Path, open_scripted: Callable[..., Session]
) -> None:
    """C3, from a folder of its own, with steps that were here before."""
    recipe = shutil.copy(SYSTEMS / "c3.yaml", tmp_path / "fifth.yaml")
    written = [SWEDISH] * 7 + [GERMAN] * 13
    script = Script(
        [
            When("schema_linking.select_tables", TABLES),
            When("schema_linking.select_columns", COLUMNS),
            When("generation.direct", written),
        ]
    )
    session = open_scripted(recipe=str(recipe), models={"llm": ScriptedModel(script)})
    answer = session.ask("Who is German?")
    assert answer.recipe == "c3"
    assert (answer.sql, answer.rows) == (GERMAN, (("Ada Brandt",), ("Chen Li",)))
    asked = [one for one in script.asked if one.step == "generation.direct"]
    assert len(asked) == 20
    assert len({one.seed for one in asked}) == 20
    assert {one.temperature for one in asked} == {1.0}
    tables = [one for one in script.asked if one.step == "schema_linking.select_tables"]
    assert [one.sample for one in tables] == list(range(10))
    # Linking reached the prompt: neither tables nor columns that nobody chose are in it.
    assert "CREATE TABLE customers" in asked[0].prompt
    assert "CREATE TABLE orders" not in asked[0].prompt
    assert "city TEXT" not in asked[0].prompt


def test_it_names_nothing_that_the_package_lacks() -> None:
    steps = yaml.safe_load((SYSTEMS / "c3.yaml").read_text("utf-8"))["steps"]
    named = {name for step in steps for name in (step if isinstance(step, dict) else [step])}
    assert named - {"samples"} <= set(registry.STEPS)
    assert load_recipe(str(SYSTEMS / "c3.yaml")).name == "c3"


def installed(folder: Path) -> Path:
    """The sixth paper's package as an installer leaves it: its modules and prompt, and what its
    pyproject.toml announces."""
    project = tomllib.loads((SYSTEMS / "din" / "pyproject.toml").read_text("utf-8"))
    name, version = project["project"]["name"], project["project"]["version"]
    for file in project["tool"]["hatch"]["build"]["targets"]["wheel"]["include"]:
        shutil.copy(SYSTEMS / "din" / file, folder)
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    groups = project["project"]["entry-points"]
    lines = [
        line
        for group, named in groups.items()
        for line in (f"[{group}]", *(f"{step} = {at}" for step, at in named.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return folder


PROGRAM = """
import sys, sqlwright
from sqlwright.llm.scripted import Script, ScriptedModel, When
columns, german, swedish, database, recipe = sys.argv[1:]
script = Script([
    When("schema_linking.select_columns", columns),
    When("generation.direct", swedish),
    When("din", german),
])
models = {"llm": ScriptedModel(script)}
with sqlwright.open(database, recipe=recipe, models=models) as shop:
    answer = shop.ask("Who is German?")
(asked,) = [one for one in script.asked if one.step == "din"]
assert asked.prompt.startswith("You proofread SQLite queries."), asked.prompt
assert "Query:\\n" + swedish in asked.prompt, asked.prompt
assert "CREATE TABLE customers" in asked.prompt
assert "Who is German?" in asked.prompt
assert answer.sql == german, answer
assert "din.self_correction" in [time.step for time in answer.times]
"""


def test_a_sixth_paper_with_one_new_step_is_that_file_its_prompt_and_one_line(
    tmp_path: Path, database_files: dict[str, Path]
) -> None:
    """DIN-SQL, as a package of its own: without it the recipe isn't known, with it nothing else is
    needed, no leave to run code either."""
    recipe = shutil.copy(SYSTEMS / "din" / "din.yaml", tmp_path / "sixth.yaml")
    with pytest.raises(ConfigError, match=r"unknown step 'din\.self_correction'"):
        load_recipe(str(recipe))
    packages = tmp_path / "packages"
    packages.mkdir()
    arguments = [COLUMNS, GERMAN, SWEDISH, str(database_files["shop"]), str(recipe)]
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        env=os.environ
        | {"PYTHONPATH": str(installed(packages)), "SQLWRIGHT_HOME": str(tmp_path / "home")},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")


def test_one_line_is_all_that_announces_it() -> None:
    project = tomllib.loads((SYSTEMS / "din" / "pyproject.toml").read_text("utf-8"))
    assert list(project["project"]["entry-points"]) == [registry.ENTRY_POINTS]
    assert len(project["project"]["entry-points"][registry.ENTRY_POINTS]) == 1
