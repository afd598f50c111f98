"""One candidate by chance: the floor that selection is measured against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sqlwright.candidates import valid
from sqlwright.protocols import Context, Step
from sqlwright.steps.selection.agreement import clusters, select
from sqlwright.types import State


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
        if not ran:
            return select(state, groups)
        drawn = context.run.random(f"selection.by_chance/{state.question.text}").choice(ran)
        return select(state, groups, {one.id: float(one.id == drawn.id) for one in ran})
