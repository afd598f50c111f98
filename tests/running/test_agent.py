"""A model that chooses tools: what it sees, and what happens when it is of no use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from sqlwright.errors import ConfigError
from sqlwright.messages import Missing, Reply, Sample
from sqlwright.protocols import Context, Run, Step
from sqlwright.recipes.loading import parse_recipe
from sqlwright.running.agent import Agent, changes, summary
from sqlwright.running.combinators import NamedStep, leaves
from sqlwright.running.fit import check_fit
from sqlwright.schema import ColumnRef
from sqlwright.types import Candidate, ExecutionResult, State, ValueMatch
from tests.prompts.test_templates import Says
from tests.running.test_parallel import START


@dataclass(frozen=True)
class Finds(Step):
    """Finds a keyword."""

    word: str
    reads: frozenset[str] = frozenset({"question"})
    writes: frozenset[str] = frozenset({"keywords"})

    def __call__(self, state: State, context: Context) -> State:
        return state.evolve(keywords=(*state.keywords, self.word))


TOOLS = (NamedStep("first", Finds("a")), NamedStep("second", Finds("b")))


def choose(tool: str) -> list[Sample]:
    return [Reply(f'{{"reason": "because", "tool": "{tool}"}}')]


def steered(*replies: list[Sample], **options: Any) -> tuple[State, Says]:
    model = Says(*replies)
    workspace: Any = None
    agent = Agent(TOOLS, task="Find words.", **options)
    return agent(START, Context(workspace, Run(), {"llm": model})), model


def test_the_model_chooses_the_order_and_the_end() -> None:
    state, model = steered(choose("second"), choose("second"), choose("done"))
    assert state.keywords == ("b", "b")
    assert len(model.asked) == 3


def test_it_is_told_what_is_known_and_what_each_tool_changed() -> None:
    _, model = steered(choose("first"), choose("done"))
    last = str(model.asked[-1].messages[-1].text)
    assert "keywords: 1" in last
    assert "1. first: keywords: 0 -> 1" in last
    assert "first: Finds a keyword" in str(model.asked[0].messages[0].text)


@pytest.mark.parametrize(
    "replies",
    [
        ([Reply("what?")], [Reply("no idea")]),
        (choose("third"), choose("fourth")),
        ([Missing("unavailable", "down")],),
        ([Missing("budget", "spent")],),
    ],
    ids=["prose", "no such tool", "no reply", "no budget"],
)
def test_a_model_of_no_use_leaves_the_fixed_order(replies: tuple[list[Sample], ...]) -> None:
    state, _ = steered(*replies, goal="keywords")
    assert state.keywords == ("a", "b")
    assert "fixed order" in state.warnings[0].text


def test_ending_without_the_goal_runs_what_has_not_run() -> None:
    assert steered(choose("done"), goal="keywords")[0].keywords == ("a", "b")
    assert steered(choose("done"))[0].keywords == ()


def test_turns_are_bounded() -> None:
    state, model = steered(*[choose("first")] * 3, turns=3)
    assert state.keywords == ("a", "a", "a")
    assert len(model.asked) == 3


def test_it_fits_a_recipe_like_the_sequence_it_falls_back_to() -> None:
    agent = Agent(TOOLS, task="Find words.")
    assert "keywords" in check_fit(agent)
    assert len(list(leaves(agent))) == 2


def test_a_recipe_names_it_and_a_combinator_is_a_tool_under_its_steps_names() -> None:
    recipe = parse_recipe(
        """
name: agents
steps:
  - retrieval.values
  - agent:
      task: Write queries.
      goal: candidates
      turns: 4
      steps:
        - samples: {count: 2, steps: [generation.embedded, repair.execution_guided]}
        - repair.execution_guided
  - selection.first_valid
""",
        ["agent.turns=2"],
    )
    agent: Any = recipe.step.steps[1]  # type: ignore[attr-defined]
    assert [tool.name for tool in agent.tools] == [
        "generation.embedded+repair.execution_guided",
        "repair.execution_guided",
    ]
    assert agent.turns == 2
    with pytest.raises(ConfigError, match="task"):
        parse_recipe("name: x\nsteps:\n  - agent: {steps: [selection.first_valid]}\n")


def test_stored_values_are_only_counted() -> None:
    after = START.evolve(candidates=(Candidate("SELECT 'secret'", "t"),), keywords=("secret",))
    assert "secret" not in str(summary(after)) + str(changes(START, after))
    assert str(changes(START, START)) == "changed nothing"


@pytest.mark.parametrize(("found", "told"), [(0, "0"), (1, "1"), (2, "many"), (23, "many")])
def test_how_much_was_found_is_roughly_told_where_values_stay_home(found: int, told: str) -> None:
    match = ValueMatch("x", ColumnRef("t", "c"), "secret", 1.0)
    after = START.evolve(
        values=(match,) * found,
        candidates=tuple(
            Candidate("SELECT 1", "test", result=ExecutionResult(("n",), ((n,),)))
            for n in range(found)
        ),
    )
    assert f"stored values found: {told}" in str(summary(after).without("value"))
    assert f"stored values found: {found}" in str(summary(after))
    if found:
        assert f"{told} different results" in str(summary(after).without("value"))
        assert f"stored values found: 0 -> {told};" in str(changes(START, after).without("value"))
