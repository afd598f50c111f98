"""Examples of the selector: pairs of a right and a wrong result, in both orders alike."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest

from sqlwright.errors import ConfigError
from sqlwright.lab.finetuning.roles.registry import find_role
from sqlwright.lab.finetuning.roles.selector import ROLE, Selector
from sqlwright.protocols import Workspace
from tests.finetuning.asking import SKIPPED, TAUGHT, asked_of, by_rule


@pytest.mark.parametrize("case", TAUGHT, ids=lambda case: case["question"])
@pytest.mark.parametrize("orders", ["shuffled", "both"])
def test_each_letter_is_that_of_the_right_query(
    case: Any, orders: Any, shop_workspace: Workspace
) -> None:
    asked, skipped = asked_of(case, shop_workspace)
    examples = Selector(orders=orders).examples(asked)
    assert len(examples) == case["selector"] * (2 if orders == "both" else 1)
    assert not skipped
    for one in examples:
        shown = dict(re.findall(r"Query ([AB]):\n(.+)", one.messages[-1].text))
        (other,) = one.rejected
        assert {one.completion, other} == {"A", "B"}
        assert by_rule(asked, shown[one.completion])
        assert not by_rule(asked, shown[other])
        assert one.facts["hinted"] == case.get("hinted", False)
    if orders == "both":
        assert Counter(one.completion for one in examples) == dict.fromkeys("AB", case["selector"])


@pytest.mark.parametrize("case", SKIPPED, ids=lambda case: case["question"])
def test_a_question_that_teaches_nothing_is_told(case: Any, shop_workspace: Workspace) -> None:
    asked, skipped = asked_of(case, shop_workspace)
    assert list(ROLE.examples(asked)) == []
    assert skipped == Counter([case["skipped"]])


def test_the_order_is_by_chance_and_the_union_of_the_schema_is_shown(
    shop_workspace: Workspace,
) -> None:
    counted: Counter[str] = Counter()
    for seed in range(100):
        asked, _ = asked_of(TAUGHT[2], shop_workspace, seed=seed)
        for one in Selector(pairs=1).examples(asked):
            counted[one.completion] += 1
            assert "status" in one.messages[-1].text
            assert "product" not in one.messages[-1].text
    assert min(counted["A"], counted["B"]) > 30
    assert counted.total() == 100


def test_a_judge_that_reasons_is_refused(shop_workspace: Workspace) -> None:
    asked, _ = asked_of(TAUGHT[0], shop_workspace, "selection.pairwise.judge=prompted")
    with pytest.raises(ConfigError, match="more than a letter"):
        ROLE.examples(asked)
    assert find_role("selector") is ROLE
