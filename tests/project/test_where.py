"""tests/cases/where.yaml: what somebody looks for, and the file it is in."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
NEEDS = yaml.safe_load((ROOT / "tests" / "cases" / "where.yaml").read_text("utf-8"))


def test_there_are_twenty_and_each_is_another() -> None:
    assert len({need["need"] for need in NEEDS}) == len(NEEDS) == 20


@pytest.mark.parametrize("need", NEEDS, ids=lambda need: need["right"][0].rpartition("/")[2])
def test_the_file_of_each_need_is_there(need: dict[str, object]) -> None:
    right = need["right"]
    assert isinstance(right, list)
    assert right
    assert [name for name in right if not (ROOT / name).is_file()] == []
