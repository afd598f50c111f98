"""Running steps by name and in order: `NamedStep` and `Sequence`.

A combinator is a step made of steps. What it reads and writes follows from its children, so a
recipe is checked as a whole before it runs (`fit.check_fit`). The other combinators are in
`control_flow`.

Every step that isn't a combinator runs as a `NamedStep`: it checks the run first, is timed, and
reports `StepStarted` and `StepEnded`, the latter with the state before and after. Where the budget
doesn't reach, the step's cheaper variant runs instead, or it is left out, and the answer says so.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from sqlwright.errors import BudgetSpent
from sqlwright.events import StepEnded, StepStarted
from sqlwright.protocols import Context, Step
from sqlwright.types import State


class Combinator(Step):
    """A step made of steps."""

    after_refusal: ClassVar[bool] = False
    """True if it may run after a refusal, which it may take back."""
    spares_model: ClassVar[bool] = False
    """True if its steps ask the run's own language model only where there is one."""

    @property
    @abstractmethod
    def children(self) -> tuple[Step, ...]:
        """The steps it is made of, in the order of the recipe."""

    @property
    def writes(self) -> frozenset[str]:
        """State fields it may change: those of its children."""
        return frozenset().union(*(child.writes for child in self.children))

    @property
    def purpose(self) -> str:
        """Those of its children, in order."""
        return " Then: ".join(dict.fromkeys(child.purpose for child in self.children))

    def applies(self, state: State, context: Context) -> bool:
        """True if one of its children does."""
        return any(child.applies(state, context) for child in self.children)


@dataclass(frozen=True)
class NamedStep(Step):
    """A step under the name it has in traces, times and messages."""

    name: str
    step: Step
    instead: NamedStep | None = None
    """The step that runs where the budget doesn't reach; None leaves the step out."""

    @property
    def reads(self) -> frozenset[str]:
        return self.step.reads | (self.instead.reads if self.instead else frozenset())

    @property
    def writes(self) -> frozenset[str]:
        return self.step.writes | (self.instead.writes if self.instead else frozenset())

    @property
    def purpose(self) -> str:
        return self.step.purpose

    def applies(self, state: State, context: Context) -> bool:
        """As its step."""
        return self.step.applies(state, context)

    def __call__(self, state: State, context: Context) -> State:
        run = context.run
        run.check()
        if not self._affordable(state, context):
            return self._without(state, context)
        run.events(StepStarted(self.name, state.sample))
        started = run.clock()
        after, spent = state, False
        try:
            after = self.step(state, context)
        except BudgetSpent:
            spent = True
        finally:
            run.events(StepEnded(self.name, run.clock() - started, state, after))
        return self._without(state, context) if spent else after

    def _affordable(self, state: State, context: Context) -> bool:
        """True if the budget has the calls that the step needs."""
        spending = context.run.spending
        needed = self.step.calls(state) if spending.budget.limited else None
        return needed is None or spending.affords(needed)

    def _without(self, state: State, context: Context) -> State:
        if self.instead is None:
            return state.warn("budget", f"the budget didn't reach for {self.name}; it was left out")
        warned = state.warn(
            "budget", f"the budget didn't reach for {self.name}; used {self.instead.name}"
        )
        return self.instead(warned, context)


@dataclass(frozen=True)
class Sequence(Combinator):
    """Steps one after another. A refusal ends it, but for steps that may take it back."""

    steps: tuple[Step, ...]

    @property
    def children(self) -> tuple[Step, ...]:
        return self.steps

    @property
    def reads(self) -> frozenset[str]:
        needed: frozenset[str] = frozenset()
        written: frozenset[str] = frozenset()
        for step in self.steps:
            needed |= step.reads - written
            written |= step.writes
        return needed

    def __call__(self, state: State, context: Context) -> State:
        for step in self.steps:
            again = isinstance(step, Combinator) and step.after_refusal
            if state.refusal is None or again:
                state = step(state, context)
        return state


def named(step: Step, name: str = "") -> Step:
    """The step as a `NamedStep`, by default under its class's name; combinators stay themselves."""
    if isinstance(step, NamedStep | Combinator):
        return step
    return NamedStep(name or type(step).__name__, step)


def sequence(*steps: Step) -> Sequence:
    """Steps one after another."""
    return Sequence(tuple(named(step) for step in steps))


def leaves(step: Step) -> Iterator[Step]:
    """The steps in it that are no combinators, without their names."""
    return (one for one in walk(step) if not isinstance(one, Combinator))


def walk(step: Step) -> Iterator[Step]:
    """It and the steps in it, combinators included, without their names."""
    if isinstance(step, NamedStep):
        yield from walk(step.step)
        if step.instead is not None:
            yield from walk(step.instead)
        return
    yield step
    if isinstance(step, Combinator):
        for child in step.children:
            yield from walk(child)
