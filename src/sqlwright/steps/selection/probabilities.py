"""The probabilities of candidates by the model 'critic', for steps that select by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlwright.candidates import ResultGroup, group_by_result, held
from sqlwright.protocols import Critic
from sqlwright.types import Candidate, State

BEHIND = 0.99
"""Most of the surest sound candidate's probability that a faulty one may have, as a part of it;
chosen."""


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
    assessment = critic.assess(state, [as_meant(candidate) for candidate in ran])
    return {one.id: one.confidence or 0.0 for one in agreed(ran, assessment.probabilities)}


SAME_MEANING = frozenset({"name", "null", "place", "round", "unit"})
"""Faults whose mending says the same in other constants and functions than the question's."""


def as_meant(candidate: Candidate) -> Candidate:
    """The candidate as the critic, which knows what parsers write, can judge it: with its result,
    and without what only says the same in SQL's terms."""
    written = candidate
    while written.parent and written.mended and written.mended[-1].kind in SAME_MEANING:
        written = written.parent
    first = written
    while first.mended and first.parent:
        first = first.parent
    return replace(written, result=candidate.result, parent=first.parent)


def agreed(candidates: Sequence[Candidate], judgements: Sequence[float]) -> list[Candidate]:
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
