"""The embedded critic judges candidates by question, query and result; too little is a refusal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sqlwright.candidates import rank, valid
from sqlwright.protocols import Assessment, Context, Critic, Step
from sqlwright.running.declined import nearest
from sqlwright.steps.selection.probabilities import agreed, as_meant
from sqlwright.types import Refusal, State

MISSING = 3
"""Words named at most that nothing explains."""


@dataclass(frozen=True)
class CriticSelection(Step):
    """Takes the candidate most probably right, by the model 'critic', and says how probable.

    After MSc-SQL section 4: candidates are judged together, with their results. Candidates in
    error aren't judged; where none ran, the best one is selected and its error is the answer. Of
    equally probable ones the earlier wins.
    """

    refuse_below: float | None = None
    """Least probability that the question is answerable at all; None is the critic's own, found on
    held-out databases; 0 never refuses."""

    roles: ClassVar[tuple[str, ...]] = ("critic",)
    reads: ClassVar[frozenset[str]] = frozenset({"question", "candidates"})
    writes: ClassVar[frozenset[str]] = frozenset(
        {"candidates", "selected", "confidence", "answerable", "measures", "refusal", "warnings"}
    )

    def __call__(self, state: State, context: Context) -> State:
        ours = state.for_question
        ran = [candidate for candidate in ours if valid(candidate)]
        if not ran:
            return state.evolve(selected=rank(ours)[0]) if ours else state
        critic = context.critic
        if critic.caution:
            state = state.warn("critic", critic.caution)
        assessment = critic.assess(state, [as_meant(candidate) for candidate in ran])
        judged = agreed(ran, assessment.probabilities)
        by_id = {candidate.id: candidate for candidate in judged}
        decided = state.evolve(
            candidates=tuple(by_id.get(c.id, c) for c in state.candidates),
            confidence=judged[0].confidence,
            answerable=float(assessment.answerable),
            measures=assessment.measures,
        )
        if self._refuses(critic, assessment):
            return decided.evolve(refusal=_refusal(state, assessment))
        return decided.evolve(selected=judged[0])

    def _refuses(self, critic: Critic, assessment: Assessment) -> bool:
        """By the critic's own threshold only where a word isn't explained: what stands on words
        that all are is shown with its doubt."""
        if self.refuse_below is None:
            return bool(assessment.missing) and assessment.answerable < critic.refuse_below
        return assessment.answerable < self.refuse_below


def _refusal(state: State, assessment: Assessment) -> Refusal:
    """Naming what wasn't found, and what comes nearest."""
    words = ", ".join(f"“{word}”" for word in assessment.missing[:MISSING])
    if words:
        message = f"Nothing in this database seems to match {words}."
        return Refusal("unanswerable", message, nearest(state))
    message = "It isn't sure enough that this database holds what is asked."
    return Refusal("unsure", message, nearest(state))
