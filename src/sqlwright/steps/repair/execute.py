"""Executes candidates, and mends by the schema those that fail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sqlwright.candidates import execute
from sqlwright.protocols import Context, Step
from sqlwright.steps.repair.by_schema import mended
from sqlwright.types import State


@dataclass(frozen=True)
class ExecuteCandidates(Step):
    """Gives every candidate without a result its result, errors included, under the run's limits.

    Does nothing without candidates. When time runs out, the rest stays unexecuted.
    """

    by_schema: bool = True
    """Put right a query that fails where the schema says what its names mean, and one that is
    written for another engine; not part of any paper."""

    purpose: ClassVar[str] = (
        "Runs each query that hasn't run yet; one that fails is mended where the schema alone says "
        "how. No call."
    )
    reads: ClassVar[frozenset[str]] = frozenset({"candidates"})
    writes: ClassVar[frozenset[str]] = frozenset({"candidates"})

    def __call__(self, state: State, context: Context) -> State:
        if not state.candidates:
            return state
        done = execute(state.candidates, context.workspace.database, context.run)
        if self.by_schema:
            done = tuple(mended(one, state, context) for one in done)
        return state.evolve(candidates=done)
