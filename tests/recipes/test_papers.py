"""The pages about papers tell the truth: their numbers are the recipes', their files exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sqlwright.recipes.ablation_lists import ablations
from sqlwright.recipes.loading import load_recipe, recipe_names
from sqlwright.recipes.registry import ABLATIONS, load_step
from sqlwright.running.combinators import Combinator, NamedStep, leaves

ROOT = Path(__file__).parents[2]
PAGES = {
    paper: (ROOT / f"docs/papers/{paper}.md").read_text(encoding="utf-8")
    for paper in ABLATIONS
    if paper != "local"  # no paper: docs/embedded-models.md has it
}


def table(paper: str, heading: str) -> list[list[str]]:
    """The rows of the first table under a heading of a paper's page."""
    part = PAGES[paper].split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    rows = [line for line in part.split("\n") if line.startswith("|")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[2:]]


def walk(step: Any) -> Iterator[tuple[str, Any]]:
    """Every step and combinator of a recipe with its name, in the order of the file."""
    names = {
        "Sequence": "sequence", "Parallel": "parallel", "Samples": "samples",
        "ForEach": "for_each", "RepeatUntil": "repeat_until", "When": "when", "Agent": "agent",
        "StandIn": "stand_in", "AgentTool": "tool",
        "SecondOpinion": "second_opinion", "ByGroup": "by_group", "OwnView": "own_view",
        "SubQuestions": "sub_questions", "Escalation": "escalate", "Tier": "tier",
    }  # fmt: skip
    if isinstance(step, NamedStep):
        if not isinstance(step.step, Combinator):
            yield step.name, step.step
            return
        step = step.step
    yield names[type(step).__name__], step
    children = (
        *getattr(step, "steps", ()), *getattr(step, "branches", ()),
        *(getattr(step, part, None) for part in ("body", "otherwise", "then")),
    )  # fmt: skip
    for child in children:
        if child is not None:
            yield from walk(child)


@pytest.mark.parametrize(
    "row",
    [row for paper in PAGES for row in table(paper, "Numbers")],
    ids=lambda row: f"{row[2]} {row[3]} {row[4]}",
)
def test_a_number_of_the_page_is_the_recipes(row: list[str]) -> None:
    _, _, recipe, step, option, value = row
    name, _, place = step.rstrip("]").partition("[")
    found = [one for kind, one in walk(load_recipe(recipe).step) if kind == name]
    chosen = found[int(place or 1) - 1]
    for part in option.split("."):
        chosen = getattr(chosen, part)
    assert str(chosen) in {value, f"{value}.0"}


@pytest.mark.parametrize("paper", PAGES)
def test_the_page_names_files_that_exist(paper: str) -> None:
    named = r"`((?:[a-z_]+/)+[a-zA-Z_]+\.(?:py|jinja|yaml)|[a-z_]+\.py)`"
    places = re.findall(named, PAGES[paper])
    assert len(places) > 15
    missing = [
        place
        for place in places
        if not any((root / place).exists() for root in (ROOT, ROOT / "src/sqlwright"))
    ]
    assert missing == []


@pytest.mark.parametrize("paper", PAGES)
def test_every_entry_of_the_ablation_table_is_there(paper: str) -> None:
    for row in table(paper, "Ablations"):
        for entry in re.findall(r"`([a-z0-9*-]+)`", row[2]):
            wanted = re.compile(entry.replace("*", ".+") + "$")
            if "/" not in entry and "evaluate" not in entry:
                assert any(map(wanted.match, (*ablations(), *recipe_names()))), entry


def test_every_ablation_is_in_the_table() -> None:
    rows = [row for paper in PAGES for row in table(paper, "Ablations")]
    entries = {e for row in rows for e in re.findall(r"`([a-z0-9*-]+)`", row[2])}
    patterns = [re.compile(entry.replace("*", ".+") + "$") for entry in entries]
    of_papers = [name for name, one in ablations().items() if one.listed != "local"]
    assert [n for n in of_papers if not any(p.match(n) for p in patterns)] == []


@pytest.mark.parametrize(
    "recipe",
    [
        "chess-ir-cg-ut",
        "chess-ir-ss-cg",
        "baseline",
        "chess-agents",
        "chase",
        "mag",
        "msc",
        "msc-tuned",
        "chase-tuned",
        "chess-tuned",
    ],
)
def test_every_step_of_a_recipe_is_ours(recipe: str) -> None:
    names = {name for name, _ in walk(load_recipe(recipe).step) if "." in name}
    assert names
    assert all(load_step(name) for name in names)
    assert len(list(leaves(load_recipe(recipe).step))) >= len(names)
