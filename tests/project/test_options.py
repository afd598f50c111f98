"""Every option of a step is set somewhere: by a recipe, an ablation, an example or the docs."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from sqlwright.recipes.loading import options_of
from sqlwright.recipes.registry import STEPS, load_step

ROOT = Path(__file__).parents[2]
COMMON = {"prompt", "sampling", "style", "examples", "descriptions", "values", "evidence"}
"""Options that many steps share."""
UNSET = {
    "schema_linking.embedded": {"groups", "joins", "share"},
    "schema_linking.filter_columns": {"columns", "keep", "keep_found", "keys", "tokens"},
    "repair.execution_guided": {"penalty", "seconds", "similarity"},
    "repair.veto": {"seconds"},
}
"""Options that tests alone set. No name may be added here."""

_NAMES = "|".join(sorted(map(re.escape, STEPS), key=len, reverse=True))
_OVERRIDE = re.compile(rf"({_NAMES})(?:\[\d+\])?\.(\w+)")
_IN_BRACES = re.compile(rf"({_NAMES}):\s*\{{([^}}]*)")
_ROW = re.compile(rf"\|\s*({_NAMES})(?:\[\d+\])?\s*\|\s*(\w+)")
_CLASSES = {path.rpartition(":")[2]: name for name, path in STEPS.items()}
_CALL = re.compile(rf"\b({'|'.join(_CLASSES)})\(([^)]*)")


def _of_recipe(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, item in value.items():
            if key in STEPS and isinstance(item, dict):
                yield from ((key, str(option)) for option in item)
            yield from _of_recipe(item)
    elif isinstance(value, list):
        for item in value:
            yield from _of_recipe(item)
    elif isinstance(value, str):
        yield from _OVERRIDE.findall(value)


def _of_text(text: str) -> Iterator[tuple[str, str]]:
    yield from _OVERRIDE.findall(text)
    yield from _ROW.findall(text)
    for name, options in _IN_BRACES.findall(text):
        yield from ((name, option) for option in re.findall(r"(\w+)\s*:", options))
    for called, options in _CALL.findall(text):
        yield from ((_CLASSES[called], option) for option in re.findall(r"(\w+)\s*=", options))


@pytest.fixture(scope="module")
def used() -> Mapping[str, set[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for path in (ROOT / "src/sqlwright/recipes").rglob("*.yaml"):
        for name, option in _of_recipe(yaml.safe_load(path.read_text(encoding="utf-8"))):
            found[name].add(option)
    suffixes = {".py", ".md", ".yaml", ".yml", ".toml", ".sh"}
    for folder in ("docs", "examples", "benchmarks"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in suffixes and path.is_file():
                for name, option in _of_text(path.read_text(encoding="utf-8")):
                    found[name].add(option)
    return found


@pytest.mark.parametrize("name", STEPS)
def test_every_option_of_a_step_is_set_somewhere(name: str, used: Mapping[str, set[str]]) -> None:
    unset = set(options_of(load_step(name))) - COMMON - used[name]
    assert unset == UNSET.get(name, set())
