"""Writing and repairing as a recipe chains them: each sample on its own, nothing at hand lost."""

from __future__ import annotations

import random
from typing import Any

import pytest

from sqlwright.llm.scripted import Asked, Script, ScriptedModel, When
from sqlwright.messages import Missing
from sqlwright.protocols import Context, Run, Workspace
from sqlwright.recipes.loading import parse_recipe
from sqlwright.schema import SchemaView
from sqlwright.spending import Budget, Spending
from sqlwright.types import Question, State, Turn

RECIPE = """
name: chain
description: Three samples, each revised.
steps:
  - samples:
      count: 3
      workers: WORKERS
      steps:
        - generation.direct: {prompt: generation/query_plan, sampling: {temperature: 0.5}}
        - repair.execute
        - repeat_until: {condition: no_fault, rounds: 3, steps: [repair.revise]}
  - selection.first_valid
"""
ROWS = "SELECT name FROM customers"
ERROR = "SELECT nme FROM customers"
MUNICH = "SELECT name FROM customers WHERE city = 'Munchen'"


def chained(
    workspace: Workspace, *rules: When, workers: int = 1, run: Run | None = None, **asked: Any
) -> tuple[State, ScriptedModel]:
    chain = parse_recipe(RECIPE.replace("WORKERS", str(workers))).step.steps[0]
    model = ScriptedModel(Script(rules))
    question = Question("Who lives in Munich?", **asked)
    state = State(question, SchemaView(workspace.schema), looked_up=("retrieval.values",))
    return chain(state, Context(workspace, run or Run(), {"llm": model})), model


@pytest.mark.parametrize("workers", [1, 3])
def test_each_sample_is_a_chain_of_its_own(shop_workspace: Workspace, workers: int) -> None:
    def says(asked: Asked) -> str:
        return {0.5: ERROR}.get(asked.temperature, ROWS)

    after, model = chained(shop_workspace, When("", says), workers=workers)
    assert [one.sql for one in after.candidates] == [ROWS] * 3
    assert [one.sample for one in after.candidates] == [1, 2, 3]
    assert [one.parent and one.parent.sql for one in after.candidates] == [ERROR] * 3
    assert (
        sorted(step for step, _ in model.requests)
        == ["generation.direct"] * 3 + ["repair.revise"] * 3
    )


def test_bad_replies_cost_their_own_sample_only(shop_workspace: Workspace) -> None:
    after, _ = chained(
        shop_workspace,
        When("generation.direct", [ROWS, Missing("unavailable", "down"), ERROR]),
        When("repair.revise", "no query here"),
    )
    assert [(one.sql, one.sample) for one in after.candidates] == [(ROWS, 1), (ERROR, 3)]
    assert len(after.warnings) == 2


@pytest.mark.parametrize("seed", range(20))
def test_no_candidate_is_lost_or_worsened_whatever_is_replied(
    shop_workspace: Workspace, seed: int
) -> None:
    chance = random.Random(seed)
    replies = [
        ROWS, ERROR, MUNICH, "", "{", "```sql\n", "DELETE FROM customers", "SELECT " + "(" * 500,
        "SELECT * FROM customers; SELECT 1", "WITH RECURSIVE", "```sql\nSELECT 'a' -- b\n```",
        Missing("unavailable", "down"), Missing("rejected", "no"), "\x00", "SELECT 1" * 9_999,
    ]  # fmt: skip
    written: list[Any] = [ROWS, *(chance.choice(replies) for _ in range(2))]
    after, _ = chained(
        shop_workspace,
        When("generation.direct", written),
        When("repair.revise", lambda asked: chance.choice(replies)),
    )
    first, *_ = after.candidates
    assert (first.sql, first.sample) == (ROWS, 1)
    assert all(one.result is not None for one in after.candidates)


def test_a_spent_budget_leaves_what_is_written_and_what_the_machine_can_mend(
    shop_workspace: Workspace,
) -> None:
    run = Run(spending=Spending(Budget(calls=3)))
    after, _ = chained(
        shop_workspace,
        When("generation.direct", [ERROR, MUNICH, ROWS]),
        When("repair.revise", Missing("budget", "the budget of 3 calls is spent")),
        run=run,
    )
    assert [one.sql for one in after.candidates] == [ERROR, MUNICH.replace("un", "ün"), ROWS]
    assert any("used repair.literals" in warning.text for warning in after.warnings)


def test_earlier_turns_are_shown_without_what_was_not_typed(shop_workspace: Workspace) -> None:
    earlier = "SELECT name FROM customers WHERE city = 'München' AND country = 'Germany'"
    _, model = chained(
        shop_workspace,
        When("", ROWS),
        history=(Turn("Who lives in Germany?", f"{earlier} AND strftime('%Y', 'now') > 'x'"),),
    )
    text = model.requests[0][1].messages[-1].text
    assert earlier in str(text)
    assert "country = 'Germany' AND strftime('%Y', " in str(text.without("value"))
    assert "München" not in str(text.without("value"))
