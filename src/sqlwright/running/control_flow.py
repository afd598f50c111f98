"""Combinators beyond the sequence: parallel, samples, for_each, repeat_until, when.

`Parallel`, `Samples` and `ForEach` run branches from one state and merge what they add; `parallel`
has the machinery. `RepeatUntil` and `When` ask a `Condition`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from sqlwright.protocols import Context, Step
from sqlwright.running.combinators import Combinator, named
from sqlwright.running.parallel import merged, run_branches, settle
from sqlwright.types import State


@dataclass(frozen=True)
class Condition:
    """A test of a state; recipes refer to it by its name in the registry."""

    reads: frozenset[str]
    test: Callable[[State, Context], bool]

    def __call__(self, state: State, context: Context) -> bool:
        return self.test(state, context)


@dataclass(frozen=True)
class Parallel(Combinator):
    """Branches that all start from the same state; what they add is merged in declared order.

    With `workers` above 1 they run in threads. The outcome doesn't depend on it.
    """

    branches: tuple[Step, ...]
    workers: int = 1

    @property
    def children(self) -> tuple[Step, ...]:
        return self.branches

    @property
    def reads(self) -> frozenset[str]:
        return frozenset().union(*(branch.reads for branch in self.branches))

    def __call__(self, state: State, context: Context) -> State:
        tasks = [(state, partial(branch, state)) for branch in self.branches]
        outcomes = run_branches(tasks, context, self.workers)
        return settle(merged(state, [outcome.state for outcome in outcomes]), outcomes, context)


@dataclass(frozen=True)
class Samples(Combinator):
    """The body several times from the same state, for as many samples of a model.

    Each time `state.sample`, on which seeds depend, is the next number, and the candidates begin
    empty: writing one and repairing it become a chain of its own. What the chains add is merged in
    the order of the numbers. With `workers` above 1 they run in threads. Chains that
    fail are left out with a warning, all of them if need be: what comes next may do without.

    Samples of the same prompt in several branches begin at a `first` of their own: then their seeds
    differ, and equal queries of two branches both count.
    """

    count: int
    body: Step
    workers: int = 1
    first: int = 1

    @property
    def children(self) -> tuple[Step, ...]:
        return (self.body,)

    @property
    def reads(self) -> frozenset[str]:
        return self.body.reads - {"candidates"}

    def __call__(self, state: State, context: Context) -> State:
        first = state.sample + self.first
        numbers = range(first, first + self.count)
        starts = [state.evolve(sample=n, candidates=()) for n in numbers]
        tasks = [(start, partial(self.body, start)) for start in starts]
        outcomes = run_branches(tasks, context, self.workers)
        ended = [
            outcome.state.evolve(candidates=(*state.candidates, *outcome.state.candidates))
            for outcome in outcomes
        ]
        return settle(merged(state, ended), outcomes, context, may_all_fail=True)


@dataclass(frozen=True)
class ForEach(Combinator):
    """The body once per item of a field, each time with that item alone in it.

    The field ends as everything the rounds left in it, in order; what else they add is merged.
    With `field="candidates"`, generation and repair of one candidate become one chain.
    """

    field: str
    body: Step
    workers: int = 1

    @property
    def children(self) -> tuple[Step, ...]:
        return (self.body,)

    @property
    def reads(self) -> frozenset[str]:
        return self.body.reads | {self.field}

    @property
    def writes(self) -> frozenset[str]:
        return self.body.writes | {self.field}

    def __call__(self, state: State, context: Context) -> State:
        items: tuple[object, ...] = getattr(state, self.field)
        alone = [state.evolve(**{self.field: (item,)}) for item in items]
        tasks = [(start, partial(self.body, start)) for start in alone]
        outcomes = run_branches(tasks, context, self.workers)
        results = [outcome.state for outcome in outcomes]
        together = [item for result in results for item in getattr(result, self.field)]
        rest = [result.evolve(**{self.field: items}) for result in results]
        after = merged(state, rest).evolve(**{self.field: tuple(together)})
        return settle(after, outcomes, context)


@dataclass(frozen=True)
class RepeatUntil(Combinator):
    """The body until the condition holds, at most `rounds` times; not once if it holds already."""

    condition: Condition
    body: Step
    rounds: int = 3

    @property
    def children(self) -> tuple[Step, ...]:
        return (self.body,)

    @property
    def reads(self) -> frozenset[str]:
        return self.body.reads | self.condition.reads

    def __call__(self, state: State, context: Context) -> State:
        for _ in range(self.rounds):
            if state.refusal is not None or self.condition(state, context):
                break
            state = self.body(state, context)
        return state


@dataclass(frozen=True)
class When(Combinator):
    """One step if the condition holds, else another one or nothing."""

    condition: Condition
    then: Step
    otherwise: Step | None = None

    @property
    def children(self) -> tuple[Step, ...]:
        return (self.then,) if self.otherwise is None else (self.then, self.otherwise)

    @property
    def reads(self) -> frozenset[str]:
        return self.condition.reads.union(*(child.reads for child in self.children))

    def __call__(self, state: State, context: Context) -> State:
        if self.condition(state, context):
            return self.then(state, context)
        return state if self.otherwise is None else self.otherwise(state, context)


def parallel(*branches: Step, workers: int = 1) -> Parallel:
    """Branches from the same state, their additions merged in this order."""
    return Parallel(tuple(named(branch) for branch in branches), workers)


def samples(count: int, body: Step, *, workers: int = 1, first: int = 1) -> Samples:
    """The body for `count` samples from the number `first` on, each a chain that begins without
    candidates."""
    return Samples(count, named(body), workers, first)


def for_each(field: str, body: Step, *, workers: int = 1) -> ForEach:
    """The body once per item of a field that holds a tuple."""
    return ForEach(field, named(body), workers)


def repeat_until(condition: Condition, body: Step, *, rounds: int = 3) -> RepeatUntil:
    """The body until the condition holds, at most `rounds` times."""
    return RepeatUntil(condition, named(body), rounds)


def when(condition: Condition, then: Step, otherwise: Step | None = None) -> When:
    """One step if the condition holds, else the other one or nothing."""
    return When(condition, named(then), None if otherwise is None else named(otherwise))
