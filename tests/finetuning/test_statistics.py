"""Statistics of examples that were counted by hand."""

from __future__ import annotations

import json

import pytest

from sqlwright.lab.finetuning.building.statistics import (
    balance,
    distribution,
    share_over,
    statistics,
)
from sqlwright.lab.finetuning.example import TrainingExample, Turn


def example(role: str, completion: str, db_id: str = "shop", **facts: str | int) -> TrainingExample:
    """An example with a prompt of four words."""
    turns = (Turn("user", "four words are here"),)
    return TrainingExample(
        completion, role, "step", completion, db_id, "mine", turns, completion, ("no",), facts
    )


@pytest.mark.parametrize(
    ("numbers", "told"),
    [
        ([], {"mean": 0.0, "p50": 0, "p95": 0, "max": 0}),
        ([7], {"mean": 7.0, "p50": 7, "p95": 7, "max": 7}),
        ([4, 1, 2, 3], {"mean": 2.5, "p50": 2, "p95": 4, "max": 4}),
        (list(range(1, 101)), {"mean": 50.5, "p50": 50, "p95": 95, "max": 100}),
    ],
)
def test_a_distribution_is_of_nearest_ranks(numbers: list[int], told: dict[str, float]) -> None:
    assert distribution(numbers) == told


def test_the_share_over_is_of_what_is_more() -> None:
    assert share_over([10, 11, 12, 13], 11) == 0.5
    assert share_over([], 11) == 0


BALANCES = {
    "linker": (
        [
            example("linker", '{"tables": ["a"]}', schema_tables=3),
            example("linker", '{"tables": ["b"]}', schema_tables=10),
            example("linker", '{"tables": ["a", "b"]}', schema_tables=3),
        ],
        {"tables_in_reply": {"1": 2, "2": 1}, "tables_in_schema": {"3": 2, "10": 1}},
    ),
    "generator": (
        [
            example("generator", "x", hardness="easy", distractors="weighted", injected=0),
            example("generator", "y", hardness="easy", distractors="weighted", injected=2),
        ],
        {"hardness": {"easy": 2}, "distractors": {"weighted": 2}, "injected": {"0": 1, "2": 1}},
    ),
    "critic": (
        [
            example("critic", "1", candidates=2),
            example("critic", "2", candidates=2),
            example("critic", "2", candidates=3),
        ],
        {"of_2": {"1": 1, "2": 1}, "of_3": {"2": 1}},
    ),
    "selector": (
        [example("selector", "A"), example("selector", "B"), example("selector", "B")],
        {"completions": {"A": 1, "B": 2}},
    ),
}


@pytest.mark.parametrize("role", BALANCES)
def test_labels_are_counted_by_role(role: str) -> None:
    examples, told = BALANCES[role]
    assert balance(examples, role) == told


def test_statistics_are_json() -> None:
    examples = [example("selector", "A"), example("selector", "B", "desk")]
    told = statistics(iter(examples), context_tokens=10)
    assert json.loads(json.dumps(told)) == told
    assert (told["examples"], told["questions"], told["databases"], told["rejected"]) == (
        2,
        2,
        2,
        2,
    )
    # 19 bytes at 3 a token are 7, the frame 8, the reply's capital 1
    assert told["tokens"] == {"mean": 16.0, "p50": 16, "p95": 16, "max": 16, "over_context": 1.0}
