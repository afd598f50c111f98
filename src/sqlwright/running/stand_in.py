"""Embedded models in place of a language model that wrote no query.

They serve whoever asks: the budget was too small, the endpoint is down, the replies couldn't be
read. An answer of theirs says so, and a run that measures a language model can forbid them.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlwright.english.languages import foreign_language
from sqlwright.protocols import Context
from sqlwright.running import combinators
from sqlwright.types import State

WROTE = "no language model wrote a query that can be used, so the embedded models answered"
FORBIDDEN = (
    "no language model wrote a query that can be used, and embedded models may not stand in for it"
)
UNREADABLE = (
    "no language model wrote a query that can be used, and the question seems to be in {language}, "
    "which the embedded models can't read"
)


@dataclass(frozen=True)
class StandIn(combinators.Sequence):
    """Steps that run only where there is no candidate, if the run allows them (`Run.stand_in`).

    A note of the kind `stand_in` says that they wrote the candidates, or why they didn't.
    """

    @property
    def reads(self) -> frozenset[str]:
        return super().reads | {"candidates"}

    def __call__(self, state: State, context: Context) -> State:
        if any(not one.goal for one in state.candidates) or state.refusal is not None:
            return state
        if not context.run.stand_in:
            return state.warn("stand_in", FORBIDDEN)
        if language := foreign_language(state.question.text):
            return state.warn("stand_in", UNREADABLE.format(language=language))
        after = super().__call__(state, context)
        return after.warn("stand_in", WROTE) if after.candidates else after
