"""The driver of sets: going on, refusing, reasons, records."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from sqlwright.errors import DatasetError
from sqlwright.lab.finetuning.building.build import FOLDER, build
from sqlwright.lab.finetuning.building.set_folder import SetFolder
from sqlwright.lab.finetuning.example import read_examples
from tests.finetuning.built import QUESTIONS, changed, data_set, files_of, made, plan_of


def test_what_was_stopped_goes_on_where_it_was(
    tmp_path: Path, database_files: dict[str, Path]
) -> None:
    databases = dict.fromkeys(("shop1", "shop2", "shop3"), database_files["shop"])
    asked = data_set(tmp_path / "data", databases, dict(list(QUESTIONS.items())[:2]))
    plan = plan_of("linker", [asked], tmp_path / "set")

    def stop(done: int, _whole: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(plan, progress=stop)
    parts = tmp_path / "set" / FOLDER
    kept = (parts / "00000.jsonl").stat()
    assert {one.name for one in parts.glob("*.jsonl")} == {"00000.jsonl"}
    with pytest.raises(DatasetError, match="the beginning of a set of other data"):
        build(replace(plan, seed=9))

    told: list[tuple[int, int]] = []

    def look(done: int, whole: int) -> None:
        told.append((done, whole))
        assert (parts / "00000.jsonl").stat().st_mtime_ns == kept.st_mtime_ns

    went_on, _ = made(plan, look)
    assert told[0] == (0, 6)
    assert told[-1] == (6, 6)
    assert not parts.exists()
    whole, _ = made(replace(plan, out=tmp_path / "whole"))
    assert files_of(went_on.path) == files_of(whole.path)


def test_a_set_that_is_there_is_given_back_and_another_refused(
    tmp_path: Path, database_files: dict[str, Path]
) -> None:
    asked = data_set(tmp_path / "data", {"shop": database_files["shop"]})
    plan = plan_of("linker", [asked], tmp_path / "set")
    first, _ = made(plan)
    written = (first.path / "set.json").stat().st_mtime_ns
    again = build(plan, progress=lambda done, whole: pytest.fail(f"built anew: {done} of {whole}"))
    assert again == first
    assert (first.path / "set.json").stat().st_mtime_ns == written
    with pytest.raises(DatasetError, match="holds a set of other data") as raised:
        build(replace(plan, context_tokens=4_096))
    assert raised.value.exit_code == 6


def test_what_was_changed_or_is_no_set_is_told(
    tmp_path: Path, database_files: dict[str, Path]
) -> None:
    with pytest.raises(DatasetError, match="holds no training set"):
        SetFolder.open(tmp_path)
    asked = data_set(tmp_path / "data", {"shop": database_files["shop"]})
    folder, _ = made(plan_of("linker", [asked], tmp_path / "set"))
    record = json.loads((folder.path / "set.json").read_text())
    for key, value, named in (
        ("version", 99, "format 99"),
        ("seed", "x", "seed"),
        ("digests", {}, "no digest"),
    ):
        (folder.path / "set.json").write_text(json.dumps(record | {key: value}))
        with pytest.raises(DatasetError, match=named):
            SetFolder.open(folder.path)
    (folder.path / "set.json").write_text(json.dumps(record))
    assert SetFolder.open(folder.path) == folder
    folder.train.write_text(folder.train.read_text() + "\n")
    with pytest.raises(DatasetError, match="isn't as it was built"):
        SetFolder.open(folder.path)


def test_whole_databases_are_held_out_and_every_question_is_accounted_for(
    tmp_path: Path, database_files: dict[str, Path]
) -> None:
    shop = database_files["shop"]
    databases = {"shop": shop, "gone": tmp_path / "none"}
    databases["wide"] = changed(shop, tmp_path / "w.sqlite", "ALTER TABLE lines ADD COLUMN n TEXT")
    questions = {**QUESTIONS, "What else?": "SELECT nothing FROM nowhere"}
    asked = data_set(tmp_path / "data", databases, questions)
    # The same question twice over the same database is one example.
    asked = replace(asked, examples=(*asked.examples, replace(asked.examples[0], id="again")))
    folder, examples = made(plan_of("linker", [asked], tmp_path / "set", share_held_out=0.34))
    about = folder.about
    held = list(read_examples(folder.held_out))
    assert set(about.databases["train"]) | set(about.databases["held_out"]) == set(databases)
    assert {one.db_id for one in held} <= set(about.databases["held_out"])
    assert {one.db_id for one in examples} <= set(about.databases["train"])
    assert len(about.held_out_questions) >= len(held)
    assert dict(about.skipped) == {
        "the database isn't there": 4,
        "the gold query fails": 2,
        "the same example twice": 1,
    }
    assert len(examples) + len(held) + 7 == len(asked.examples)
    assert about.sources[0].files


def test_a_set_without_an_example_is_no_set(tmp_path: Path) -> None:
    asked = data_set(tmp_path / "data", {"gone": tmp_path / "none"})
    with pytest.raises(DatasetError, match=r"the database isn't there \(3\)"):
        made(plan_of("linker", [asked], tmp_path / "set"))


def test_a_database_to_leave_out_must_be_there(
    tmp_path: Path, database_files: dict[str, Path]
) -> None:
    asked = data_set(tmp_path / "data", {"shop": database_files["shop"]})
    with pytest.raises(DatasetError, match=r"no question is over moon"):
        made(plan_of("linker", [asked], tmp_path / "set", without=["moon"]))
