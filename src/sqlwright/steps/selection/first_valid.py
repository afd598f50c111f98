"""The first candidate that runs: selection without a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sqlwright.candidates import rank
from sqlwright.protocols import Context, Step
from sqlwright.types import State


@dataclass(frozen=True)
class FirstValid(Step):
    """Takes the best-scored candidate with rows, else one whose result is hollow, else any.

    Leaves the confidence open: nothing here measures it.
    """

    reads: ClassVar[frozenset[str]] = frozenset({"candidates"})
    writes: ClassVar[frozenset[str]] = frozenset({"selected"})

    def __call__(self, state: State, context: Context) -> State:
        ranked = rank(candidate for candidate in state.candidates if not candidate.goal)
        return state.evolve(selected=ranked[0]) if ranked else state
