"""Executes candidates and does nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sqlwright.candidates import execute
from sqlwright.protocols import Context, Step
from sqlwright.types import State


@dataclass(frozen=True)
class ExecuteCandidates(Step):
    """Gives every candidate without a result its result, errors included, under the run's limits.

    Does nothing without candidates. When time runs out, the rest stays unexecuted.
    """

    purpose: ClassVar[str] = "Runs each query that hasn't run yet. No call."
    reads: ClassVar[frozenset[str]] = frozenset({"candidates"})
    writes: ClassVar[frozenset[str]] = frozenset({"candidates"})

    def __call__(self, state: State, context: Context) -> State:
        if not state.candidates:
            return state
        done = execute(state.candidates, context.workspace.database, context.run)
        return state.evolve(candidates=done)
