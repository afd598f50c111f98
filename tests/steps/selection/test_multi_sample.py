"""The multi-sample critic: what it sees at once, how votes count, and what becomes of too much."""

from __future__ import annotations

import itertools
import json
import math
import random
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from sqlwright.errors import BudgetSpent
from sqlwright.llm.scripted import Asked, Script, ScriptedModel, When
from sqlwright.local.steps.critic import CriticSelection
from sqlwright.messages import Capabilities, Missing, Reply, TokenLogprob
from sqlwright.protocols import Context, Run, Workspace
from sqlwright.recipes.loading import parse_recipe
from sqlwright.steps.selection.agreement import clusters
from sqlwright.steps.selection.judges import MultiSample
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

CRITIC = "selection.multi_sample"
MANY = tuple(f"SELECT {number} AS n FROM customers LIMIT 1" for number in range(10, 19))
"""Nine queries with nine results."""


def shown(asked: Asked) -> list[str]:
    """The queries of a prompt in their order."""
    return re.findall(r"Query \d+:\n(.+)", asked.prompt)


def prefers(*order: str) -> Callable[[Asked], str]:
    """A judge for whom an earlier query is better."""

    def says(asked: Asked) -> str:
        listed = shown(asked)
        ranked = sorted(listed, key=lambda one: order.index(one) if one in order else 99)
        number = listed.index(ranked[0]) + 1
        return json.dumps({"reasoning": "", "correct_sql": number})

    return says


def judged(
    workspace: Workspace, says: Any, *queries: str, **options: Any
) -> tuple[State, ScriptedModel]:
    model = ScriptedModel(Script([When(CRITIC, says)]), capabilities=Capabilities(logprobs=True))
    context = Context(workspace, Run(seed=7), {"llm": model})
    return MultiSample(**options)(state_of(workspace, *queries), context), model


@pytest.mark.parametrize("judge", ["prompted", "number"])
def test_the_critic_sees_all_at_once_with_results_and_errors(
    judge: Any, shop_workspace: Workspace
) -> None:
    queries = (CITIES, COUNT, COUNT_ID, COUNT, ORDERS, BROKEN)
    state, model = judged(shop_workspace, prefers(ORDERS), *queries, judge=judge)
    assert chosen(state) == ORDERS
    assert state.basis == Basis("agreement", 1, 6)
    assert state.confidence is None
    ((_, request),) = model.requests
    assert_prompt(f"multi_sample_{judge}", request.messages)


def test_results_are_cut_to_rows_columns_and_cells_with_their_size(
    shop_workspace: Workspace,
) -> None:
    wide = "SELECT id, name, city, country, id, 'a text of more than twenty letters' FROM customers"
    columns = "SELECT 'a text of more than twenty letters', 2 FROM customers"
    _, model = judged(shop_workspace, "1", wide, columns, rows=2)
    told = model.script.asked[0].prompt
    result = told.split("Result of query 1:\n")[1].split("\n\n")[0].split("\n")
    assert re.fullmatch(
        r"\d+ rows, 6 columns; the first 2 rows and the first 5 columns:", result[0]
    )
    assert len(result) == 4
    assert all(line.count(" | ") == 4 for line in result[1:])
    assert "'a text of more than …" not in told
    assert "'a text of more than '…" in told


def test_an_error_is_shown_and_never_chosen(shop_workspace: Workspace) -> None:
    state, model = judged(shop_workspace, ["3", "2"], COUNT, CITIES, BROKEN)
    told = model.script.asked[0].prompt
    assert "no such table: clients" in told
    assert "there is no query 3, only 1 to 2" in model.script.asked[1].prompt
    assert chosen(state) == CITIES


@pytest.mark.parametrize("queries", [(), (BROKEN,), (COUNT,), (COUNT, COUNT_ID, BROKEN)])
@pytest.mark.parametrize("options", [{}, {"form": "pairs"}, {"judge": "critic"}])
def test_nothing_is_asked_where_all_agree(
    options: Any, queries: tuple[str, ...], shop_workspace: Workspace
) -> None:
    state, model = judged(shop_workspace, "1", *queries, **options)
    assert model.requests == []
    assert [state.selected.sql if state.selected else None] == [queries[0] if queries else None]


def test_pairs_meet_once_and_votes_are_counted(shop_workspace: Workspace) -> None:
    says = prefers(CITIES, ORDERS, COUNT)
    state, model = judged(
        shop_workspace, says, COUNT, CITIES, COUNT_ID, ORDERS, form="pairs", judge="number"
    )
    assert chosen(state) == CITIES
    pairs = [frozenset(shown(asked)) for asked in model.script.asked]
    assert sorted(pairs, key=sorted) == sorted(
        map(frozenset, ({COUNT, CITIES}, {COUNT, ORDERS}, {CITIES, ORDERS})), key=sorted
    )


