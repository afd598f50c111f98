"""A reply that declines is a vote: selectors count it, and judges are shown it."""

from __future__ import annotations

from typing import Any

import pytest

from sqlwright.llm.scripted import Asked, Script, ScriptedModel
from sqlwright.protocols import Context, Run, Step, Workspace
from sqlwright.steps.selection.evaluate_tests import EvaluateTests
from sqlwright.steps.selection.generate_tests import GenerateTests
from sqlwright.steps.selection.judges import Independent, MultiSample, Pairwise, Ranker
from sqlwright.steps.selection.unjudged import FirstValid, LargestCluster
from sqlwright.types import Candidate, State
from tests.scripted import ScriptedCritic
from tests.steps.selection.test_unit_tests import BROKEN, CITIES, COUNT, COUNT_ID, state_of

NO_DOGS = "nobody's dogs are stored"
JUDGES = (
    MultiSample(),
    MultiSample(judge="number"),
    MultiSample("pairs"),
    Ranker(),
    Pairwise(),
    Pairwise("letter"),
    Independent("prompted"),
)


def declined_by(workspace: Workspace, count: int, *queries: str) -> State:
    declines = tuple(
        Candidate("", "test", sample=n, declined=NO_DOGS, by_model=True) for n in range(count)
    )
    return state_of(workspace, *queries).evolve(declines=declines)


def judged(step: Step, state: State, workspace: Workspace, says: Any) -> tuple[State, list[str]]:
    script = Script(otherwise=says)
    context = Context(workspace, Run(seed=1), {"llm": ScriptedModel(script)})
    return step(state, context), [asked.prompt for asked in script.asked]


@pytest.mark.parametrize(
    ("declines", "queries", "selected"),
    [
        (1, (COUNT, COUNT_ID), COUNT),
        (2, (COUNT, CITIES), ""),
        (1, (COUNT, CITIES), COUNT),  # as many as any other: with rows comes first
        (1, (BROKEN, BROKEN), ""),
    ],
)
def test_the_most_frequent_is_taken(
    declines: int, queries: tuple[str, ...], selected: str, shop_workspace: Workspace
) -> None:
    state = declined_by(shop_workspace, declines, *queries)
    after, _ = judged(LargestCluster(), state, shop_workspace, "")
    assert after.selected is not None
    assert (after.selected.sql, bool(after.selected.declined)) == (selected, not selected)
    assert after.basis is not None
    assert after.basis.of == declines + len(queries)


@pytest.mark.parametrize("step", JUDGES, ids=str)
def test_a_judge_may_side_with_it(step: Step, shop_workspace: Workspace) -> None:
    """It is shown with its author's words and the whole view: the part that queries use can't tell
    whether anything else in the schema gives what is asked."""

    def says(asked: Asked) -> str:
        shown = asked.prompt.rpartition("Question:")[2].split("Query ")[1:]
        place = next((n for n, one in enumerate(shown, 1) if NO_DOGS in one), 0)
        if isinstance(step, Independent):
            return "yes" if NO_DOGS in asked.prompt else "no"
        return "AB"[place - 1] if isinstance(step, Pairwise) and place else str(place or 1)

    after, prompts = judged(
        step, declined_by(shop_workspace, 1, COUNT, COUNT_ID, CITIES), shop_workspace, says
    )
    assert after.selected is not None
    assert after.selected.declined == NO_DOGS
    shown = [prompt for prompt in prompts if NO_DOGS in prompt]
    assert shown
    assert all("CREATE TABLE lines (" in prompt for prompt in shown)


def test_unit_tests_are_written_and_judged_with_it(shop_workspace: Workspace) -> None:
    state = declined_by(shop_workspace, 3, COUNT, COUNT_ID)
    written, (prompt,) = judged(GenerateTests(), state, shop_workspace, '["No dogs are stored."]')
    assert NO_DOGS in prompt
    says = '{"verdicts": [{"number": 1, "verdict": "failed"}, {"number": 2, "verdict": "failed"}, {"number": 3, "verdict": "passed"}]}'  # noqa: E501
    after, _ = judged(EvaluateTests(), written, shop_workspace, says)
    assert after.selected is not None
    assert after.selected.declined == NO_DOGS


@pytest.mark.parametrize("step", [MultiSample(judge="critic"), MultiSample("pairs", "critic"),
                                  Pairwise("critic"), Independent("critic")], ids=str)  # fmt: skip
@pytest.mark.parametrize("declines", [1, 3])
def test_the_embedded_critic_judges_queries_alone(
    step: Step, declines: int, shop_workspace: Workspace
) -> None:
    """It knows nothing to say of a decline: that stands where it is what most replies say."""
    state = declined_by(shop_workspace, declines, COUNT, CITIES)
    critic = ScriptedCritic({CITIES: 0.9})
    after = step(state, Context(shop_workspace, Run(), {"critic": critic}))
    assert after.selected is not None
    assert after.selected.sql == ("" if declines > 2 else CITIES)


def test_without_a_judge_a_query_that_runs_comes_first(shop_workspace: Workspace) -> None:
    for queries, sql in (((CITIES,), CITIES), ((BROKEN,), "")):
        state = declined_by(shop_workspace, 1, *queries)
        after, _ = judged(FirstValid(), state, shop_workspace, "")
        assert after.selected is not None
        assert after.selected.sql == sql
