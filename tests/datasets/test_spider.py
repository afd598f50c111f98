"""Which questions a split of a folder in Spider's layout gives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sqlwright.errors import DatasetError
from sqlwright.lab.datasets.spider import divide, load_spider, load_split

TRAIN = [f"d{number}" for number in range(118)]


def spider(folder: Path, splits: Any) -> Path:
    folder.mkdir()
    names = [*TRAIN, "kept"]
    rows = [{"db_id": name, "question": f"About {name}?", "query": "SELECT 1"} for name in names]
    (folder / "train_spider.json").write_text(json.dumps(rows))
    (folder / "split.json").write_text(json.dumps(splits))
    return folder


@pytest.mark.parametrize(("name", "count"), [("fit", 98), ("valid", 12), ("calib", 8)])
def test_our_own_parts_are_those_of_training(tmp_path: Path, name: str, count: int) -> None:
    folder = spider(tmp_path / "spider", {"train": TRAIN, "dev": ["kept"]})
    dataset = load_spider(folder, split=name)
    assert dataset.name == f"train_spider:{name}"
    assert len(dataset.db_ids) == count
    assert set(dataset.db_ids) == getattr(load_split(tmp_path), name)


def test_a_part_that_the_file_lists_is_taken_from_it(tmp_path: Path) -> None:
    splits = {"train": TRAIN, "dev": ["kept"], "valid": ["d7"]}
    folder = spider(tmp_path / "spider", splits)
    assert load_spider(folder, split="valid").db_ids == ("d7",)
    assert load_spider(folder, split="dev").db_ids == ("kept",)
    assert len(load_spider(folder, split="train").db_ids) == 118


@pytest.mark.parametrize(
    ("splits", "message"),
    [
        ({"train": TRAIN, "dev": []}, "has no 'test'"),
        ({"dev": ["kept"]}, "has no 'test'"),
        (["d1"], "doesn't list databases"),
        ({"train": "d1"}, "doesn't list databases"),
    ],
)
def test_a_split_that_isnt_there_is_refused(tmp_path: Path, splits: Any, message: str) -> None:
    folder = spider(tmp_path / "spider", splits)
    with pytest.raises(DatasetError, match=message):
        load_spider(folder, split="test")


def test_the_division_is_frozen() -> None:
    # Figures in docs/experiments rest on it.
    assert sorted(divide({"train": TRAIN, "dev": []}).calib)[:3] == ["d100", "d21", "d4"]
