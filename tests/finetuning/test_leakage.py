"""Databases that are both trained on and measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sqlwright.errors import DatasetError
from sqlwright.lab.finetuning.building.leakage import (
    find_leakage,
    fingerprints,
    refuse_leakage,
    set_apart,
)
from tests.finetuning.built import QUESTIONS, changed, data_set, made, plan_of

OTHER = {"Are there desks?": "SELECT 1"}
WAYS = {
    # another file under the same name, in another case
    "id": ("Shop", "desk", OTHER, ()),
    # the same file under another name
    "file": ("store", "shop", OTHER, ()),
    # a renamed copy with other rows
    "schema": ("store", "shop", OTHER, ("DELETE FROM lines",)),
    # a copy with another column, and the same questions
    "question": ("store", "shop", QUESTIONS, ("ALTER TABLE orders ADD COLUMN note TEXT",)),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_database_that_is_measured_is_refused(
    way: str, tmp_path: Path, database_files: dict[str, Path]
) -> None:
    db_id, file, questions, statements = WAYS[way]
    copy = changed(database_files[file], tmp_path / "copy.sqlite", *statements)
    train = data_set(
        tmp_path / "train",
        {"shop": database_files["shop"], "mixed": database_files["mixed"]},
        name="mine",
    )
    measured = data_set(tmp_path / "dev", {db_id: copy}, questions, name="theirs")
    assert [(leak.trained, leak.way) for leak in find_leakage(train, measured)] == [("shop", way)]
    with pytest.raises(DatasetError, match="which theirs measures: shop ") as raised:
        refuse_leakage(train, measured)
    assert "--without shop" in raised.value.hint


def test_other_databases_are_let_through(tmp_path: Path, database_files: dict[str, Path]) -> None:
    train = data_set(tmp_path / "train", {"shop": database_files["shop"]})
    altered = changed(
        database_files["shop"], tmp_path / "c.sqlite", "ALTER TABLE orders ADD COLUMN note TEXT"
    )
    databases = {"desk": database_files["desk"], "store": altered, "gone": tmp_path / "none"}
    measured = data_set(tmp_path / "dev", databases, OTHER)
    assert find_leakage(train, measured) == []


def test_a_mixed_folder_is_built_once_the_measured_is_left_out(
    tmp_path: Path, database_files: dict[str, Path]
) -> None:
    databases = {"shop": database_files["shop"], "desk": database_files["desk"]}
    train = data_set(tmp_path / "train", databases, name="mine")
    measured = data_set(tmp_path / "dev", {"store": database_files["desk"]}, OTHER, name="theirs")
    plan: dict[str, Any] = {"held_out": [measured], "share_held_out": None, "limit": 6}
    with pytest.raises(DatasetError, match="desk is the same file as store"):
        made(plan_of("linker", [train], tmp_path / "set", **plan))
    assert not (tmp_path / "set" / "set.json").exists()
    folder, examples = made(plan_of("linker", [train], tmp_path / "set", without=["desk"], **plan))
    assert {one.db_id for one in examples} == {"shop"}
    assert folder.about.databases == {"train": ("shop",), "held_out": ()}
    assert folder.about.evaluations == ("theirs",)
    assert folder.about.statistics["leakage"]["checked"] == 1


def test_copies_are_set_apart_together(tmp_path: Path, database_files: dict[str, Path]) -> None:
    refilled = changed(database_files["shop"], tmp_path / "c.sqlite", "DELETE FROM lines")
    names = ("shop", "copy", "desk", "odd", "mixed")
    places = dict(zip(names, ("shop", "", "desk", "odd", "mixed"), strict=True))
    databases = {one: database_files.get(places[one], refilled) for one in names}
    marks = fingerprints(data_set(tmp_path / "data", databases, OTHER)).values()
    drawn = [set_apart(names, marks, 0.2, seed) for seed in range(20)]
    assert {"shop" in apart for apart in drawn} == {True, False}
    assert all(("shop" in apart) == ("copy" in apart) for apart in drawn)
    assert all(0 < len(apart) < 3 for apart in drawn)
    assert set_apart(names, marks, 0.2, 3) == drawn[3]
    assert set_apart(names, marks, 0.0, 3) == frozenset()
