"""Steps made of steps: sequence, parallel, for_each, repeat_until, when.

What a combinator reads and writes follows from its children, so a recipe is checked as a whole
before it runs: `check_fit` refuses one in which a step reads what nothing before it wrote, or in
which parallel branches write what can't be merged.

Every step that isn't a combinator runs as a `Named` one: it checks the run first, is timed, and
reports `begin` and `step` events, the latter with the state before and after.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields

from sqlwright.errors import ConfigError
from sqlwright.protocols import Context, Step
from sqlwright.types import State

GIVEN = frozenset({"question", "view", "refusal", "warnings"})
"""Fields that can be read from the start."""

ADDITIVE = frozenset(f.name for f in fields(State) if f.default == ())
"""Fields that hold a tuple: what parallel branches add to them can be merged."""


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

    @property
    def reads(self) -> frozenset[str]:
        return self.step.reads

    @property
    def writes(self) -> frozenset[str]:
        return self.step.writes

    def __call__(self, state: State, context: Context) -> State:
        run = context.run
        run.check()
        run.events("begin", {"step": self.name})
        started = run.clock()
        after = self.step(state, context)
        seconds = run.clock() - started
        run.events("step", {"step": self.name, "seconds": seconds, "before": state, "state": after})
        return after


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
        if self.workers <= 1 or len(self.branches) <= 1:
            return _merged(state, [branch(state, context) for branch in self.branches])
        with ThreadPoolExecutor(self.workers, "sqlwright-branch") as pool:
            futures = [pool.submit(branch, state, context) for branch in self.branches]
            return _merged(state, [future.result() for future in futures])


@dataclass(frozen=True)
class ForEach:
    """The body once per item of a field, each time with that item alone in it.

    The field ends as everything the rounds left in it, in order; what else they add is merged.
    With `field="candidates"`, generation and repair of one candidate become one chain.
    """

    field: str
    body: Step

    @property
    def reads(self) -> frozenset[str]:
        return self.body.reads | {self.field}

    @property
    def writes(self) -> frozenset[str]:
        return self.body.writes | {self.field}

    def __call__(self, state: State, context: Context) -> State:
        items: tuple[object, ...] = getattr(state, self.field)
        alone = [state.evolve(**{self.field: (item,)}) for item in items]
        results = [self.body(start, context) for start in alone]
        together = [item for result in results for item in getattr(result, self.field)]
        rest = [result.evolve(**{self.field: items}) for result in results]
        return _merged(state, rest).evolve(**{self.field: tuple(together)})


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


COMBINATORS = (Sequence, Parallel, ForEach, RepeatUntil, When)


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


def for_each(field: str, body: Step) -> ForEach:
    """The body once per item of a field that holds a tuple."""
    return ForEach(field, named(body))


def repeat_until(condition: Condition, body: Step, *, rounds: int = 3) -> RepeatUntil:
    """The body until the condition holds, at most `rounds` times."""
    return RepeatUntil(condition, named(body), rounds)


def when(condition: Condition, then: Step, otherwise: Step | None = None) -> When:
    """One step if the condition holds, else the other one or nothing."""
    return When(condition, named(then), None if otherwise is None else named(otherwise))


def leaves(step: Step) -> Iterator[Step]:
    """The steps in it that are no combinators, without their names."""
    if isinstance(step, Named):
        yield from leaves(step.step)
    elif isinstance(step, Sequence | Parallel):
        for child in step.steps if isinstance(step, Sequence) else step.branches:
            yield from leaves(child)
    elif isinstance(step, ForEach | RepeatUntil):
        yield from leaves(step.body)
    elif isinstance(step, When):
        yield from leaves(step.then)
        if step.otherwise is not None:
            yield from leaves(step.otherwise)
    else:
        yield step


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


def _merged(start: State, results: Iterable[State]) -> State:
    """The start plus what each result has beyond it, in order, equal additions once."""
    changes: dict[str, tuple[object, ...]] = {}
    ended = list(results)
    for name in sorted(ADDITIVE):
        given: tuple[object, ...] = getattr(start, name)
        added: list[object] = []
        for result in ended:
            items: tuple[object, ...] = getattr(result, name)
            if items is not given:
                added += [item for item in items if item not in given and item not in added]
        if added:
            changes[name] = (*given, *added)
    return start.evolve(**changes)
