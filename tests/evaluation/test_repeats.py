"""Runs that were set alike, and their spread."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlwright.lab.evaluation.pages.several_page import repeats, several_data, several_page
from tests.evaluation.run_folders import measured, questions, right, wrong


def answers(count: int) -> list:
    """Forty answers, so many of them right."""
    return [right(one) if place < count else wrong(one) for place, one in enumerate(questions(40))]


def test_runs_with_other_seeds_are_told_together(tmp_path: Path) -> None:
    runs = [
        measured(tmp_path / "one", answers(30), overrides=["samples.seed=1"], workers=2),
        measured(tmp_path / "two", answers(32), overrides=["samples.seed=2"]),
        measured(tmp_path / "other", answers(20), recipe="chess"),
        measured(tmp_path / "part", answers(34)[:36]),
        measured(tmp_path / "three", answers(34), overrides=["samples.seed=3"]),
    ]
    (found,) = repeats(runs)
    assert [run.folder.name for run in found.runs] == ["one", "two", "three"]
    assert found.accuracy.value == pytest.approx(0.8)
    assert found.accuracy.deviation == pytest.approx(0.05)
    assert found.told.startswith("3 runs were set alike: 80.0% at the mean, 5.0 points between")
    assert "between 67.6% and 92.4%" in found.told
    assert "3 runs were set alike" in several_page(runs)
    (data,) = several_data(runs)["repeats"]
    assert (data["runs"], len(data["folders"])) == (3, 3)


def test_an_unfinished_run_and_a_run_alone_are_no_repeats(tmp_path: Path) -> None:
    runs = [
        measured(tmp_path / "one", answers(30)),
        measured(tmp_path / "two", answers(32), finished=False),
    ]
    assert repeats(runs) == ()
