"""Every file of ours that a document names is there: from the root, or below the package."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    page.relative_to(ROOT).as_posix()
    for page in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))
    if page.name != "CHANGELOG.md" and page.parent.name != "experiments"  # they tell how it was
)
NAMED = re.compile(r"`([\w./-]+\.(?:py|jinja|yaml|toml|sql|svg|md|sh))`|`([a-z_]+/(?:[\w-]+/)*)`")
PLACEHOLDER = re.compile(r"NAME|STAGE|<")
OTHERS = {
    "sqlwright.toml", "pyproject.toml", "my_recipe.yaml", "house.jinja", "mine.yaml", "recipe.yaml",
    "prices.toml", "database_description/", "databases/", "dev_databases/", "test_database/",
    "resource/", "my-questions.yaml", "MODEL_CARD.md", "adapter/",
    "sqlwright-files.yaml",
}  # fmt: skip
"""Files of a user's."""


def there(name: str) -> bool:
    places = (ROOT, ROOT / "src" / "sqlwright", ROOT / "src" / "sqlwright" / "steps", ROOT / "docs")
    return name in OTHERS or any((place / name).exists() for place in places)


@pytest.mark.parametrize("page", PAGES)
def test_files_that_a_document_names_are_there(page: str) -> None:
    found = {
        one or other
        for one, other in NAMED.findall((ROOT / page).read_text("utf-8"))
        if not PLACEHOLDER.search(one or other)
    }
    assert sorted(name for name in found if not there(name)) == []


def test_the_rooms_of_the_architecture_are_those_there_are() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    layout = text[text.index("## Layout") :]
    names = set(re.findall(r"(?<=\s)([a-z]+)/(?=\s)", layout[: layout.index("tests/")]))
    package = ROOT / "src" / "sqlwright"
    rooms = {path.parent.name for path in package.glob("*/__init__.py")}
    assert rooms <= names
    modules = {path.name for path in package.glob("*.py")} - {"__init__.py"}
    assert modules <= set(re.findall(r"\b[a-z_]+\.py\b", layout))
