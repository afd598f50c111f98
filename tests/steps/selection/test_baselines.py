"""The baselines of the tournament: a ranker that sees all candidates at once, and chance."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import pytest

from sqlwright.llm.scripted import Asked, Script, ScriptedModel, When
from sqlwright.messages import Missing
from sqlwright.protocols import Context, Run, Workspace
from sqlwright.steps.selection.judges import Ranker
from sqlwright.steps.selection.unjudged import ByChance
from sqlwright.types import Basis, State
from tests.golden import assert_prompt
from tests.steps.selection.test_unit_tests import (
    BROKEN,
    CITIES,
    COUNT,
    COUNT_ID,
    ORDERS,
    chosen,
    state_of,
)


def ranked(
    workspace: Workspace, says: Any, *queries: str, **options: Any
) -> tuple[State, ScriptedModel]:
    model = ScriptedModel(Script([When("selection.ranker", says)]))
    context = Context(workspace, Run(seed=7), {"llm": model})
    return Ranker(**options)(state_of(workspace, *queries), context), model


def names(sql: str) -> Any:
    """A judge that names this query."""

    def says(asked: Asked) -> str:
        listed = {query: int(n) for n, query in re.findall(r"Query (\d+):\n(.+)", asked.prompt)}
        return json.dumps({"reasoning": "", "best": listed[sql]})

    return says


def test_the_ranker_sees_every_different_query_with_its_result(shop_workspace: Workspace) -> None:
    queries = (COUNT, CITIES, COUNT_ID, COUNT, BROKEN)
    state, model = ranked(shop_workspace, names(CITIES), *queries)
    assert chosen(state) == CITIES
    assert state.basis == Basis("agreement", 1, 5)
    ((_, request),) = model.requests
    assert_prompt("ranker", request.messages)


@pytest.mark.parametrize("queries", [(), (BROKEN,), (COUNT, COUNT_ID, BROKEN)])
def test_the_ranker_is_not_asked_where_all_agree(
    queries: tuple[str, ...], shop_workspace: Workspace
) -> None:
    state, model = ranked(shop_workspace, "", *queries)
    assert model.requests == []
    assert [state.selected.sql if state.selected else None] == [queries[0] if queries else None]


@pytest.mark.parametrize(
    ("says", "sql"),
    [
        ('{"best": 2}', CITIES),
        ('{"reasoning": null, "best": 2}', CITIES),
        ('{"reasoning": "x", "best": 9}', COUNT),
        ("The first.", COUNT),
        (Missing("unavailable", "down"), COUNT),
    ],
)
def test_a_reply_that_names_none_leaves_the_largest_cluster(
    says: Any, sql: str, shop_workspace: Workspace
) -> None:
    state, _ = ranked(shop_workspace, says, COUNT, CITIES)
    assert chosen(state) == sql
    told = [note.text for note in state.warnings]
    assert bool(told) == (sql == COUNT)
    assert all("no query was judged" in text for text in told)


def test_chance_draws_among_those_that_ran_and_by_seed(shop_workspace: Workspace) -> None:
    state = state_of(shop_workspace, COUNT, BROKEN, CITIES, ORDERS)
    drawn = [
        chosen(ByChance()(state, Context(shop_workspace, Run(seed=seed))))
        for seed in (*range(60), *range(60))
    ]
    assert drawn[:60] == drawn[60:]
    counted = Counter(drawn[:60])
    assert set(counted) == {COUNT, CITIES, ORDERS}
    assert max(counted.values()) < 35


def test_chance_among_none_gives_the_error(shop_workspace: Workspace) -> None:
    state = state_of(shop_workspace, BROKEN)
    assert chosen(ByChance()(state, Context(shop_workspace, Run()))) == BROKEN
