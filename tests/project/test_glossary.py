"""docs/glossary.md: each word once, one sentence, and the thing still lives where it says."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "glossary.md").read_text("utf-8")
ROWS = re.findall(
    r"^\| ([a-z -]+) \| ([A-Z].*) \| `([\w/.]+)`(?: `(\w+)`)? \|$", PAGE, re.MULTILINE
)


def test_every_row_is_read_and_every_word_stands_once() -> None:
    lines = [line for line in PAGE.splitlines() if line.startswith("| ") and "lives in" not in line]
    assert len(ROWS) == len(lines) >= 20
    words = [word for word, *_ in ROWS]
    assert sorted(set(words)) == sorted(words)


@pytest.mark.parametrize(("word", "module", "name"), [(w, m, n) for w, _, m, n in ROWS])
def test_the_thing_lives_where_the_glossary_says(word: str, module: str, name: str) -> None:
    path = ROOT / "src" / "sqlwright" / module
    trees = [
        ast.parse(p.read_text("utf-8")) for p in (path.glob("*.py") if path.is_dir() else [path])
    ]
    kinds = (ast.ClassDef, ast.FunctionDef)
    there = {node.name for tree in trees for node in tree.body if isinstance(node, kinds)}
    assert trees
    assert not name or name in there
