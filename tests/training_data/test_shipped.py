"""Neither the wheel nor the source archive holds the data we train with."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hatchling.builders.plugin.interface import BuilderInterface
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).parents[2]
FILES = ("training/data/questions/one.jsonl", "training/script.py", "src/sqlwright/__init__.py")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A small tree with this project's settings."""
    for file in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / file, tmp_path / file)
    for file in FILES:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("")
    return tmp_path


@pytest.mark.parametrize(
    ("builder", "shipped"),
    [(WheelBuilder, {FILES[2]}), (SdistBuilder, {FILES[1], FILES[2]})],
)
def test_training_data_is_not_shipped(
    builder: type[BuilderInterface], shipped: set[str], checkout: Path
) -> None:
    found = {file.relative_path for file in builder(str(checkout)).recurse_included_files()}
    assert found & set(FILES) == shipped
