"""Steps made of steps: sequence, parallel, samples, for_each, repeat_until, when.

What a combinator reads and writes follows from its children, so a recipe is checked as a whole
before it runs: `check_fit` refuses one in which a step reads what nothing before it wrote, or in
which parallel branches write what can't be merged.

Every step that isn't a combinator runs as a `Named` one: it checks the run first, is timed, and
reports `begin` and `step` events, the latter with the state before and after. Where the budget
doesn't reach, the step's cheaper variant runs instead, or it is left out, and the answer says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from sqlwright.errors import BudgetSpent, ConfigError
from sqlwright.protocols import Context, Step
from sqlwright.running.parallel import ADDITIVE, merged, run_branches, settle
from sqlwright.types import State

GIVEN = frozenset({"question", "view", "refusal", "warnings"})
"""Fields that can be read from the start."""


@dataclass(frozen=True)
class Condition:
    """A named question about a state; recipes refer to it by its name in the registry."""

    reads: frozenset[str]
    test: Callable[[State, Context], bool]

    def __call__(self, state: State, context: Context) -> bool:
        return self.test(state, context)


@dataclass(frozen=True)
class Named:
    """A step under the name it has in traces, times and messages."""

    name: str
    step: Step
    cheaper: Named | None = None
    """What runs where the budget doesn't reach; nothing leaves the step out."""

    @property
    def reads(self) -> frozenset[str]:
        return self.step.reads | (self.cheaper.reads if self.cheaper else frozenset())

    @property
    def writes(self) -> frozenset[str]:
        return self.step.writes | (self.cheaper.writes if self.cheaper else frozenset())

    def __call__(self, state: State, context: Context) -> State:
        run = context.run
        run.check()
        if not self._affordable(state, context):
            return self._without(state, context)
        run.events("begin", {"step": self.name, "sample": state.sample})
        started = run.clock()
        try:
            after = self.step(state, context)
        except BudgetSpent:
            return self._without(state, context)
        seconds = run.clock() - started
        run.events("step", {"step": self.name, "seconds": seconds, "before": state, "state": after})
        return after

    def _affordable(self, state: State, context: Context) -> bool:
        """A step may say what it needs with `calls(state)`: language model calls, those included
        that must be left for what comes after it."""
        calls = getattr(self.step, "calls", None)
        spending = context.run.spending
        return calls is None or not spending.budget.limited or spending.affords(calls(state))

    def _without(self, state: State, context: Context) -> State:
        if self.cheaper is None:
            return state.warn(f"the budget didn't reach for {self.name}; it was left out")
        warned = state.warn(f"the budget didn't reach for {self.name}; used {self.cheaper.name}")
        return self.cheaper(warned, context)


@dataclass(frozen=True)
class Sequence:
    """Steps one after another. A refusal ends it: there is nothing left to do for the question."""

    steps: tuple[Step, ...]

    @property
    def reads(self) -> frozenset[str]:
        needed: frozenset[str] = frozenset()
        written: frozenset[str] = frozenset()
        for step in self.steps:
            needed |= step.reads - written
            written |= step.writes
        return needed

    @property
    def writes(self) -> frozenset[str]:
        return _writes(self.steps)

    def __call__(self, state: State, context: Context) -> State:
        for step in self.steps:
            if state.refusal is not None:
                break
            state = step(state, context)
        return state


@dataclass(frozen=True)
class Parallel:
    """Branches that all start from the same state; what they add is merged in declared order.

    With `workers` above 1 they run in threads. The outcome doesn't depend on it.
    """

    branches: tuple[Step, ...]
    workers: int = 1

    @property
    def reads(self) -> frozenset[str]:
        return frozenset().union(*(branch.reads for branch in self.branches))

    @property
    def writes(self) -> frozenset[str]:
        return _writes(self.branches)

    def __call__(self, state: State, context: Context) -> State:
        tasks = [(state, partial(branch, state)) for branch in self.branches]
        outcomes = run_branches(tasks, context, self.workers)
        return settle(merged(state, [outcome.state for outcome in outcomes]), outcomes, context)


