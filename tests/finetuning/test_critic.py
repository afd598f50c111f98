"""Examples of the critic: each number leads the step to a right query; no place is likelier."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from sqlwright.errors import ConfigError
from sqlwright.lab.finetuning.example import TrainingExample
from sqlwright.lab.finetuning.roles.critic import ROLE, Critic
from sqlwright.lab.finetuning.roles.registry import find_role
from sqlwright.protocols import Workspace
from tests.finetuning.asking import SKIPPED, TAUGHT, asked_of, by_rule


def listed(example: TrainingExample) -> dict[str, str]:
    """The queries of a prompt by their numbers."""
    return dict(re.findall(r"Query (\d+):\n(.+)", example.messages[-1].text))


@pytest.mark.parametrize("case", TAUGHT, ids=lambda case: case["question"])
@pytest.mark.parametrize("form", ["joint", "pairs"])
def test_each_reply_names_a_right_query_and_the_rejected_ones_are_wrong(
    case: Any, form: str, shop_workspace: Workspace
) -> None:
    asked, skipped = asked_of(case, shop_workspace, f"selection.multi_sample.form={form}")
    examples = ROLE.examples(asked)
    assert not skipped
    assert examples
    if form == "joint":
        assert len(examples) == case["critic"]
    for one in examples:
        queries = listed(one)
        assert by_rule(asked, queries[one.completion])
        if case["question"].startswith("How many"):  # all right queries have one result
            assert one.completion == min(n for n, sql in queries.items() if by_rule(asked, sql))
        wrong = {n for n, sql in queries.items() if not by_rule(asked, sql)}
        assert wrong
        assert set(one.rejected) == wrong
        assert one.facts["hinted"] == case.get("hinted", False)
        assert len(queries) == one.facts["candidates"] <= 5
        assert len(queries) - len(wrong) == one.facts["right"]
    assert len({one.messages for one in examples}) == len({one.id for one in examples})


@pytest.mark.parametrize("case", SKIPPED, ids=lambda case: case["question"])
def test_a_question_that_teaches_nothing_is_told(case: Any, shop_workspace: Workspace) -> None:
    asked, skipped = asked_of(case, shop_workspace)
    assert ROLE.examples(asked) == ()
    assert skipped == Counter([case["skipped"]])


@pytest.mark.parametrize(("order", "even"), [("shuffled", True), ("ranked", False)])
def test_shuffled_labels_are_even_and_ranked_ones_tell_the_size_of_clusters(
    order: str, even: bool, shop_workspace: Workspace
) -> None:
    case = {
        "question": "How many customers are there?",
        "gold": "SELECT count(*) FROM customers",
        "sampled": [
            "SELECT count(*) FROM customers",
            "SELECT count(*) FROM customers",
            "SELECT count(city) FROM customers",
            "SELECT count(*) FROM orders WHERE status = 'open'",
            "SELECT count(*) FROM lines",
        ],
    }
    counted: Counter[str] = Counter()
    for seed in range(200):
        asked, _ = asked_of(
            case, shop_workspace, f"selection.multi_sample.order={order}", seed=seed
        )
        (one,) = Critic(orders=1).examples(replace(asked, scorer=asked.scorer))
        counted[one.completion] += 1
    if even:
        assert sorted(counted) == ["1", "2", "3", "4"]
        assert min(counted.values()) > 30, counted  # 50 each are expected
    else:
        assert counted == {"1": 200}


def test_the_prompt_is_the_one_of_the_step_in_inference(shop_workspace: Workspace) -> None:
    asked, _ = asked_of(TAUGHT[0], shop_workspace)
    for one in ROLE.examples(asked):
        assert one.step == "selection.multi_sample"
        assert one.messages[-1].text.rstrip().endswith("Only the number:")
        assert "no such table: clients" in one.messages[-1].text
        assert "customers" in one.messages[-1].text


def test_more_than_one_prompt_holds_is_told_and_not_guessed(shop_workspace: Workspace) -> None:
    asked, skipped = asked_of(TAUGHT[1], shop_workspace, "selection.multi_sample.window=2")
    assert ROLE.examples(asked) == ()
    assert skipped == Counter(["no prompt shows all candidates"])


def test_a_judge_that_reasons_is_refused(shop_workspace: Workspace) -> None:
    asked, _ = asked_of(TAUGHT[0], shop_workspace, "selection.multi_sample.judge=prompted")
    with pytest.raises(ConfigError, match="more than a number"):
        ROLE.examples(asked)
    assert find_role("critic") is ROLE
