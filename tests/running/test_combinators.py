"""Steps made of steps: what they do, and what they refuse when a recipe is loaded."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pytest

from sqlwright.errors import BudgetSpent, Cancelled, ConfigError, ModelFailed, SqlwrightError
from sqlwright.events import Event, StepEnded, StepStarted
from sqlwright.protocols import Context, Run, Step, Workspace
from sqlwright.running.combinators import leaves, sequence
from sqlwright.running.control_flow import Condition, for_each, parallel, repeat_until, when
from sqlwright.running.fit import check_fit
from sqlwright.schema import Schema, SchemaView
from sqlwright.types import Candidate, Question, Refusal, State

E = TypeVar("E", bound=Event)


@dataclass(frozen=True)
class Does(Step):
    """A step that does what it is given."""

    act: Callable[[State], State]
    reads: frozenset[str] = frozenset({"question"})
    writes: frozenset[str] = frozenset({"candidates"})

    def __call__(self, state: State, context: Context) -> State:
        return self.act(state)


def adds(*sql: str, **declared: Any) -> Does:
    """A step that adds candidates."""
    new = tuple(Candidate(one, "test") for one in sql)
    return Does(lambda state: state.evolve(candidates=(*state.candidates, *new)), **declared)


ENOUGH = Condition(frozenset({"candidates"}), lambda state, context: len(state.candidates) >= 3)
START = State(Question("how many?"), SchemaView(Schema("empty", ())))


@dataclass
class Events:
    """Keeps the events of a run."""

    seen: list[Event] = field(default_factory=list)

    def __call__(self, event: Event) -> None:
        self.seen.append(event)

    def of(self, kind: type[E]) -> list[E]:
        """Those of one kind."""
        return [event for event in self.seen if isinstance(event, kind)]


def context(run: Run | None = None) -> Context:
    workspace: Any = None  # no step here looks at it
    return Context(workspace, run or Run())


def sqls(state: State) -> list[str]:
    return [candidate.sql for candidate in state.candidates]


def test_a_sequence_hands_the_state_on() -> None:
    assert sqls(sequence(adds("a"), adds("b"))(START, context())) == ["a", "b"]


def test_a_refusal_ends_a_sequence() -> None:
    refuses = Does(
        lambda state: state.evolve(refusal=Refusal("write", "no")), writes=frozenset({"refusal"})
    )
    state = sequence(adds("a"), refuses, adds("b"))(START, context())
    assert sqls(state) == ["a"]


@pytest.mark.parametrize("workers", [1, 4])
def test_parallel_branches_see_the_start_and_merge_in_declared_order(workers: int) -> None:
    barrier = threading.Barrier(2 if workers > 1 else 1)

    def slow(state: State) -> State:
        barrier.wait(10)
        assert sqls(state) == ["start"]
        return state.evolve(candidates=(*state.candidates, Candidate("slow", "test")))

    def quick(state: State) -> State:
        barrier.wait(10)
        new = (Candidate("quick", "test"), Candidate("slow", "test"))
        return state.evolve(candidates=(*state.candidates, *new))

    both = sequence(adds("start"), parallel(Does(slow), Does(quick), workers=workers))
    assert sqls(both(START, context())) == ["start", "slow", "quick"]


def test_for_each_runs_once_per_item_with_that_item_alone() -> None:
    def repair(state: State) -> State:
        (only,) = state.candidates
        state = state.warn("model", f"looked at {only.sql}")
        if only.sql == "bad":
            return state.evolve(candidates=())
        return state.evolve(candidates=(Candidate(only.sql.upper(), "test", parent=only),))

    chain = sequence(adds("a", "bad", "c"), for_each("candidates", Does(repair)))
    state = chain(START, context())
    assert sqls(state) == ["A", "C"]
    assert state.candidates[0].parent == Candidate("a", "test")
    assert [str(note) for note in state.warnings] == [
        "looked at a",
        "looked at bad",
        "looked at c",
    ]


def test_for_each_over_nothing_does_nothing() -> None:
    assert for_each("candidates", adds("a"))(START, context()) == START


def test_repeat_until_stops_when_the_condition_holds() -> None:
    assert sqls(repeat_until(ENOUGH, adds("x"), rounds=9)(START, context())) == ["x"] * 3
    assert sqls(repeat_until(ENOUGH, adds("x"), rounds=2)(START, context())) == ["x"] * 2
    already = START.evolve(candidates=tuple(Candidate(s, "test") for s in "abc"))
    assert repeat_until(ENOUGH, adds("x"))(already, context()) == already


def test_when_takes_one_side() -> None:
    choice = when(ENOUGH, adds("many"), adds("few"))
    assert sqls(choice(START, context())) == ["few"]
    full = START.evolve(candidates=tuple(Candidate(s, "test") for s in "abc"))
    assert sqls(choice(full, context()))[-1] == "many"
    assert when(ENOUGH, adds("many"))(START, context()) == START


def test_each_step_reports_its_beginning_its_time_and_both_states() -> None:
    events, ticks = Events(), iter((0.0, 1.0, 3.5))
    run = Run(events=events, clock=lambda: next(ticks))
    after = sequence(adds("a"))(START, context(run))
    assert events.seen == [StepStarted("Does", 0), StepEnded("Does", 2.5, START, after)]


def test_a_step_that_the_budget_ends_reports_its_end_too() -> None:
    def spends(state: State) -> State:
        raise BudgetSpent("spent")

    events = Events()
    after = sequence(Does(spends))(START, context(Run(events=events)))
    assert [type(event) for event in events.seen] == [StepStarted, StepEnded]
    assert [note.kind for note in after.warnings] == ["budget"]


@pytest.mark.parametrize("error", [Cancelled("out of time"), ModelFailed("no reply")])
def test_a_step_that_an_error_ends_reports_its_end_too(error: SqlwrightError) -> None:
    def fails(state: State) -> State:
        raise error

    events = Events()
    with pytest.raises(type(error)):
        sequence(Does(fails))(START, context(Run(events=events)))
    assert [type(event) for event in events.seen] == [StepStarted, StepEnded]


def test_a_cancelled_run_begins_no_further_step() -> None:
    run = Run()
    stops = Does(lambda state: (run.cancelled.set(), state)[1])
    with pytest.raises(Cancelled):
        sequence(stops, adds("never"))(START, context(run))


def test_reads_and_writes_follow_from_the_children() -> None:
    critic = Does(lambda s: s, frozenset({"candidates", "values"}), frozenset({"selected"}))
    whole = sequence(adds("a"), critic)
    assert whole.reads == {"question", "values"}
    assert whole.writes == {"candidates", "selected"}
    assert parallel(adds("a"), critic).reads == {"question", "candidates", "values"}
    assert when(ENOUGH, critic).reads == {"candidates", "values"}
    assert for_each("keywords", adds("a")).reads == {"question", "keywords"}
    assert repeat_until(ENOUGH, adds("a")).writes == {"candidates"}


def test_leaves_are_found_however_deep() -> None:
    one, two, three = adds("1"), adds("2"), adds("3")
    nested = sequence(parallel(one, sequence(two)), when(ENOUGH, for_each("candidates", three)))
    assert list(leaves(nested)) == [one, two, three]


def test_a_step_that_reads_what_nothing_wrote_is_refused_by_name() -> None:
    critic = Does(lambda s: s, frozenset({"candidates", "values"}), frozenset({"selected"}))
    with pytest.raises(ConfigError, match=r"Does reads 'values', which no step before it writes"):
        check_fit(sequence(adds("a"), critic))
    with pytest.raises(ConfigError, match=r"the condition reads 'candidates'"):
        check_fit(when(ENOUGH, adds("a")))
    with pytest.raises(ConfigError, match=r"for_each reads 'keywords'"):
        check_fit(for_each("keywords", adds("a")))


def test_a_parallel_branch_does_not_see_its_siblings() -> None:
    reader = Does(lambda s: s, frozenset({"candidates"}), frozenset({"values"}))
    with pytest.raises(ConfigError, match="reads 'candidates'"):
        check_fit(parallel(adds("a"), reader))


@pytest.mark.parametrize("field_name", ["selected", "view", "confidence", "refusal"])
def test_what_cannot_be_merged_is_refused_in_branches_and_loops(field_name: str) -> None:
    writer = Does(lambda s: s, writes=frozenset({field_name}))
    with pytest.raises(ConfigError, match=f"'{field_name}' inside parallel"):
        check_fit(parallel(adds("a"), writer))
    with pytest.raises(ConfigError, match=f"'{field_name}' inside for_each"):
        check_fit(sequence(adds("a"), for_each("candidates", writer)))


def test_for_each_needs_a_field_with_several_items() -> None:
    with pytest.raises(ConfigError, match="can't run over 'view'"):
        check_fit(for_each("view", adds("a")))


def test_a_fitting_whole_says_what_is_written(shop_workspace: Workspace) -> None:
    written = check_fit(sequence(adds("a"), for_each("candidates", adds("b"))))
    assert "candidates" in written
    assert "selected" not in written
