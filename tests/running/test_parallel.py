"""Branches side by side: the outcome and the record don't depend on how many run at once."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import Any

import pytest

from sqlwright.errors import BudgetSpent, Cancelled, MalformedReply, ModelRejected
from sqlwright.events import BranchesMerged, BranchesProgressed, BranchStepStarted
from sqlwright.protocols import Context, Run, Step
from sqlwright.running.combinators import NamedStep, named, sequence
from sqlwright.running.control_flow import for_each, parallel, samples
from sqlwright.running.parallel import run_branches
from sqlwright.spending import Budget, Spending
from sqlwright.types import Candidate, Note, State
from tests.running.test_combinators import START, Does, Events, adds, context, sqls


@dataclass(frozen=True)
class Writes(Step):
    """A step that writes a candidate with the sample's number; the later the sooner done."""

    text: str
    reads: frozenset[str] = frozenset({"question"})
    writes: frozenset[str] = frozenset({"candidates"})

    def __call__(self, state: State, context: Context) -> State:
        time.sleep(0.02 / (state.sample + 1))
        new = Candidate(f"{self.text}{state.sample}", "test", sample=state.sample)
        return state.evolve(candidates=(*state.candidates, new))


@dataclass(frozen=True)
class Raises(Step):
    """A step that fails in some samples."""

    error: Exception
    at: frozenset[int] = frozenset({0})
    reads: frozenset[str] = frozenset({"question"})
    writes: frozenset[str] = frozenset({"candidates"})

    def __call__(self, state: State, context: Context) -> State:
        if state.sample in self.at:
            raise self.error
        return state


def record(kinds: Events) -> list[tuple[str, str]]:
    return [(each.kind, getattr(each, "step", "")) for each in kinds.seen if each.recorded]


@pytest.mark.parametrize("workers", [1, 8])
def test_samples_are_merged_in_the_order_of_their_numbers(workers: int) -> None:
    start = START.evolve(candidates=(Candidate("given", "test"),))
    chain = sequence(Writes("a"), Writes("b"))
    state = samples(3, chain, workers=workers)(start, context())
    assert sqls(state) == ["given", "a1", "b1", "a2", "b2", "a3", "b3"]
    assert state.sample == 0


def test_equal_queries_of_two_branches_both_count_where_their_numbers_differ() -> None:
    same = Does(
        lambda s: s.evolve(candidates=(Candidate("SELECT 1", "test", sample=s.sample),)),
    )
    for first, numbers in ((1, [1]), (2, [1, 2]), (7, [1, 7])):
        step = parallel(samples(1, same), samples(1, same, first=first))
        assert [one.sample for one in step(START, context()).candidates] == numbers


def test_equal_queries_of_two_samples_both_count() -> None:
    same = Does(
        lambda s: s.evolve(candidates=(Candidate("SELECT 1", "test", sample=s.sample),)),
    )
    assert sqls(samples(2, same)(START, context())) == ["SELECT 1", "SELECT 1"]


def test_the_record_is_the_same_whatever_ran_at_once() -> None:
    records = []
    for workers in (1, 8):
        events = Events()
        step = parallel(
            samples(
                3,
                sequence(NamedStep("w", Writes("a")), NamedStep("v", Writes("b"))),
                workers=workers,
            ),
            NamedStep("other", Writes("c")),
            workers=workers,
        )
        step(START, context(Run(events=events)))
        records.append(record(events))
    assert records[0] == records[1]
    assert [name for kind, name in records[0] if kind == "step"] == ["w", "v"] * 3 + ["other"]


def test_who_watches_hears_of_a_step_when_it_begins() -> None:
    events = Events()
    heard = []

    def act(state: State) -> State:
        heard.extend(each.step for each in events.of(BranchStepStarted))
        return state

    samples(1, NamedStep("works", Does(act)))(START, context(Run(events=events)))
    assert heard == ["works"]


@pytest.mark.parametrize("workers", [1, 8])
def test_who_watches_hears_how_many_samples_have_ended(workers: int) -> None:
    events = Events()
    chain = sequence(Writes("a"), Raises(MalformedReply("no query in it"), frozenset({2})))
    samples(3, chain, workers=workers)(START, context(Run(events=events)))
    assert events.of(BranchesProgressed) == [BranchesProgressed(n, 3) for n in range(4)]


def test_branches_within_branches_are_counted_together() -> None:
    events = Events()
    step = parallel(samples(2, Writes("a")), samples(3, Writes("b")), workers=1)
    step(START, context(Run(events=events)))
    told = [(each.ended, each.total) for each in events.of(BranchesProgressed)]
    assert told == [(0, 2), (0, 3), (1, 3), (2, 3), (2, 5), (3, 5), (4, 5), (5, 5)]


