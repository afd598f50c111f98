"""What is right, and whether a difference between two parsers may be chance."""

from __future__ import annotations

from typing import Any

import pytest
from training.embedded.parser.validate import paired, same_rows


def records(verdicts: list[list[bool | None]]) -> list[dict[str, Any]]:
    return [
        {"database": "d", "question": str(number), "verdicts": one}
        for number, one in enumerate(verdicts)
    ]


def test_only_changed_questions_count() -> None:
    before = records([[True], [False, True], [None], [False], [True], []])
    after = records([[True], [True], [True], [True, False], [False], []])
    assert paired(before, after) == {"gained": 3, "lost": 1, "p": pytest.approx(0.625)}


def test_equal_parsers_do_not_differ() -> None:
    same = records([[True], [False]])
    assert paired(same, same) == {"gained": 0, "lost": 0, "p": 1.0}


def test_many_gains_are_no_chance() -> None:
    before, after = records([[False]] * 12), records([[True]] * 12)
    assert paired(before, after)["p"] == pytest.approx(2 / 2**12)


def test_other_questions_are_refused() -> None:
    with pytest.raises(ValueError, match="different questions"):
        paired(records([[True]]), records([[True], [True]]))


@pytest.mark.parametrize(
    ("found", "ordered", "same"),
    [
        ([("a", 1), ("b", 2)], True, True),
        ([(1, "a"), (2, "b")], True, True),
        ([("b", 2), ("a", 1)], True, False),
        ([("b", 2), ("a", 1)], False, True),
        ([("a", 1.0), ("b", 2.0)], True, True),
        ([("a", 2), ("b", 1)], False, False),
        ([("a", 1)], False, False),
    ],
)
def test_rows(found: list[tuple[Any, ...]], ordered: bool, same: bool) -> None:
    assert same_rows([("a", 1), ("b", 2)], found, ordered=ordered) is same
