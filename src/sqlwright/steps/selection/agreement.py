"""Selection by agreement of results, or by agreement and unit tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlwright.candidates import ResultGroup, group_by_result, rank
from sqlwright.types import Basis, State


def clusters(state: State) -> tuple[ResultGroup, ...]:
    """The candidates that ran, by their results; those with rows first, then as their authors
    rank them; then the declines as one group. Sub-queries and candidates in error take no part."""
    ran, declined = group_by_result(rank(state.for_question)), tuple(state.declines)
    return (*ran, ResultGroup(declined)) if declined else ran


def select(
    state: State, groups: Sequence[ResultGroup], shares: Mapping[str, float] | None = None
) -> State:
    """The state with the candidate of the greatest share selected.

    `shares` says by its id how well a candidate did, in [0, 1]; without it all did equally well.
    Ties go to the larger cluster, then to the better ranked. Where nothing ran and nobody declined
    the best ranked is selected, so that its error is the answer.

    Nothing here is a probability: the state's `basis` says how many samples agree, and `share` of a
    candidate orders the others. For it a cluster counts with its size times the best share in it,
    and an answer that nobody wrote counts as one more candidate.
    """
    of = len(state.for_question) + len(state.declines)
    if not groups:
        ours = rank(state.for_question)
        basis = Basis("none", 0, of)
        return state.evolve(selected=ours[0], confidence=None, basis=basis) if ours else state
    did = {c.id: 1.0 if shares is None else shares[c.id] for g in groups for c in g.candidates}
    winner, size = max(
        ((candidate, len(group.candidates)) for group in groups for candidate in group.candidates),
        key=lambda pair: (did[pair[0].id], pair[1]),
    )
    weights = [len(g.candidates) * max(did[c.id] for c in g.candidates) for g in groups]
    total = sum(weights) + 1.0
    part = {
        candidate.id: weight / total
        for group, weight in zip(groups, weights, strict=True)
        for candidate in group.candidates
    }
    return state.evolve(
        candidates=tuple(
            replace(one, share=part[one.id]) if one.id in part else one for one in state.candidates
        ),
        selected=replace(winner, share=part[winner.id]),
        confidence=None,
        basis=Basis("agreement" if of > 1 else "none", size, of),
    )


def chosen(state: State) -> bool:
    """True if one is selected, of all that ran."""
    ran = (one for group in group_by_result(state.for_question) for one in group.candidates)
    return state.selected is not None and all(one.share is not None for one in ran)
