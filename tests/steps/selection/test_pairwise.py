"""The tournament of candidates: who meets whom, what judges see, and who wins."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest

from sqlwright.errors import BudgetSpent
from sqlwright.llm.scripted import Asked, Script, ScriptedModel, When
from sqlwright.messages import Capabilities, Missing, Reply, TokenLogprob
from sqlwright.protocols import Context, Run, Workspace
from sqlwright.steps.selection.judges import Pairwise
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

JUDGE = "selection.pairwise"


def shown(asked: Asked) -> tuple[str, str]:
    """Both queries of a prompt, as A and B."""
    first, second = re.findall(r"Query [AB]:\n(.+)", asked.prompt)
    return first, second


def prefers(*order: str) -> Callable[[Asked], str]:
    """A judge for whom an earlier query is better."""

    def says(asked: Asked) -> str:
        places = [next((n for n, q in enumerate(order) if q == one), 99) for one in shown(asked)]
        return "A" if places[0] < places[1] else "B"

    return says


def played(
    workspace: Workspace, says: Any, *queries: str, **options: Any
) -> tuple[State, ScriptedModel]:
    model = ScriptedModel(Script([When(JUDGE, says)]), capabilities=Capabilities(logprobs=True))
    context = Context(workspace, Run(seed=7), {"llm": model})
    return Pairwise(**options)(state_of(workspace, *queries), context), model


@pytest.mark.parametrize("judge", ["prompted", "letter"])
def test_the_judge_sees_the_pair_its_schema_and_its_results(
    judge: Any, shop_workspace: Workspace
) -> None:
    state = state_of(shop_workspace, COUNT, CITIES, COUNT_ID)
    model = ScriptedModel(Script(otherwise="A"))
    Pairwise(judge)(state, Context(shop_workspace, Run(), {"llm": model}))
    assert_prompt(f"pairwise_{judge}", model.requests[0][1].messages)


def test_representatives_meet_in_both_orders_side_by_side(shop_workspace: Workspace) -> None:
    says = prefers(CITIES, COUNT, ORDERS)
    _, model = played(shop_workspace, says, COUNT, CITIES, COUNT_ID, ORDERS, BROKEN)
    pairs = {shown(asked) for asked in model.script.asked}
    assert pairs == {(a, b) for a in (COUNT, CITIES, ORDERS) for b in (COUNT, CITIES, ORDERS)} - {
        (a, a) for a in (COUNT, CITIES, ORDERS)
    }
    assert len(model.script.asked) == 3 * 2
    assert all("product" not in asked.prompt for asked in model.script.asked)


@pytest.mark.parametrize("queries", [(), (BROKEN,), (COUNT,), (COUNT, COUNT_ID, BROKEN)])
@pytest.mark.parametrize("judge", ["prompted", "critic"])
def test_nothing_is_asked_where_all_agree(
    judge: Any, queries: tuple[str, ...], shop_workspace: Workspace
) -> None:
    state, model = played(shop_workspace, "A", *queries, judge=judge)
    assert model.script.asked == []
    assert [state.selected.sql if state.selected else None] == [queries[0] if queries else None]


def test_a_judge_wins_over_a_majority(shop_workspace: Workspace) -> None:
    state, _ = played(shop_workspace, prefers(CITIES), COUNT, COUNT_ID, COUNT, CITIES)
    assert chosen(state) == CITIES
    assert state.basis == Basis("agreement", 1, 4)
    assert state.confidence is None


def test_a_judge_that_takes_what_comes_first_leaves_it_to_the_majority(
    shop_workspace: Workspace,
) -> None:
    state, _ = played(shop_workspace, "A", CITIES, COUNT, COUNT_ID)
    assert chosen(state) == COUNT


def test_each_comparison_counts_as_often_as_the_other_result_was_written(
    shop_workspace: Workspace,
) -> None:
    # CITIES beats the cluster of two, ORDERS beats CITIES and loses against the two: of 4 others
    # CITIES wins 2 x 2 points, ORDERS 2, the two 1 + 2 each.
    def says(asked: Asked) -> str:
        beats = {(CITIES, COUNT), (ORDERS, CITIES), (COUNT, ORDERS)}
        return "A" if shown(asked) in beats else "B"

    state, _ = played(shop_workspace, says, COUNT, COUNT_ID, CITIES, ORDERS)
    assert chosen(state) == CITIES


def test_scores_are_those_of_the_algorithm_over_all_pairs(shop_workspace: Workspace) -> None:
    """Algorithm 3 as it stands in the paper, over every ordered pair of candidates."""
    queries = (COUNT, CITIES, COUNT_ID, ORDERS, COUNT, CITIES)
    result = {COUNT: 1, COUNT_ID: 1, CITIES: 2, ORDERS: 3}
    for wins in ({(1, 2), (2, 3), (3, 1)}, {(1, 2), (2, 1), (3, 2)}, {(2, 1), (3, 1), (3, 2)}, ()):
        points = [0] * len(queries)
        for i, one in enumerate(queries):
            for j, other in enumerate(queries):
                a, b = result[one], result[other]
                if i != j:
                    points[i if a == b or (a, b) in wins else j] += 1
        best = max(points)

        def says(asked: Asked, wins: Any = wins) -> str:
            a, b = (result[sql] for sql in shown(asked))
            return "A" if (a, b) in wins else "B"

        state, _ = played(shop_workspace, says, *queries)
        winners = {result[q] for q, p in zip(queries, points, strict=True) if p == best}
        assert result[chosen(state)] in winners


def weighing(first: float) -> Callable[[Asked], Reply]:
    """A judge with this probability of A, whose text says B."""
    likeliest = (("B", math.log(1 - first)), ("A", math.log(first)))
    place = TokenLogprob("B", math.log(1 - first), likeliest)
    return lambda asked: Reply("B", logprobs=(place,))


def test_what_the_judge_says_of_each_order_is_kept(shop_workspace: Workspace) -> None:
    def says(asked: Asked) -> Any:
        lost = shown(asked) == (ORDERS, CITIES)
        return "Both are fine." if lost else weighing(0.75)(asked)

    state, _ = played(shop_workspace, says, COUNT, COUNT_ID, CITIES, ORDERS, judge="logprobs")
    sql = {one.id: one.sql for one in state.candidates}
    kept = {tuple(sql[id_] for id_ in one.shown): one.votes for one in state.judgements}
    speaking = sql[state.judgements[0].shown[0]]
    assert {one.step for one in state.judgements} == {JUDGE}
    assert set(kept) == set(permutations((speaking, CITIES, ORDERS), 2))
    assert kept.pop((ORDERS, CITIES)) == ()
    assert all(votes == pytest.approx((0.75, 0.25)) for votes in kept.values())


def test_the_embedded_critic_is_kept_as_a_judge_of_pairs(shop_workspace: Workspace) -> None:
    critic = ScriptedCritic({CITIES: 0.9, COUNT: 0.2, ORDERS: 0.1})
    state = state_of(shop_workspace, COUNT, ORDERS, CITIES)
    after = Pairwise("critic")(state, Context(shop_workspace, Run(), {"critic": critic}))
    assert len(after.judgements) == 3  # each pair once: no order is shown
    best = next(one.id for one in state.candidates if one.sql == CITIES)
    for one in after.judgements:
        assert best not in one.shown or one.votes[one.shown.index(best)] == max(one.votes)


def test_a_letter_counts_by_its_probability(shop_workspace: Workspace) -> None:
    def says(asked: Asked) -> Reply:
        return weighing(0.45 if shown(asked)[0] == CITIES else 0.2)(asked)

    queries = (COUNT, CITIES)
    assert chosen(played(shop_workspace, says, *queries, judge="letter")[0]) == COUNT
    state, model = played(shop_workspace, says, *queries, judge="logprobs")
    assert chosen(state) == CITIES
    assert state.warnings == ()
    assert [request.logprobs for _, request in model.requests] == [8, 8]


def test_without_probabilities_the_letter_itself_counts(shop_workspace: Workspace) -> None:
    state, _ = played(shop_workspace, prefers(CITIES), COUNT, CITIES, ORDERS, judge="logprobs")
    assert chosen(state) == CITIES
    (note,) = state.warnings  # once, of six replies
    assert note.text == (
        "scripted/model gives no log probabilities, so its replies were scored by their text"
    )


def test_the_embedded_critic_judges_without_a_call(shop_workspace: Workspace) -> None:
    step = Pairwise("critic")
    assert (step.roles, step.language_models) == (("critic",), ())
    critic = ScriptedCritic({CITIES: 0.9, COUNT: 0.2, COUNT_ID: 0.3, ORDERS: 0.1}, caution="Old.")
    state = state_of(shop_workspace, COUNT, COUNT_ID, ORDERS, CITIES)
    after = step(state, Context(shop_workspace, Run(), {"critic": critic}))
    assert chosen(after) == CITIES
    assert [note.text for note in after.warnings] == ["Old."]
    unsure = replace(critic, probabilities={CITIES: 0.31, COUNT: 0.3})
    after = step(state, Context(shop_workspace, Run(), {"critic": unsure}))
    assert chosen(after) == COUNT  # two that are about as probable win by their number


@pytest.mark.parametrize(
    "bad", ["", "Both are fine.", '{"better":', Missing("unavailable", "down")]
)
def test_a_bad_reply_costs_one_comparison(bad: Any, shop_workspace: Workspace) -> None:
    def says(asked: Asked) -> Any:
        return bad if shown(asked) == (COUNT, CITIES) else prefers(CITIES)(asked)

    state, _ = played(shop_workspace, says, COUNT, CITIES, ORDERS)
    assert chosen(state) == CITIES
    assert state.warnings[0].text == "1 of 6 judgements of queries were not made"


@pytest.mark.parametrize("bad", ["No idea.", Missing("unavailable", "down")])
def test_if_every_reply_is_bad_the_largest_cluster_is_taken(
    bad: Any, shop_workspace: Workspace
) -> None:
    state, _ = played(shop_workspace, bad, CITIES, COUNT, COUNT_ID)
    assert chosen(state) == COUNT
    assert "no query was judged" in state.warnings[0].text


def test_calls_are_counted_beforehand_and_a_spent_budget_goes_on(shop_workspace: Workspace) -> None:
    state = state_of(shop_workspace, COUNT, CITIES, ORDERS, COUNT_ID)
    assert Pairwise().calls(state) == 6
    assert Pairwise("critic").calls(state) == 0
    with pytest.raises(BudgetSpent):
        played(shop_workspace, Missing("budget", "no calls left"), COUNT, CITIES)


@pytest.mark.parametrize(("reading", "said"), [("letter", "to the letter"), ("sense", "by sense")])
def test_the_judge_reads_evidence_as_the_generator_does(
    reading: Any, said: str, shop_workspace: Workspace
) -> None:
    _, model = played(shop_workspace, "A", COUNT, CITIES, evidence=reading)
    told = model.script.asked[0].prompt
    assert ("taken over to the letter" in told) is (reading == "letter")
    assert ("can't mean what it says" in told) is (reading == "sense")


def test_no_stored_value_is_left_where_values_stay_home(shop_workspace: Workspace) -> None:
    lists = ("SELECT name FROM customers", "SELECT name FROM customers WHERE city = 'München'")
    _, model = played(shop_workspace, "A", *lists)
    for _, request in model.requests:
        told = "".join(str(message.text.without("value")) for message in request.messages)
        assert "München" not in told
        assert "Ada" not in told
    assert "Ada Brandt" in model.script.asked[0].prompt