def test_a_circle_of_pairs_is_left_to_the_larger_cluster(shop_workspace: Workspace) -> None:
    beats = {(COUNT, CITIES), (CITIES, ORDERS), (ORDERS, COUNT)}

    def says(asked: Asked) -> str:
        first, second = shown(asked)
        return "1" if (first, second) in beats else "2"

    for queries in [(CITIES, COUNT, COUNT_ID, ORDERS), (ORDERS, CITIES, COUNT, COUNT_ID)]:
        state, _ = judged(shop_workspace, says, *queries, form="pairs")
        assert chosen(state) == COUNT


@pytest.mark.parametrize("form", ["joint", "pairs"])
def test_every_sample_has_a_vote(form: Any, shop_workspace: Workspace) -> None:
    options = {"form": form, "sampling": sampled(3)}
    after, model = judged(shop_workspace, ["2", "1", "2"], COUNT, CITIES, **options)
    assert chosen(after) == CITIES
    assert [request.n for _, request in model.requests] == [3]


def sampled(n: int) -> Any:
    return replace(MultiSample().sampling, n=n, temperature=1.0)


def test_more_than_a_window_slides_and_the_winner_goes_on(shop_workspace: Workspace) -> None:
    best = MANY[4]
    state, model = judged(shop_workspace, prefers(best), *MANY, window=4)
    assert chosen(state) == best
    windows = [shown(asked) for asked in model.script.asked]
    assert windows == [
        [*MANY[:4]],
        [MANY[0], *MANY[4:7]],
        [best, *MANY[7:]],
    ]
    assert MultiSample(window=4).calls(state_of(shop_workspace, *MANY)) == 3


def test_a_tournament_has_rounds_of_windows_and_a_last_one(shop_workspace: Workspace) -> None:
    best = MANY[8]
    state, model = judged(shop_workspace, prefers(best), *MANY, window=2, beyond="tournament")
    assert chosen(state) == best
    rounds = [shown(asked) for asked in model.script.asked]
    assert [len(one) for one in rounds] == [2] * 8
    assert rounds[:4] == [[*MANY[at : at + 2]] for at in (0, 2, 4, 6)]
    assert rounds[-1][1] == best


def test_what_does_not_fit_the_context_is_seen_in_parts(shop_workspace: Workspace) -> None:
    long = tuple(
        f"SELECT name, {n} AS n, city, country FROM customers -- {'because ' * 120}{n}"
        for n in range(8)
    )
    small = ScriptedModel(
        Script([When(CRITIC, prefers(long[6]))]), capabilities=Capabilities(context_tokens=4_096)
    )
    context = Context(shop_workspace, Run(seed=7), {"llm": small})
    state = MultiSample()(state_of(shop_workspace, *long), context)
    assert chosen(state) == long[6]
    assert len(small.requests) > 1
    assert {one for asked in small.script.asked for one in shown(asked)} == set(long)
    assert all("rows, 4 columns" in asked.prompt for asked in small.script.asked)


@pytest.mark.parametrize("bad", ["", "All of them.", Missing("unavailable", "down")])
@pytest.mark.parametrize("beyond", ["sliding", "tournament"])
def test_a_window_that_is_lost_is_left_to_the_better_ranked(
    beyond: Any, bad: Any, shop_workspace: Workspace
) -> None:
    def says(asked: Asked) -> Any:
        return bad if MANY[1] in shown(asked) else prefers(MANY[0], MANY[5])(asked)

    state, _ = judged(shop_workspace, says, *MANY, window=3, beyond=beyond)
    assert chosen(state) == MANY[0]
    assert [note.text[:30] for note in state.warnings] == ["1 of 4 judgements of queries were"[:30]]


@pytest.mark.parametrize("bad", ["No idea.", "7", Missing("unavailable", "down")])
@pytest.mark.parametrize("form", ["joint", "pairs"])
def test_if_every_reply_is_bad_the_largest_cluster_is_taken(
    form: Any, bad: Any, shop_workspace: Workspace
) -> None:
    state, _ = judged(shop_workspace, bad, CITIES, COUNT, COUNT_ID, form=form)
    assert chosen(state) == COUNT
    assert "no query was judged" in state.warnings[0].text


