"""The result that most candidates give: selection without a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sqlwright.protocols import Context, Step
from sqlwright.steps.selection.agreement import clusters, select
from sqlwright.types import State


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
