"""Each claim about security names the tests that show it; each of those is a test that runs."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "security.md").read_text("utf-8")
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", TEXT)))
TABLE = TEXT[TEXT.index("## Claims") : TEXT.index("## Not promised")]
ROWS = re.findall(r"^\| (.+?) \| (.*?) \|$", TABLE, re.MULTILINE)


def decorators(path: str, name: str) -> list[str]:
    """How a test function is decorated. Raises StopIteration where there is none of that name."""
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    found = (n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == name)
    return [ast.unparse(decorator) for decorator in next(found).decorator_list]


@pytest.mark.parametrize(("path", "name"), NAMED)
def test_the_test_that_shows_a_claim_exists_and_runs(path: str, name: str) -> None:
    assert name.startswith("test_")
    marks = decorators(path, name)
    assert not [mark for mark in marks if re.search(r"\b(skip|xfail|data|training)\b", mark)]


def test_every_claim_names_a_test() -> None:
    claims = [(claim, tests) for claim, tests in ROWS if claim not in {"claim", "---"}]
    assert len(claims) >= 20
    assert [claim for claim, tests in claims if "::" not in tests] == []


@pytest.mark.parametrize(
    "file", ["README.md", "SECURITY.md", "CONTRIBUTING.md", "docs/security.md"]
)
def test_files_that_are_named_are_there(file: str) -> None:
    text = (ROOT / file).read_text("utf-8")
    linked = re.findall(r"\]\(([^)#:]+)\)", text)
    folder = (ROOT / file).parent
    assert [link for link in linked if not (folder / link).exists()] == []
    named = re.findall(r"`((?:tests|docs|benchmarks|scripts)/[\w/.]+)`", text)
    assert [name for name in named if not (ROOT / name).exists()] == []
