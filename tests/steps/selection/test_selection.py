"""Selection: the surest result, how sure, or a refusal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sqlwright.local.steps.critic import CriticSelection, nearest
from sqlwright.protocols import Context, Run, Workspace
from sqlwright.schema import SchemaView
from sqlwright.steps.selection.unjudged import FirstValid
from sqlwright.types import (
    Account,
    AskedPhrase,
    Candidate,
    ColumnLink,
    ExecutionError,
    ExecutionResult,
    Note,
    Question,
    State,
    TableLink,
    Veto,
)
from tests.scripted import ScriptedCritic


def ran(sql: str, *cells: int, score: float = 0.0) -> Candidate:
    return Candidate(sql, "test", score, ExecutionResult(("x",), tuple((cell,) for cell in cells)))


BROKEN = Candidate("broken", "test", 9.0, ExecutionResult(error=ExecutionError("sql", "no")))


def state_of(workspace: Workspace, *candidates: Candidate) -> State:
    return State(Question("?"), SchemaView(workspace.schema), candidates=candidates)


def judged(workspace: Workspace, critic: ScriptedCritic, *candidates: Candidate) -> State:
    context = Context(workspace, Run(), {"critic": critic})
    return CriticSelection()(state_of(workspace, *candidates), context)


def test_the_surest_candidate_wins(shop_workspace: Workspace) -> None:
    critic = ScriptedCritic({"a": 0.2, "b": 0.7})
    state = judged(shop_workspace, critic, ran("a", 1), ran("b", 2), BROKEN)
    assert state.selected is not None
    assert (state.selected.sql, state.confidence) == ("b", 0.7)
    assert [(c.sql, c.confidence) for c in state.candidates] == [
        ("a", 0.2),
        ("b", 0.7),
        ("broken", None),
    ]


def test_candidates_with_one_result_are_right_together(shop_workspace: Workspace) -> None:
    critic = ScriptedCritic({"a": 0.2, "b": 0.5, "c": 0.3})
    state = judged(shop_workspace, critic, ran("a", 1), ran("b", 1), ran("c", 2))
    assert state.selected is not None
    assert state.selected.sql == "b"
    assert [c.confidence for c in state.candidates] == [0.5, 0.5, 0.3]


def test_a_faulty_candidate_comes_behind_every_sound_one(shop_workspace: Workspace) -> None:
    critic = ScriptedCritic({"a": 0.9, "b": 0.1, "c": 0.2})
    faulty = replace(ran("a", 1), vetoes=(Veto("value", "It leaves out Rome."),))
    state = judged(shop_workspace, critic, faulty, ran("b", 2), ran("c", 3))
    assert state.selected is not None
    assert (state.selected.sql, state.confidence) == ("c", 0.2)
    assert [c.confidence for c in state.candidates] == [pytest.approx(0.198), 0.1, 0.2]
    only = judged(shop_workspace, critic, faulty)
    assert only.confidence == 0.45


def test_of_equally_probable_ones_the_one_that_answers_more_wins(
    shop_workspace: Workspace,
) -> None:
    word = AskedPhrase("word", "towns", (0, 5), doubt=0.25)
    partly = replace(ran("a", 1), account=Account((word,)))
    state = judged(shop_workspace, ScriptedCritic({"a": 0.4, "b": 0.4}), partly, ran("b", 2))
    assert state.selected is not None
    assert state.selected.sql == "b"


def test_a_critic_that_cant_be_relied_on_says_so_with_the_answer(shop_workspace: Workspace) -> None:
    state = judged(shop_workspace, ScriptedCritic(caution="Fit it again."), ran("a", 1))
    assert state.warnings == (Note("critic", "Fit it again."),)
    assert judged(shop_workspace, ScriptedCritic(), ran("a", 1)).warnings == ()


def test_of_equals_the_earlier_wins(shop_workspace: Workspace) -> None:
    state = judged(shop_workspace, ScriptedCritic(), ran("a", 1), ran("b", 2))
    assert state.selected is not None
    assert state.selected.sql == "a"


@pytest.mark.parametrize("told", [-1.0, 2.0])
def test_what_a_critic_tells_ends_between_zero_and_one(
    shop_workspace: Workspace, told: float
) -> None:
    state = judged(shop_workspace, ScriptedCritic({"a": told}), ran("a", 1))
    assert state.confidence == min(max(told, 0.0), 1.0)


def test_where_nothing_ran_the_best_is_selected_with_its_error(shop_workspace: Workspace) -> None:
    state = judged(shop_workspace, ScriptedCritic(), BROKEN)
    assert state.selected == BROKEN
    assert state.confidence is None


def test_an_improbable_question_is_refused_with_what_is_near(shop_workspace: Workspace) -> None:
    state = judged(shop_workspace, ScriptedCritic(answerable=0.1), ran("a", 1))
    assert state.selected is None
    assert state.refusal is not None
    assert state.refusal.reason == "unanswerable"
    assert "customers (" in state.refusal.suggestion


def test_a_refusal_names_the_words_that_nothing_explains(shop_workspace: Workspace) -> None:
    critic = ScriptedCritic(answerable=0.29, missing=("wombats", "moons", "oats", "ribbons"))
    state = judged(shop_workspace, critic, ran("a", 1))
    assert state.refusal is not None
    assert state.refusal.message == (
        "Nothing in this database seems to match “wombats”, “moons”, “oats”."
    )


def test_by_the_critics_own_threshold_nothing_is_refused_whose_words_are_all_explained(
    shop_workspace: Workspace,
) -> None:
    critic = ScriptedCritic(answerable=0.1, missing=())
    assert judged(shop_workspace, critic, ran("a", 1)).refusal is None
    context = Context(shop_workspace, Run(), {"critic": critic})
    state = state_of(shop_workspace, ran("a", 1))
    refusal = CriticSelection(refuse_below=0.2)(state, context).refusal
    assert refusal is not None
    assert refusal.reason == "unsure"


def test_the_threshold_can_be_set(shop_workspace: Workspace) -> None:
    critic = ScriptedCritic(answerable=0.5)
    context = Context(shop_workspace, Run(), {"critic": critic})
    state = state_of(shop_workspace, ran("a", 1))
    assert CriticSelection(refuse_below=0.4)(state, context).refusal is None
    assert CriticSelection(refuse_below=0.6)(state, context).refusal is not None
    assert CriticSelection(refuse_below=0.0)(state, context).refusal is None


def test_the_nearest_are_what_the_linker_found(shop_workspace: Workspace) -> None:
    state = state_of(shop_workspace)
    columns = {str(ref): ref for ref in shop_workspace.schema.columns}
    linked = state.evolve(
        tables=(TableLink("orders", 0.9), TableLink("lines", 0.3)),
        columns=(ColumnLink(columns["orders.total"], 0.8), ColumnLink(columns["orders.id"], 0.2)),
    )
    assert nearest(linked) == (
        "The nearest it could tell about: orders (total, id); "
        "lines (order_id, product, quantity, price)."
    )


def test_first_valid_takes_rows_before_emptiness_before_errors(shop_workspace: Workspace) -> None:
    context = Context(shop_workspace, Run())
    empty, full = ran("empty"), ran("full", 1, score=-5.0)
    for candidates, expected in (
        ((BROKEN, empty, full), "full"),
        ((BROKEN, empty), "empty"),
        ((BROKEN,), "broken"),
    ):
        selected = FirstValid()(state_of(shop_workspace, *candidates), context).selected
        assert selected is not None
        assert selected.sql == expected
    assert FirstValid()(state_of(shop_workspace), context).selected is None


def test_sub_queries_are_not_selected(shop_workspace: Workspace) -> None:
    part = Candidate("part", "test", 5.0, ran("x", 1).result, goal="a sub-question")
    whole = ran("whole", 2, score=-5.0)
    state = judged(shop_workspace, ScriptedCritic(), part, whole)
    assert state.selected is not None
    assert state.selected.sql == "whole"