@dataclass(frozen=True)
class Samples:
    """The body several times from the same state, for as many samples of a model.

    Each time `state.sample` is another number, from 1, on which seeds depend, and the candidates
    begin empty: writing one and repairing it become a chain of its own. What the chains add is
    merged in the order of the numbers. With `workers` above 1 they run in threads. Chains that
    fail are left out with a warning, all of them if need be: what comes next may do without.
    """

    count: int
    body: Step
    workers: int = 1

    @property
    def reads(self) -> frozenset[str]:
        return self.body.reads - {"candidates"}

    @property
    def writes(self) -> frozenset[str]:
        return self.body.writes

    def __call__(self, state: State, context: Context) -> State:
        starts = [state.evolve(sample=n, candidates=()) for n in range(1, self.count + 1)]
        tasks = [(start, partial(self.body, start)) for start in starts]
        outcomes = run_branches(tasks, context, self.workers)
        ended = [
            outcome.state.evolve(candidates=(*state.candidates, *outcome.state.candidates))
            for outcome in outcomes
        ]
        return settle(merged(state, ended), outcomes, context, may_all_fail=True)


@dataclass(frozen=True)
class ForEach:
    """The body once per item of a field, each time with that item alone in it.

    The field ends as everything the rounds left in it, in order; what else they add is merged.
    With `field="candidates"`, generation and repair of one candidate become one chain.
    """

    field: str
    body: Step
    workers: int = 1

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
class RepeatUntil:
    """The body until the condition holds, at most `rounds` times; not once if it holds already."""

    condition: Condition
    body: Step
    rounds: int = 3

    @property
    def reads(self) -> frozenset[str]:
        return self.body.reads | self.condition.reads

    @property
    def writes(self) -> frozenset[str]:
        return self.body.writes

    def __call__(self, state: State, context: Context) -> State:
        for _ in range(self.rounds):
            if state.refusal is not None or self.condition(state, context):
                break
            state = self.body(state, context)
        return state


@dataclass(frozen=True)
class When:
    """One step if the condition holds, else another one or nothing."""

    condition: Condition
    then: Step
    otherwise: Step | None = None

    @property
    def reads(self) -> frozenset[str]:
        either = self.then.reads | (self.otherwise.reads if self.otherwise else frozenset())
        return either | self.condition.reads

    @property
    def writes(self) -> frozenset[str]:
        return self.then.writes | (self.otherwise.writes if self.otherwise else frozenset())

    def __call__(self, state: State, context: Context) -> State:
        if self.condition(state, context):
            return self.then(state, context)
        return state if self.otherwise is None else self.otherwise(state, context)


COMBINATORS = (Sequence, Parallel, Samples, ForEach, RepeatUntil, When)


def named(step: Step, name: str = "") -> Step:
    """The step as a `Named` one, by default under its class's name; combinators stay themselves."""
    if isinstance(step, (Named, *COMBINATORS)):
        return step
    return Named(name or type(step).__name__, step)


def sequence(*steps: Step) -> Sequence:
    """Steps one after another."""
    return Sequence(tuple(named(step) for step in steps))


def parallel(*branches: Step, workers: int = 1) -> Parallel:
    """Branches from the same state, their additions merged in this order."""
    return Parallel(tuple(named(branch) for branch in branches), workers)


def samples(count: int, body: Step, *, workers: int = 1) -> Samples:
    """The body for so many samples, each a chain that begins without candidates."""
    return Samples(count, named(body), workers)


def for_each(field: str, body: Step, *, workers: int = 1) -> ForEach:
    """The body once per item of a field that holds a tuple."""
    return ForEach(field, named(body), workers)