@pytest.mark.parametrize("workers", [1, 8])
def test_a_sample_that_fails_costs_its_own_part(workers: int) -> None:
    chain = sequence(Writes("a"), Raises(MalformedReply("no query in it"), frozenset({2})))
    state = samples(3, chain, workers=workers)(START, context())
    assert sqls(state) == ["a1", "a2", "a3"]
    assert [str(note) for note in state.warnings] == ["left out: no query in it"]


def test_when_all_samples_fail_the_recipe_goes_on_and_says_so() -> None:
    chain = sequence(Writes("a"), Raises(MalformedReply("none"), frozenset({1, 2})))
    state = samples(2, chain)(START, context())
    assert sqls(state) == ["a1", "a2"]
    assert [str(note) for note in state.warnings] == ["left out: none"]


def test_what_a_model_refuses_outright_ends_it_with_what_there_is_on_record() -> None:
    events = Events()
    chain = sequence(Writes("a"), Raises(ModelRejected("wrong key"), frozenset({1, 2})))
    with pytest.raises(ModelRejected):
        samples(2, chain)(START, context(Run(events=events)))
    (merged,) = [each.state for each in events.of(BranchesMerged)]
    assert sqls(merged) == ["a1", "a2"]


def test_when_all_parallel_branches_fail_the_first_error_is_raised() -> None:
    bad = Raises(MalformedReply("none"))
    with pytest.raises(MalformedReply):
        parallel(bad, bad)(START, context())


@pytest.mark.parametrize("workers", [1, 4])
def test_a_cancellation_hands_over_what_every_branch_has(workers: int) -> None:
    events, cancelled = Events(), threading.Event()

    @dataclass(frozen=True)
    class CancelsLast(Writes):
        def __call__(self, state: State, context: Context) -> State:
            after = super().__call__(state, context)
            if state.sample == 3:
                cancelled.set()
            else:
                time.sleep(0.05)
            return after

    chain = sequence(CancelsLast("a"), Writes("b"))
    with pytest.raises(Cancelled):
        samples(3, chain, workers=workers)(START, context(Run(events=events, cancelled=cancelled)))
    (merged,) = [each.state for each in events.of(BranchesMerged)]
    assert [sql for sql in sqls(merged) if sql.startswith("a")] == ["a1", "a2", "a3"]
    # The cancellation is told once, by whoever ends the run.
    assert merged.warnings == ()


def test_for_each_runs_its_chains_side_by_side() -> None:
    start = START.evolve(candidates=tuple(Candidate(str(n), "test") for n in range(4)))
    barrier = threading.Barrier(4, timeout=10)

    def act(state: State) -> State:
        barrier.wait()  # passes only when all four are there
        (one,) = state.candidates
        return state.evolve(candidates=(Candidate(one.sql + "!", "test"),))

    state = for_each("candidates", Does(act), workers=4)(start, context())
    assert sqls(state) == ["0!", "1!", "2!", "3!"]


@dataclass(frozen=True)
class Calls(Step):
    """A step that needs so many calls of a language model."""

    needed: int
    spends: Exception | None = None
    reads: frozenset[str] = frozenset({"question"})
    writes: frozenset[str] = frozenset({"candidates"})
    done: list[int] = field(default_factory=list)

    def calls(self, state: State) -> int:
        return self.needed

    def __call__(self, state: State, context: Context) -> State:
        if self.spends is not None:
            raise self.spends
        self.done.append(1)
        return state


@pytest.mark.parametrize(
    ("step", "ran"),
    [(Calls(5), False), (Calls(3), True), (Calls(1, BudgetSpent("spent")), False)],
    ids=["too dear", "affordable", "spent while it ran"],
)
def test_a_cheaper_variant_runs_where_the_budget_does_not_reach(step: Calls, ran: bool) -> None:
    cheap = NamedStep("cheap", adds("by the cheap one"))
    run = Run(spending=Spending(Budget(calls=3)))
    state = NamedStep("dear", step, cheap)(START, context(run))
    assert sqls(state) == ([] if ran else ["by the cheap one"])
    assert bool(state.warnings) is not ran
    assert bool(step.done) is ran


def test_without_a_cheaper_variant_the_step_is_left_out() -> None:
    run = Run(spending=Spending(Budget(calls=3)))
    dear: Any = named(Calls(5), "dear")
    assert dear(START, context(run)).warnings == (
        Note("budget", "the budget didn't reach for dear; it was left out"),
    )


@pytest.mark.parametrize(("workers", "seconds"), [(1, 14.0), (2, 8.0), (8, 5.0)])
def test_of_branches_side_by_side_the_longest_chain_is_what_was_not_waited_for(
    workers: int, seconds: float
) -> None:
    def branch(saved: float) -> Any:
        def waited(within: Context) -> State:
            within.run.saved.seconds += saved
            return START

        return START, waited

    whole = context(Run(clock=lambda: 0.0))
    run_branches([branch(saved) for saved in (5.0, 3.0, 3.0, 3.0)], whole, workers)
    assert whole.run.saved.seconds == seconds
