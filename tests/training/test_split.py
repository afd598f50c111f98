"""Nothing that is measured on may be learnt from."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import pytest
from training.embedded.bird_pairs import load_bird_pairs, load_bird_schemas
from training.embedded.pairs import Pair, check_trainable, load_pairs
from training.embedded.split import HELD_BACK, Split, load_split

from sqlwright.types import Question


def write_split(folder: Path, train: list[str], dev: list[str]) -> Path:
    (folder / "spider").mkdir(parents=True)
    text = json.dumps({"train": train, "dev": dev})
    (folder / "spider" / "split.json").write_text(text, "utf-8")
    return folder


@pytest.fixture
def split(tmp_path: Path) -> Split:
    return load_split(write_split(tmp_path, [f"d{n}" for n in range(118)], ["kept"]))


def test_parts_are_disjoint_and_complete(split: Split) -> None:
    assert len(split.valid) == 12
    assert len(split.calib) == 8
    assert len(split.fit) == 98
    assert len(split.fit | split.valid | split.calib | split.dev) == 119


def test_folds_divide_what_is_trained_on(split: Split) -> None:
    parts = [split.fold(f"{number}/3") for number in range(3)]
    assert frozenset().union(*parts) == split.fit
    assert sum(map(len, parts)) == len(split.fit)
    assert split.within("0/3").fit == parts[0]
    assert split.without("0/3").fit == parts[1] | parts[2]
    assert split.without("0/3").valid == split.valid


@pytest.mark.parametrize("text", ["", "1", "2/2", "-1/2", "a/b", "0/0"])
def test_a_fold_that_is_none_is_refused(split: Split, text: str) -> None:
    with pytest.raises(ValueError, match="0/2"):
        split.fold(text)


def test_the_division_does_not_depend_on_the_order_in_the_file(tmp_path: Path) -> None:
    names = [f"d{n}" for n in range(118)]
    first = load_split(write_split(tmp_path / "a", names, []))
    random.Random(1).shuffle(names)
    assert load_split(write_split(tmp_path / "b", names, [])) == first


@pytest.mark.parametrize("name", ["kept", "demo", *sorted(HELD_BACK)])
def test_held_back_databases_are_refused(split: Split, name: str) -> None:
    pair = Pair(Question("x"), "SELECT 1", name, "spider")
    with pytest.raises(ValueError, match="never train"):
        check_trainable([pair], split)


def test_what_is_not_held_back_passes(split: Split) -> None:
    check_trainable([Pair(Question("x"), "SELECT 1", next(iter(split.fit)), "spider")], split)


@pytest.fixture(scope="module")
def data() -> Path:
    folder = os.environ.get("SQLWRIGHT_DATA", "")
    if not (Path(folder) / "spider" / "split.json").exists() or not folder:
        pytest.skip("SQLWRIGHT_DATA doesn't name a folder with spider/split.json")
    return Path(folder)


@pytest.mark.data
def test_no_training_pair_comes_from_a_measured_database(data: Path) -> None:
    split = load_split(data)
    pairs = [*load_pairs(data, split), *load_bird_pairs(data)]
    used = {pair.database for pair in pairs}
    assert len(pairs) > 10_000
    assert not used & (split.dev | split.valid | split.calib | HELD_BACK | {"demo"})
    assert not set(load_bird_schemas(data)) & (split.dev | HELD_BACK)


@pytest.mark.data
def test_no_training_question_is_a_measured_question(data: Path) -> None:
    split = load_split(data)
    rows = json.loads((data / "spider" / "train_spider.json").read_text("utf-8"))
    measured = {(r["db_id"], r["question"]) for r in rows if r["db_id"] not in split.fit}
    pairs = load_pairs(data, split)
    assert not measured & {(pair.database, pair.question.text) for pair in pairs}
