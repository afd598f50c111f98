"""Steps once for each sub-question: in their order, up to the question, and what ends early."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import pytest

from sqlwright.errors import Cancelled, ConfigError
from sqlwright.events import Event, StepEnded, SubQuestionStarted
from sqlwright.protocols import Context, Run, Step, Workspace
from sqlwright.recipes.loading import parse_recipe
from sqlwright.running.combinators import NamedStep, Sequence
from sqlwright.running.control_flow import samples
from sqlwright.running.pipeline import Pipeline
from sqlwright.running.sequences import StandIn, SubQuestions
from sqlwright.schema import SchemaView
from sqlwright.spending import Budget, Spending
from sqlwright.steps.asking import asked
from sqlwright.types import Candidate, Question, State, SubQuestion, Usage

PARTS = ("Who is there?", "Who is there from Germany?", "Who is there from Germany: Berlin?")
QUESTION = PARTS[-1]


class Clock:
    """Time goes on only when a step takes some."""

    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@dataclass(frozen=True)
class Writes(Step):
    """Writes a query with the number of the sub-question in it, and pays for it."""

    costs: Usage = Usage()  # noqa: RUF009 - frozen
    takes: float = 0.0
    clock: Clock = field(default_factory=Clock)
    nothing_from: int = 99
    """Number of the sub-question from which on it writes nothing."""
    stops_at: int = 99

    reads: ClassVar[frozenset[str]] = frozenset({"question"})
    writes: ClassVar[frozenset[str]] = frozenset({"candidates"})

    def __call__(self, state: State, context: Context) -> State:
        context.run.spending.book("writing", self.costs)
        self.clock.seconds += self.takes
        if state.sub_question >= self.stops_at:
            raise Cancelled("cancelled")
        if state.sub_question >= self.nothing_from:
            return state
        earlier = ",".join(one.sql for one in state.candidates)
        one = Candidate(f"SELECT {state.sub_question} -- {earlier}", "test", goal=state.goal)
        return state.evolve(candidates=(*state.candidates, one))


@dataclass
class Heard:
    """The events of a run."""

    events: list[Event] = field(default_factory=list)

    def __call__(self, event: Event) -> None:
        self.events.append(event)

    @property
    def numbers(self) -> list[tuple[int, int, str]]:
        """Number, total and text of each sub-question that began."""
        return [
            (e.number, e.total, e.text) for e in self.events if isinstance(e, SubQuestionStarted)
        ]


def state_of(workspace: Workspace, *parts: str) -> State:
    state = State(Question(QUESTION), SchemaView(workspace.schema))
    return state.evolve(sub_questions=tuple(map(SubQuestion, parts)))


def gone_through(
    workspace: Workspace,
    *parts: str,
    step: Writes | None = None,
    run: Run | None = None,
    most: int = 20,
) -> tuple[State, Heard]:
    heard = Heard()
    run = replace(run or Run(), events=heard)
    sequence = SubQuestions((NamedStep("writes", step or Writes()),), most)
    return sequence(state_of(workspace, *parts), Context(workspace, run)), heard


def test_steps_run_once_for_each_and_only_the_last_ones_query_is_left(
    shop_workspace: Workspace,
) -> None:
    state, heard = gone_through(shop_workspace, *PARTS)
    assert heard.numbers == [(n, 3, text) for n, text in enumerate(PARTS, 1)]
    (candidate,) = state.candidates
    assert candidate.sql == "SELECT 3 -- SELECT 1 -- ,SELECT 2 -- SELECT 1 -- "
    assert candidate.goal == ""
    assert state.sub_question == 0
    assert state.warnings == ()
    ended = [event for event in heard.events if isinstance(event, StepEnded)]
    assert [one.after.candidates[-1].goal for one in ended] == [*PARTS[:2], ""]


def test_without_sub_questions_steps_run_once_for_the_question(shop_workspace: Workspace) -> None:
    state, heard = gone_through(shop_workspace)
    assert heard.numbers == [(1, 1, QUESTION)]
    assert [one.goal for one in state.candidates] == [""]


def test_prompts_ask_for_the_sub_question_at_hand(shop_workspace: Workspace) -> None:
    state = state_of(shop_workspace, *PARTS)
    told = [asked(state.evolve(sub_question=n))["question"] for n in (0, 1, 2, 3)]
    assert [(str(text), text.spans[0].origin) for text in told] == [
        (QUESTION, "question"),
        (PARTS[0], "model"),
        (PARTS[1], "model"),
        (QUESTION, "question"),
    ]


COST = Usage(calls=1, prompt_tokens=900, reply_tokens=100, cost=0.01)


@pytest.mark.parametrize(
    ("budget", "asked_for"),
    [
        (Budget(calls=1), [3]),
        (Budget(calls=2), [1, 3]),
        (Budget(calls=3), [1, 2, 3]),
        (Budget(tokens=6_000), [1, 3]),
        (Budget(tokens=8_000), [1, 2, 3]),
        (Budget(cost=0.02), [1, 3]),
        (Budget(cost=0.031), [1, 2, 3]),
        (Budget(), [1, 2, 3]),
    ],
    ids=str,
)
def test_where_the_budget_ends_early_the_question_itself_is_still_asked(
    budget: Budget, asked_for: list[int], shop_workspace: Workspace
) -> None:
    run = Run(spending=Spending(budget))
    state, heard = gone_through(shop_workspace, *PARTS, step=Writes(COST), run=run)
    assert [number for number, *_ in heard.numbers] == asked_for
    (candidate,) = state.candidates
    assert (candidate.goal, candidate.sql[:8]) == ("", "SELECT 3")
    assert [note.kind for note in state.warnings] == ([] if len(asked_for) == 3 else ["budget"])


def test_what_came_before_says_what_the_first_round_may_cost(shop_workspace: Workspace) -> None:
    spending = Spending(Budget(tokens=9_000))
    spending.book("before", Usage(calls=2, prompt_tokens=5_000))
    _, heard = gone_through(shop_workspace, *PARTS, run=Run(spending=spending))
    assert [number for number, *_ in heard.numbers] == [3]


def test_where_time_runs_out_the_question_itself_is_asked_at_once(
    shop_workspace: Workspace,
) -> None:
    clock = Clock()
    run = Run(seconds=10.0, clock=clock)
    state, heard = gone_through(
        shop_workspace, *PARTS, step=Writes(takes=4.0, clock=clock), run=run
    )
    assert [number for number, *_ in heard.numbers] == [1, 3]
    assert "sub-question 2 of 3" in state.warnings[0].text


def test_more_sub_questions_than_are_gone_through_still_end_with_the_question(
    shop_workspace: Workspace,
) -> None:
    many = [f"Who is there, {n}?" for n in range(30)]
    state, heard = gone_through(shop_workspace, *many, QUESTION, most=4)
    assert [number for number, *_ in heard.numbers] == [1, 2, 3, 31]
    assert [one.goal for one in state.candidates] == [""]
    assert "sub-questions 4 to 30 of 31" in state.warnings[0].text
    with pytest.raises(ValueError, match="at least 1"):
        SubQuestions((), 0)


@dataclass(frozen=True)
class Selects(Step):
    """Selects the last candidate, whatever it is for."""

    reads: ClassVar[frozenset[str]] = frozenset({"candidates"})
    writes: ClassVar[frozenset[str]] = frozenset({"selected"})

    def __call__(self, state: State, context: Context) -> State:
        return state.evolve(selected=state.candidates[-1]) if state.candidates else state


@dataclass(frozen=True)
class Begins(Step):
    """Gives the sub-questions."""

    reads: ClassVar[frozenset[str]] = frozenset({"question"})
    writes: ClassVar[frozenset[str]] = frozenset({"sub_questions"})

    def __call__(self, state: State, context: Context) -> State:
        return state.evolve(sub_questions=tuple(map(SubQuestion, PARTS)))


@pytest.mark.parametrize("chains", [0, 1, 2])
@pytest.mark.parametrize("step", [Writes(nothing_from=3), Writes(stops_at=2), Writes(stops_at=3)])
def test_a_query_for_a_part_of_the_conditions_is_never_the_answer(
    step: Writes, chains: int, shop_workspace: Workspace
) -> None:
    body: Step = SubQuestions((NamedStep("writes", step),))
    steps = (
        NamedStep("begins", Begins()),
        samples(chains, body) if chains else body,
        StandIn(()),
        NamedStep("selects", Selects()),
    )
    answer, state = Pipeline("test", Sequence(steps)).run(
        Question(QUESTION), shop_workspace, {}, Run(stand_in=False)
    )
    assert (answer.status, answer.sql, answer.alternatives) == ("failed", None, ())
    told = " ".join(note.text for note in answer.warnings) + answer.message
    assert ("part of the question's conditions only" in told) or ("stopped early" in told)
    assert state.question.text == QUESTION


RECIPE = """
name: taken-apart
steps:
  - generation.decompose
  - sub_questions: {most: 5, steps: [generation.direct, repair.execute]}
  - selection.first_valid
"""


def test_a_recipe_names_it_and_its_bound() -> None:
    assert parse_recipe(RECIPE, ["sub_questions.most=3"]).asks == ("",)
    assert parse_recipe(RECIPE, ["generation.decompose.enabled=false"])
    with pytest.raises(ConfigError, match="sub_questions"):
        parse_recipe(RECIPE, ["sub_questions.most=0"])