def repeat_until(condition: Condition, body: Step, *, rounds: int = 3) -> RepeatUntil:
    """The body until the condition holds, at most `rounds` times."""
    return RepeatUntil(condition, named(body), rounds)


def when(condition: Condition, then: Step, otherwise: Step | None = None) -> When:
    """One step if the condition holds, else the other one or nothing."""
    return When(condition, named(then), None if otherwise is None else named(otherwise))


def leaves(step: Step) -> Iterator[Step]:
    """The steps in it that are no combinators, without their names."""
    return (one for one in walk(step) if not isinstance(one, _COMBINATORS))


def walk(step: Step) -> Iterator[Step]:
    """It and the steps in it, combinators included, without their names."""
    if isinstance(step, Named):
        yield from walk(step.step)
        if step.cheaper is not None:
            yield from walk(step.cheaper)
        return
    yield step
    inner: tuple[Step | None, ...] = ()
    if isinstance(step, Sequence | Parallel):
        inner = tuple(step.steps if isinstance(step, Sequence) else step.branches)
    elif isinstance(step, Samples | ForEach | RepeatUntil):
        inner = (step.body,)
    elif isinstance(step, When):
        inner = (step.then, step.otherwise)
    for child in inner:
        if child is not None:
            yield from walk(child)


_COMBINATORS = (Sequence, Parallel, Samples, ForEach, RepeatUntil, When)


def check_fit(step: Step, written: frozenset[str] = GIVEN) -> frozenset[str]:
    """The fields that are written once `step` has run after something that wrote `written`.

    Raises ConfigError naming the step and the field when one reads what nothing wrote, when
    parallel branches write what can't be merged, or when for_each runs over a single value.
    """
    if isinstance(step, Sequence):
        for child in step.steps:
            written = check_fit(child, written)
        return written
    if isinstance(step, Parallel):
        for branch in step.branches:
            _check_mergeable(branch, branch.writes, "parallel")
        return written.union(*(check_fit(branch, written) for branch in step.branches))
    if isinstance(step, Samples):
        _check_mergeable(step.body, step.body.writes, "samples")
        check_fit(step.body, written - {"candidates"})
        return written | step.writes
    if isinstance(step, ForEach):
        if step.field not in ADDITIVE:
            known = ", ".join(sorted(ADDITIVE))
            raise ConfigError(f"for_each can't run over {step.field!r}", hint=f"It can: {known}.")
        _check_mergeable(step.body, step.body.writes, "for_each")
        _check_written("for_each", frozenset({step.field}), written)
        return check_fit(step.body, written)
    if isinstance(step, RepeatUntil | When):
        _check_written("the condition", step.condition.reads, written)
        if isinstance(step, RepeatUntil):
            return check_fit(step.body, written)
        after = check_fit(step.then, written)
        return after if step.otherwise is None else after | check_fit(step.otherwise, written)
    _check_written(_name(step), step.reads, written)
    return written | step.writes


def _check_written(name: str, needed: frozenset[str], written: frozenset[str]) -> None:
    missing = sorted(needed - written)
    if missing:
        raise ConfigError(
            f"{name} reads {' and '.join(map(repr, missing))}, which no step before it writes",
            hint="Put a step that writes it earlier in the recipe.",
        )


def _check_mergeable(step: Step, writes: frozenset[str], where: str) -> None:
    single = sorted(writes - ADDITIVE)
    if single:
        raise ConfigError(
            f"{_name(step)} writes {' and '.join(map(repr, single))} inside {where}, "
            "where only additions can be merged",
            hint=f"Put it after {where}.",
        )


def _name(step: Step) -> str:
    if isinstance(step, Named):
        return step.name
    if isinstance(step, Sequence):
        return " + ".join(_name(child) for child in step.steps) or "an empty sequence"
    return type(step).__name__


def _writes(steps: Iterable[Step]) -> frozenset[str]:
    return frozenset().union(*(step.writes for step in steps))
