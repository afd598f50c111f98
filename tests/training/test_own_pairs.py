"""The folds of our own questions: each database in one, none that is set apart."""

from __future__ import annotations

import json
from pathlib import Path

from training.embedded.own_pairs import load_own_pairs, own_fold

from sqlwright.lab.datasets.spider import Split

ROWS = [
    {"database": "gym", "part": "fit", "spider": False},
    {"database": "lab", "part": "fit", "spider": False},
    {"database": "desk", "part": "fit", "spider": False},
    {"database": "weir", "part": "set_apart", "spider": False},
    {"database": "pets_1", "part": "fit", "spider": True},
    {"database": "world_1", "part": "fit", "spider": True},
]


def folder(tmp_path: Path) -> Path:
    rows = [row | {"question": "How many?", "evidence": "", "sql": "SELECT 1"} for row in ROWS]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def test_folds_divide_the_databases_that_are_trained_on(tmp_path: Path) -> None:
    first, second = (own_fold(folder(tmp_path), fold) for fold in ("0/2", "1/2"))
    assert first == {"desk", "lab"}
    assert second == {"gym"}


def test_a_split_keeps_the_pairs_over_its_own_databases(tmp_path: Path) -> None:
    split = Split(fit=frozenset({"pets_1"}), valid=frozenset(), calib=frozenset(), dev=frozenset())
    pairs = load_own_pairs(folder(tmp_path), "fit", split)
    assert {pair.database for pair in pairs} == {"gym", "lab", "desk", "pets_1"}
