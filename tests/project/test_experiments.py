"""Each entry of docs/experiments begins with four lines: asked, done, found, kept or dropped."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "experiments"
THEMES = sorted(path.name for path in FOLDER.glob("*.md") if path.name != "README.md")
FOUR = re.compile(r"\n- Asked: .+\n- Done: .+\n- Found: .+\n- (Kept|Dropped): .+\n")


def test_there_are_few_themes_and_the_index_names_each() -> None:
    assert len(THEMES) <= 10
    index = (FOLDER / "README.md").read_text("utf-8")
    assert sorted(re.findall(r"\]\(([\w-]+\.md)\)", index)) == THEMES


@pytest.mark.parametrize("theme", THEMES)
def test_an_entry_begins_with_its_four_lines(theme: str) -> None:
    entries = re.split(r"^## .+\n", (FOLDER / theme).read_text("utf-8"), flags=re.MULTILINE)[1:]
    assert entries
    assert [entry[:80] for entry in entries if not FOUR.match(entry)] == []


@pytest.mark.parametrize("theme", ["README.md", *THEMES])
def test_pages_that_are_linked_are_there(theme: str) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", (FOLDER / theme).read_text("utf-8"))
    assert [link for link in links if not (FOLDER / link).exists()] == []
