"""The embedded critic judges candidates by question, query and result; too little is a refusal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from sqlwright.candidates import ResultGroup, group_by_result, held, rank, valid
from sqlwright.protocols import Assessment, Context, Critic, Step
from sqlwright.types import Candidate, Refusal, State

NEAREST = 3
"""Tables named when refusing."""
COLUMNS_EACH = 4
"""Columns named of each table at most."""
MISSING = 3
"""Words named at most that nothing explains."""
BEHIND = 0.99
"""Most of the surest sound candidate's probability that a faulty one may have, as a part of it;
chosen."""


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
        ours = [candidate for candidate in state.candidates if not candidate.goal]
        ran = [candidate for candidate in ours if valid(candidate)]
        if not ran:
            return state.evolve(selected=rank(ours)[0]) if ours else state
        critic = context.critic
        if critic.caution:
            state = state.warn("critic", critic.caution)
        assessment = critic.assess(state, [_as_meant(candidate) for candidate in ran])
        judged = _agreed(ran, assessment.probabilities)
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


def result_probabilities(
    state: State, groups: Sequence[ResultGroup], critic: Critic
) -> tuple[float, ...]:
    """The probability that each group's result is right: that of its best candidate, judged beside
    all others, in [0, 1]."""
    ran = [candidate for group in groups for candidate in group.candidates]
    sure = probabilities(state, ran, critic)
    return tuple(max(sure[one.id] for one in group.candidates) for group in groups)


def probabilities(state: State, ran: Sequence[Candidate], critic: Critic) -> Mapping[str, float]:
    """The probability of each candidate by its id, the surest first, which is the one that
    `CriticSelection` takes; in [0, 1].

    As there the critic sees them in the order they were written, by which it knows what their
    author held for best.
    """
    places = {candidate.id: place for place, candidate in enumerate(state.candidates)}
    ran = sorted(ran, key=lambda candidate: places[candidate.id])
    assessment = critic.assess(state, [_as_meant(candidate) for candidate in ran])
    return {one.id: one.confidence or 0.0 for one in _agreed(ran, assessment.probabilities)}


SAME_MEANING = frozenset({"name", "null", "place", "round", "unit"})
"""Faults whose mending says the same in other constants and functions than the question's."""


def _as_meant(candidate: Candidate) -> Candidate:
    """The candidate as the critic, which knows what parsers write, can judge it: with its result,
    and without what only says the same in SQL's terms."""
    written = candidate
    while written.parent and written.mended and written.mended[-1].kind in SAME_MEANING:
        written = written.parent
    first = written
    while first.mended and first.parent:
        first = first.parent
    return replace(written, result=candidate.result, parent=first.parent)


def _agreed(candidates: Sequence[Candidate], judgements: Sequence[float]) -> list[Candidate]:
    """The candidates with their probabilities, in the one order in which they are shown: those
    without a fault first, then by the probability, then by how little of the question they leave
    unanswered, then as they were written.

    Those with the same result get the best of their probabilities: they are right or wrong
    together. That of a faulty one is below that of the surest sound one.
    """
    order = sorted(range(len(candidates)), key=lambda place: -judgements[place])
    together: dict[str, float] = {}
    for group in group_by_result(candidates[place] for place in order):
        for candidate in group.candidates:
            together[candidate.id] = float(judgements[_place(candidates, group.best)])
    sure = [
        replace(one, confidence=held(one, min(max(together[one.id], 0.0), 1.0)))
        for one in (candidates[place] for place in order)
    ]
    sound = max((one.confidence or 0.0 for one in sure if not one.vetoes), default=1.0)
    sure = [
        replace(one, confidence=min(one.confidence or 0.0, BEHIND * sound)) if one.vetoes else one
        for one in sure
    ]
    return sorted(sure, key=lambda one: (-(one.confidence or 0.0), _left(one)))


def _left(candidate: Candidate) -> float:
    """The doubt by what of the question a candidate leaves out, in [0, 1]."""
    return 0.0 if candidate.account is None else candidate.account.doubt


def _place(candidates: Sequence[Candidate], one: Candidate) -> int:
    return next(place for place, candidate in enumerate(candidates) if candidate is one)


def _refusal(state: State, assessment: Assessment) -> Refusal:
    """Naming what wasn't found, and what comes nearest."""
    words = ", ".join(f"“{word}”" for word in assessment.missing[:MISSING])
    if words:
        message = f"Nothing in this database seems to match {words}."
        return Refusal("unanswerable", message, nearest(state))
    message = "It isn't sure enough that this database holds what is asked."
    return Refusal("unsure", message, nearest(state))


def nearest(state: State) -> str:
    """The tables and columns the linker finds nearest to the question, in a sentence."""
    tables = [link.table for link in state.tables][:NEAREST]
    if not tables:
        tables = [table.name for table in state.view.schema.tables[:NEAREST]]
    if not tables:
        return ""
    parts = []
    for name in tables:
        columns = [link.column.column for link in state.columns if link.column.table == name]
        if not columns:
            table = state.view.schema.table(name)
            columns = [column.name for column in table.columns] if table else []
        parts.append(f"{name} ({', '.join(columns[:COLUMNS_EACH])})")
    return f"The nearest it could tell about: {'; '.join(parts)}."
