"""Conditions that a run has to meet."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlwright.lab.datasets.example import Example
from sqlwright.lab.evaluation.golden.baseline import Baseline, KeptAnswer, taken
from sqlwright.lab.evaluation.golden.gate import Gate
from sqlwright.lab.evaluation.records import Record

ASKED = tuple(
    Example(str(number), "shop", f"Question {number}?", "SELECT 1", Path("shop.sqlite"))
    for number in range(4)
)


def record(number: int, *, right: bool, status: str = "answered", message: str = "") -> Record:
    errors = [{"class": "order", "shown_by": "the same rows in another order"}]
    return Record(
        str(number), "shop", f"Question {number}?", "SELECT 1", "SELECT 1", status,
        {"bird": right}, message=message, errors=None if right else errors,
    )  # fmt: skip


RUN = (
    record(0, right=True),
    record(1, right=False),
    record(2, right=False, status="gold", message="no such table: t"),
)
"""Question 3 wasn't asked: its database couldn't be opened."""


@pytest.mark.parametrize(("least", "under"), [(None, False), (0.25, False), (0.26, True)])
def test_what_was_not_judged_counts_as_wrong(least: float | None, under: bool) -> None:
    checked = Gate(least=least).check(ASKED, RUN, "bird")
    assert (checked.share.hits, checked.share.total) == (1, 4)
    assert checked.under is under
    assert checked.as_dict()["passed"] is not under
    assert checked.as_dict()["since_baseline"] is None


@pytest.mark.parametrize(("allowed", "lost"), [(2, True), (3, False)])
def test_answers_that_are_lost_are_told_with_the_reason(allowed: int, lost: bool) -> None:
    before = Baseline("bird", {str(number): KeptAnswer(number > 0, "") for number in range(4)})
    checked = Gate(baseline=before, lost=allowed).check(ASKED, RUN, "bird")
    assert checked.lost is lost
    told = checked.as_dict()["since_baseline"]
    assert told["lost"] == [
        {
            "id": "1",
            "question": "Question 1?",
            "reason": "order: the same rows in another order",
        },
        {
            "id": "2",
            "question": "Question 2?",
            "reason": "its gold query doesn't run: no such table: t",
        },
        {
            "id": "3",
            "question": "Question 3?",
            "reason": "not asked: its database can't be opened",
        },
    ]
    assert told["mended"] == [{"id": "0", "question": "Question 0?"}]


def test_a_run_is_as_good_as_its_own_baseline() -> None:
    checked = Gate(least=0.25, baseline=taken(RUN, "bird")).check(ASKED, RUN, "bird")
    assert checked.as_dict()["passed"] is True
