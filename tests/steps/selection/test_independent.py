"""The independent critic: it sees one candidate at a time, and the surest wins."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import pytest

from sqlwright.llm.scripted import Asked, Script, ScriptedModel, When
from sqlwright.messages import Capabilities, Missing, Reply, TokenLogprob
from sqlwright.protocols import Context, Run, Workspace
from sqlwright.steps.selection.judges import Independent
from sqlwright.types import Basis, State
from tests.golden import assert_prompt
from tests.scripted import ScriptedCritic
from tests.steps.selection.test_unit_tests import (
    BROKEN,
    CITIES,
    COUNT,
    COUNT_ID,
    ORDERS,
    chosen,
    state_of,
)


def shown(asked: Asked) -> str:
    (sql,) = re.findall(r"The query:\n(.+)", asked.prompt)
    return str(sql)


def says(right: Mapping[str, Any]) -> Any:
    """A judge of these queries; what isn't in it is wrong."""
    return lambda asked: right.get(shown(asked), "no")


def sure(yes: float) -> Reply:
    """A reply with this probability of yes, whose text says no."""
    likeliest = (("no", math.log(1 - yes)), ("yes", math.log(yes)))
    return Reply("no", logprobs=(TokenLogprob("no", math.log(1 - yes), likeliest),))


def judged(
    workspace: Workspace, reply: Any, *queries: str, **options: Any
) -> tuple[State, ScriptedModel]:
    rules = [When("selection.independent", reply)]
    model = ScriptedModel(Script(rules), capabilities=Capabilities(logprobs=True))
    context = Context(workspace, Run(seed=7), {"llm": model})
    return Independent(**options)(state_of(workspace, *queries), context), model


@pytest.mark.parametrize("judge", ["logprobs", "prompted"])
def test_each_result_is_judged_alone(judge: Any, shop_workspace: Workspace) -> None:
    queries = (COUNT, CITIES, COUNT_ID, ORDERS, BROKEN)
    state, model = judged(shop_workspace, says({CITIES: "yes"}), *queries, judge=judge)
    assert chosen(state) == CITIES
    assert state.basis == Basis("agreement", 1, 5)
    assert sorted(map(shown, model.script.asked)) == sorted((COUNT, CITIES, ORDERS))
    for asked in model.script.asked:
        assert not {COUNT, CITIES, COUNT_ID, ORDERS, BROKEN} - {shown(asked)} & set(
            asked.prompt.split("\n")
        )
    assert_prompt(f"independent_{judge}", model.requests[0][1].messages)


def test_the_surest_wins_where_there_are_probabilities(shop_workspace: Workspace) -> None:
    replies = {COUNT: sure(0.3), CITIES: sure(0.45), ORDERS: sure(0.1)}
    state, model = judged(shop_workspace, says(replies), COUNT, COUNT_ID, CITIES, ORDERS)
    assert chosen(state) == CITIES
    assert {request.logprobs for _, request in model.requests} == {8}


@pytest.mark.parametrize("word", ["yes", "no"])
def test_a_tie_goes_to_the_larger_cluster(word: str, shop_workspace: Workspace) -> None:
    state, _ = judged(shop_workspace, word, CITIES, COUNT, COUNT_ID)
    assert chosen(state) == COUNT


@pytest.mark.parametrize("queries", [(), (BROKEN,), (COUNT,), (COUNT, COUNT_ID, BROKEN)])
@pytest.mark.parametrize("judge", ["logprobs", "prompted", "critic"])
def test_nothing_is_asked_where_all_agree(
    judge: Any, queries: tuple[str, ...], shop_workspace: Workspace
) -> None:
    state, model = judged(shop_workspace, "yes", *queries, judge=judge)
    assert model.requests == []
    assert [state.selected.sql if state.selected else None] == [queries[0] if queries else None]


@pytest.mark.parametrize("bad", ["", "No idea.", Missing("unavailable", "down")])
def test_a_lost_verdict_is_worse_than_right_and_better_than_wrong(
    bad: Any, shop_workspace: Workspace
) -> None:
    state, _ = judged(shop_workspace, says({COUNT: bad, CITIES: "yes"}), COUNT, CITIES)
    assert chosen(state) == CITIES
    assert [note.text for note in state.warnings] == [
        "scripted/model gives no log probabilities, so its replies were scored by their text",
        "1 of 2 judgements of queries were not made",
    ]
    state, _ = judged(shop_workspace, says({CITIES: bad}), COUNT, COUNT_ID, CITIES)
    assert chosen(state) == CITIES


@pytest.mark.parametrize("bad", ["No idea.", Missing("unavailable", "down")])
def test_if_every_verdict_is_lost_the_largest_cluster_is_taken(
    bad: Any, shop_workspace: Workspace
) -> None:
    state, _ = judged(shop_workspace, bad, CITIES, COUNT, COUNT_ID)
    assert chosen(state) == COUNT
    assert "no query was judged" in state.warnings[0].text


class SeesOne(ScriptedCritic):
    """A critic that must not see two."""

    def assess(self, state: State, candidates: Any) -> Any:
        assert len(candidates) == 1
        return super().assess(state, candidates)


def test_the_embedded_critic_sees_one_at_a_time(shop_workspace: Workspace) -> None:
    step = Independent("critic")
    assert (step.roles, step.language_models) == (("critic",), ())
    critic = SeesOne({CITIES: 0.9, COUNT: 0.2, ORDERS: 0.1}, caution="Old.")
    state = state_of(shop_workspace, COUNT, COUNT_ID, ORDERS, CITIES)
    after = step(state, Context(shop_workspace, Run(), {"critic": critic}))
    assert chosen(after) == CITIES
    assert [note.text for note in after.warnings] == ["Old."]


def test_calls_are_counted_beforehand(shop_workspace: Workspace) -> None:
    state = state_of(shop_workspace, COUNT, CITIES, ORDERS, COUNT_ID)
    assert Independent().calls(state) == 3
    assert Independent("critic").calls(state) == 0
