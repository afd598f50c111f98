"""Questions of our own: each runs, says something, and was read alike by a second person."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from training.databases import build, names
from training.embedded.split import load_split
from training.export import UNANSWERABLE
from training.parts import PROBABILITIES, SET_APART, part_of
from training.questions import AGREEMENT, FOLDER, agree, load, questions_file, rows_of, settled

DATA = os.environ.get("SQLWRIGHT_DATA")
FILES = sorted(FOLDER.rglob("*.jsonl"))
WITH_QUESTIONS = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
OVER_OURS = pytest.mark.parametrize(
    "path", sorted(FOLDER.glob("*.jsonl")), ids=lambda path: path.stem
)
WHY = {
    *("missing_column", "missing_time", "wrong_grain"),
    *("opinion", "forecast", "other_database"),
}
MOST_ALIKE = 0.02


def masked(question: str) -> str:
    """The wording of a question without its numbers, names and quoted values."""
    plain = re.sub(r"'[^']*'|\"[^\"]*\"|\b[A-Z0-9][\w-]*", "_", question)
    return " ".join(plain.casefold().split())


@OVER_OURS
def test_writer_and_reader_agree_on_what_is_kept(path: Path, tmp_path: Path) -> None:
    database = build(path.stem, tmp_path)
    for one in load(path):
        rows = rows_of(database, one["sql"])
        assert 0 < len(rows) <= 200, one["id"]
        assert agree(rows, rows_of(database, one["reader_sql"])), one["id"]


@WITH_QUESTIONS
def test_each_question_says_where_it_is_from(path: Path) -> None:
    pairs = load(path)
    assert path == questions_file(path.stem)
    assert len({one["id"] for one in pairs}) == len(pairs)
    for one in pairs:
        assert one["database"] == path.stem
        assert one["writer"] != one["reader"]
        assert bool(one["evidence"]) is (one["evidence_matters"] is not None), one["id"]


def test_what_was_agreed_on_is_what_is_kept() -> None:
    counts = json.loads(AGREEMENT.read_text("utf-8"))
    assert {path.stem: len(load(path)) for path in FILES} == {
        name: count["agreed"] for name, count in counts.items()
    }


def test_requests_that_cannot_be_answered_say_what_is_lacking() -> None:
    for path in UNANSWERABLE.rglob("*.jsonl"):
        for one in load(path):
            assert one["database"] == path.stem
            assert one["why"] in WHY, one["id"]
            assert all(one[key] for key in ("lacking", "question", "writer")), one["id"]


def test_databases_set_apart_are_apart() -> None:
    assert not SET_APART & PROBABILITIES
    assert {part_of(name) for name in names()} == {"fit", "probabilities", "set_apart"}
    assert part_of("playhouse") == "set_apart" != part_of("vet_group")


@pytest.mark.skipif(not DATA, reason="SQLWRIGHT_DATA names no folder with data sets")
def test_spiders_databases_that_are_set_apart_were_never_trained_on() -> None:
    split = load_split(Path(DATA or ""))
    assert SET_APART - set(names()) <= split.valid
    assert PROBABILITIES - set(names()) <= split.calib
    fitted = {path.stem for path in FOLDER.glob("spider/*.jsonl")} - SET_APART - PROBABILITIES
    assert fitted <= split.fit


@WITH_QUESTIONS
def test_hardly_two_share_their_wording(path: Path) -> None:
    counts = Counter(masked(one["question"]) for one in load(path))
    alike = sum(count for count in counts.values() if count > 1)
    assert alike <= MOST_ALIKE * counts.total()


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ([(1, "a"), (2, "b")], [("b", 2), ("a", 1)], True),
        ([(1, "a")], [(1, "a"), (1, "a")], False),
        ([(1, 2), (2, 1)], [(1, 2), (1, 2)], False),
        ([(1,)], [(1, 1)], False),
        ([], [], True),
    ],
)
def test_rows_are_compared_in_any_order(one: Any, other: Any, same: bool) -> None:
    assert agree(one, other) is same


def test_only_what_is_agreed_on_is_kept(tmp_path: Path) -> None:
    database = build("vet_group", tmp_path)
    written = [
        {"id": "a", "sql": "SELECT 1.00001"},
        {"id": "b", "sql": "SELECT 1"},
        {"id": "c", "sql": "SELECT 3"},
        {"id": "d", "sql": "SELECT 4"},
    ]
    read = {
        "a": {"sql": "SELECT 1", "reader": "r"},
        "b": {"sql": "SELECT 2", "reader": "r"},
        "c": {"sql": "SELECT nothing", "reader": "r"},
    }
    kept, others = settled(written, read, database)
    assert [one["id"] for one in kept] == ["a"]
    assert kept[0]["reader_sql"] == "SELECT 1"
    assert others == ["b", "c"]
