"""Steps that narrow the schema for themselves only."""

from __future__ import annotations

from sqlwright.protocols import Context
from sqlwright.running import combinators
from sqlwright.types import State


class OwnView(combinators.Sequence):
    """Steps one after another on a view of their own: what comes next sees the schema as it was.

    CHASE-SQL links columns for one of its calls only; all others see the whole schema.
    """

    @property
    def writes(self) -> frozenset[str]:
        return super().writes - {"view"}

    def __call__(self, state: State, context: Context) -> State:
        return super().__call__(state, context).evolve(view=state.view)