def test_votes_are_shared_by_the_probabilities_of_the_numbers(shop_workspace: Workspace) -> None:
    likeliest = (("1", math.log(0.3)), ("2", math.log(0.45)), ("3", math.log(0.2)))
    reply = Reply("1", logprobs=(TokenLogprob("1", math.log(0.3), likeliest),))
    queries = (COUNT, CITIES, ORDERS)
    state, model = judged(shop_workspace, lambda _: reply, *queries, judge="logprobs")
    assert chosen(state) == CITIES
    assert [request.logprobs for _, request in model.requests] == [20]
    assert state.warnings == ()
    state, _ = judged(shop_workspace, lambda _: reply, *queries, judge="number")
    assert chosen(state) == COUNT
    assert state.warnings == ()


@pytest.mark.parametrize("options", [{}, {"form": "pairs"}])
def test_replies_without_probabilities_count_by_their_text_and_it_is_said(
    options: Any, shop_workspace: Workspace
) -> None:
    queries = (COUNT, CITIES, ORDERS)
    says = prefers(CITIES)
    state, _ = judged(shop_workspace, says, *queries, judge="logprobs", **options)
    assert chosen(state) == CITIES
    (note,) = state.warnings
    assert "scored by their text" in note.text


def test_numbers_of_two_digits_have_the_probability_of_both(shop_workspace: Workspace) -> None:
    """Digit by digit, the first of twelve and the tenth begin alike."""
    queries = [f"SELECT {number}" for number in range(12)]
    ones = (("1", math.log(0.6)), ("2", math.log(0.4)))
    nought = (("0", math.log(0.9)), (".", math.log(0.1)))
    places = (TokenLogprob("1", math.log(0.6), ones), TokenLogprob("0", math.log(0.9), nought))
    listed: list[str] = []

    def says(asked: Asked) -> Reply:
        listed.extend(shown(asked))
        return Reply("10", logprobs=places)

    state, _ = judged(shop_workspace, says, *queries, judge="logprobs")
    assert len(listed) == 12
    assert chosen(state) == listed[9]


@pytest.mark.parametrize("form", ["joint", "pairs"])
def test_the_embedded_critic_judges_without_a_call(form: Any, shop_workspace: Workspace) -> None:
    step = MultiSample(form, "critic")
    assert (step.roles, step.language_models) == (("critic",), ())
    critic = ScriptedCritic({CITIES: 0.9, COUNT: 0.2, COUNT_ID: 0.3, ORDERS: 0.1}, caution="Old.")
    state = state_of(shop_workspace, COUNT, COUNT_ID, ORDERS, CITIES)
    after = step(state, Context(shop_workspace, Run(), {"critic": critic}))
    assert chosen(after) == CITIES
    assert after.confidence is None
    assert [note.text for note in after.warnings] == ["Old."]


class Remembers(ScriptedCritic):
    """A critic that remembers the queries in the order it saw them."""

    def assess(self, state: State, candidates: Any) -> Any:
        self.saw = [candidate.sql for candidate in candidates]
        return super().assess(state, candidates)


def test_the_embedded_critic_sees_the_order_of_their_author(shop_workspace: Workspace) -> None:
    """Its features know which query was written first; by results an empty one would come last."""
    empty = "SELECT name FROM customers WHERE city = 'nowhere'"
    critic = Remembers()
    state = state_of(shop_workspace, empty, CITIES, COUNT)
    MultiSample(judge="critic")(state, Context(shop_workspace, Run(), {"critic": critic}))
    assert critic.saw == [empty, CITIES, COUNT]


def test_jointly_the_embedded_critic_chooses_as_its_own_step_does(
    shop_workspace: Workspace,
) -> None:
    """A query without ORDER BY has the result of each ordered one, so their cluster is larger."""
    names = "SELECT name FROM customers"
    queries = (f"{names} ORDER BY id DESC", f"{names} ORDER BY name", names)
    critic = ScriptedCritic({queries[1]: 0.8, names: 0.7, queries[0]: 0.1})
    context = Context(shop_workspace, Run(), {"critic": critic})
    state = state_of(shop_workspace, *queries)
    assert chosen(CriticSelection()(state, context)) == queries[1]
    assert chosen(MultiSample(judge="critic")(state, context)) == queries[1]


def test_calls_are_counted_beforehand_and_a_spent_budget_goes_on(shop_workspace: Workspace) -> None:
    state = state_of(shop_workspace, COUNT, CITIES, ORDERS, COUNT_ID)
    assert MultiSample().calls(state) == 1
    assert MultiSample("pairs").calls(state) == 3
    assert MultiSample(judge="critic").calls(state) == 0
    with pytest.raises(BudgetSpent):
        judged(shop_workspace, Missing("budget", "no calls left"), COUNT, CITIES)


