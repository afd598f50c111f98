"""examples/ci: the workflow's own commands, run on the demo business as they stand."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml

from tests.cli.conftest import Outcome

EXAMPLE = Path(__file__).parents[2] / "examples" / "ci"
WORKFLOW: dict[Any, Any] = yaml.safe_load((EXAMPLE / "questions.yml").read_text("utf-8"))
STEPS: list[dict[str, Any]] = WORKFLOW["jobs"]["questions"]["steps"]
COMMANDS = [
    shlex.split(step["run"].replace("\\\n", " "), comments=True) for step in STEPS if "run" in step
]


@pytest.fixture
def checkout(home: Path) -> Path:
    """A repository with the example's files in the folder `ci`, as the workflow says."""
    shutil.copytree(EXAMPLE, Path.cwd() / "ci")
    return Path.cwd()


def test_the_workflow_is_one_that_github_reads() -> None:
    assert WORKFLOW[True] == ["pull_request"]  # YAML 1.1 takes the key `on` for true
    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert all(len({"uses", "run"} & set(step)) == 1 for step in STEPS)
    assert [words[:2] for words in COMMANDS] == [
        ["pip", "install"],
        ["sqlwright", "demo"],
        ["sqlwright", "lab"],
        ["sqlwright", "evaluate"],
    ]


def test_its_commands_pass_and_write_what_is_uploaded(
    sqlwright: Callable[..., Outcome], checkout: Path
) -> None:
    for words in COMMANDS[1:]:
        outcome = sqlwright(*words[1:])
        assert outcome.code == 0, (words, outcome.err, outcome.out)
    assert "0 broken, 0 mended" in outcome.out
    assert ET.parse("questions.xml").getroot()[0].get("failures") == "0"
    kept = STEPS[-1]
    assert kept["if"] == "always()"  # a failed check is what one wants to look into
    assert all((checkout / name).exists() for name in kept["with"]["path"].split())


def test_it_fails_once_an_answer_is_lost(sqlwright: Callable[..., Outcome], checkout: Path) -> None:
    questions = checkout / "ci" / "questions.yaml"
    text = questions.read_text("utf-8")
    assert text.count("status = 'cancelled'") == 1
    questions.write_text(text.replace("status = 'cancelled'", "status = 'pending'"), "utf-8")
    sqlwright(*COMMANDS[1][1:])
    outcome = sqlwright(*COMMANDS[3][1:])
    assert outcome.code == 15
    assert "1 broken" in outcome.out
    assert "How many orders were cancelled?: literal: " in outcome.out
