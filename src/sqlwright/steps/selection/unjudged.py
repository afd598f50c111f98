"""Selectors without a judge: the first that runs, the largest cluster, or by chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sqlwright.candidates import rank, valid
from sqlwright.protocols import Context, Step
from sqlwright.steps.selection.agreement import clusters, select
from sqlwright.types import State


@dataclass(frozen=True)
class FirstValid(Step):
    """Takes the best-scored candidate with rows, else one whose result is hollow, else one that
    declines, else any.

    Leaves the confidence open: nothing here measures it.
    """

    reads: ClassVar[frozenset[str]] = frozenset({"candidates"})
    writes: ClassVar[frozenset[str]] = frozenset({"selected"})

    def __call__(self, state: State, context: Context) -> State:
        ours = state.for_question
        ranked = rank((*ours, *state.declines))
        return state.evolve(selected=ranked[0]) if ranked else state


@dataclass(frozen=True)
class LargestCluster(Step):
    """Takes the best candidate of the largest group with one result (self-consistency).

    Of equally large groups one with rows comes before one without, then the one whose best
    candidate is ranked first. Candidates in error don't vote.
    """

    reads: ClassVar[frozenset[str]] = frozenset({"candidates"})
    writes: ClassVar[frozenset[str]] = frozenset({"candidates", "selected", "confidence", "basis"})

    def __call__(self, state: State, context: Context) -> State:
        return select(state, clusters(state))


@dataclass(frozen=True)
class ByChance(Step):
    """Takes one of the candidates that ran, drawn by the run's seed and the question.

    For measuring other selectors only; it stands in no recipe of use.
    """

    reads: ClassVar[frozenset[str]] = frozenset({"question", "candidates"})
    writes: ClassVar[frozenset[str]] = frozenset({"candidates", "selected", "confidence", "basis"})

    def __call__(self, state: State, context: Context) -> State:
        groups = clusters(state)
        ran = [one for one in state.candidates if valid(one) and not one.goal]
        ran += state.declines
        if not ran:
            return select(state, groups)
        drawn = context.run.random(f"selection.by_chance/{state.question.text}").choice(ran)
        return select(state, groups, {one.id: float(one.id == drawn.id) for one in ran})