def test_options_come_from_a_recipe_and_a_wrong_one_is_told() -> None:
    text = (
        "name: x\nsteps:\n  - generation.direct\n  - repair.execute\n  - selection.multi_sample: "
    )
    parse_recipe(text + "{window: 4, beyond: tournament}")
    with pytest.raises(Exception, match="window must be at least 2, or 0 for as many as fit"):
        parse_recipe(text + "{window: 1}")


def test_no_stored_value_is_left_where_values_stay_home(shop_workspace: Workspace) -> None:
    lists = ("SELECT name FROM customers", "SELECT name FROM customers WHERE city = 'München'")
    _, model = judged(shop_workspace, "1", *lists)
    for _, request in model.requests:
        told = "".join(str(message.text.without("value")) for message in request.messages)
        assert "München" not in told
        assert "Ada" not in told
    assert "Ada Brandt" in model.script.asked[0].prompt


@pytest.mark.parametrize("options", [{}, {"form": "pairs"}, {"window": 2}])
def test_no_question_of_a_hundred_is_lost_where_a_fifth_of_the_replies_is_bad(
    options: Any, shop_workspace: Workspace
) -> None:
    bad = ("", "I would rather not.", '{"reasoning": "', Missing("unavailable", "down"))
    state, spoiled = state_of(shop_workspace, COUNT, CITIES, ORDERS, BROKEN), []

    def reply(asked: Asked) -> Any:
        draw = random.Random(asked.seed)
        if draw.random() < 0.2:
            spoiled.append(asked)
            return draw.choice(bad)
        return prefers(CITIES)(asked)

    model = ScriptedModel(Script([When(CRITIC, reply)]))
    selected = [
        chosen(MultiSample(**options)(state, Context(shop_workspace, Run(seed=n), {"llm": model})))
        for n in range(100)
    ]
    assert len(spoiled) > 20
    assert set(selected) <= {COUNT, CITIES, ORDERS}
    assert selected.count(CITIES) >= 75


def test_shuffled_a_place_says_nothing_of_how_many_agree(shop_workspace: Workspace) -> None:
    queries = (CITIES, COUNT, COUNT_ID, COUNT, ORDERS, BROKEN)
    places: dict[str, list[int]] = {"ranked": [], "shuffled": []}
    state = state_of(shop_workspace, *queries)
    for order, found in places.items():
        step = MultiSample(judge="number", order=order)  # type: ignore[arg-type]
        for seed in range(200):
            listed = step.listed(state, Run(seed=seed))
            assert sorted(one.candidate.sql for one in listed) == sorted(set(queries) - {BROKEN})
            found.append([one.candidate.sql for one in listed].index(COUNT))
    assert set(places["ranked"]) == {0}
    counted = [places["shuffled"].count(place) for place in range(4)]
    assert min(counted) > 30, counted  # 50 each are expected; fewer than 31 once in 2,000


def test_the_shuffled_order_is_the_one_of_the_prompt_and_of_the_reply(
    shop_workspace: Workspace,
) -> None:
    queries = (CITIES, COUNT, COUNT_ID, ORDERS)
    state = state_of(shop_workspace, *queries)
    orders = set()
    for seed in range(6):
        step, run = MultiSample(judge="number", order="shuffled"), Run(seed=seed)
        listed = [one.candidate.sql for one in step.listed(state, run)]
        number = listed.index(ORDERS) + 1
        model = ScriptedModel(Script([When(CRITIC, str(number))]))
        after = step(state, Context(shop_workspace, run, {"llm": model}))
        assert shown(model.script.asked[0]) == listed
        assert chosen(after) == ORDERS
        orders.add(tuple(listed))
    assert len(orders) > 1


def test_shuffled_windows_without_a_vote_go_to_the_larger_cluster(
    shop_workspace: Workspace,
) -> None:
    queries = (CITIES, ORDERS, COUNT, COUNT_ID, *MANY)
    for seed in range(5):
        votes = itertools.cycle([Missing("unavailable", "down"), "1"])
        script = Script([When(CRITIC, lambda _asked, votes=votes: next(votes))])
        step = MultiSample(judge="number", order="shuffled", window=2)
        context = Context(shop_workspace, Run(seed=seed), {"llm": ScriptedModel(script)})
        listed = step.listed(state_of(shop_workspace, *queries), context.run)
        step(state_of(shop_workspace, *queries), context)
        first, second = shown(script.asked[0])
        kept = shown(script.asked[1])[0]
        ranked = [
            one.candidate.sql for one in step.ranked(clusters(state_of(shop_workspace, *queries)))
        ]
        assert [first, second] == [one.candidate.sql for one in listed[:2]]
        assert kept == min(first, second, key=ranked.index)
