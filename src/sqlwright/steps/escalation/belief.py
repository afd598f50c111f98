"""The probability of each result, once embedded models and a language model wrote queries.

The rule. What the embedded models held for probable comes first; each result of the language model
weighs by how often such a model is right; and two authors that come to the same result by chance
are rare. So a result of both becomes surer, and one of the model alone takes what the embedded
models left open. Nothing here was fitted to a language model: the recipe says how often it is
right, `SAME_MISTAKE` was chosen. Where they are fitted, they take these places.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlwright.candidates import VETOED, ResultGroup, group_by_result, rank, valid
from sqlwright.types import Candidate, State

SAME_MISTAKE = 0.3
"""Probability that a language model that is wrong makes the very mistake of the embedded models.
Chosen: of the embedded models' own wrong results about as many come twice."""
TOGETHER = 0.25
"""Chosen: where all of twenty samples agree they count as two models that do."""
OTHERS = 1 / 3
"""Part at most of what the first query leaves open that the embedded models' others take together.
Chosen: where the first is wrong, another is right in 25 of 100 on databases like BIRD's, 48 on
Spider's."""
NEARLY = 0.98
"""Share of a model's right answers that is reckoned with at most; chosen."""


@dataclass(frozen=True)
class Belief:
    """Results of queries, the most probable first, and what is left for none of them."""

    groups: tuple[ResultGroup, ...] = ()
    probabilities: tuple[float, ...] = ()
    none: float = 1.0
    """Probability that no query written so far is right."""

    @property
    def sure(self) -> float:
        """Probability that the first is right; 0 without one."""
        return self.probabilities[0] if self.probabilities else 0.0


def before_any(state: State) -> Belief:
    """The belief by the embedded models alone: their confidence in their candidates.

    That in the first is what an answer by it would show. Those in the others were judged one by
    one: together they may come to more than is left.
    """
    taken = "" if state.selected is None else state.selected.id
    own = [c for c in _whole(state) if not c.by_model and c.confidence is not None]
    own.sort(key=lambda one: (-(one.confidence or 0.0), one.id != taken))
    groups = group_by_result(own)
    if not groups:
        return Belief()
    first, *others = (max(one.confidence or 0.0 for one in group.candidates) for group in groups)
    total, most = sum(others), OTHERS * (1.0 - first)
    share = most / total if total > most else 1.0
    return Belief(groups, (first, *(p * share for p in others)), 1.0 - first - share * total)


def with_model(prior: Belief, state: State, right: float) -> Belief:
    """The belief once a language model, which alone is right with probability `right`, wrote the
    candidates of the state that say so.

    Samples of one model err together: n of them count as n to the power of `TOGETHER`. A result
    for which there is no query without a fault keeps a part of its probability, `VETOED`.
    """
    written = [one for one in _whole(state) if one.by_model and valid(one)]
    first = {one.id: place for place, group in enumerate(prior.groups) for one in group.candidates}
    groups = group_by_result([*(c for g in prior.groups for c in g.candidates), *rank(written)])
    if not groups:
        return prior
    odds = min(right, NEARLY) / (1.0 - min(right, NEARLY))
    each = len(written) ** (TOGETHER - 1.0) if written else 0.0
    passed = _passed(state)
    weights = []
    for group in groups:
        votes = each * sum(one.by_model for one in group.candidates)
        known = [first[one.id] for one in group.candidates if one.id in first]
        before = prior.probabilities[known[0]] if known else prior.none
        factor = odds / SAME_MISTAKE if known else odds
        best = max(passed.get(one.id, 1.0) for one in group.candidates)
        weights.append(before * factor**votes * best)
    total = sum(weights) + prior.none
    sure = [_held(group, weight / total) for group, weight in zip(groups, weights, strict=True)]
    order = sorted(range(len(groups)), key=lambda place: -sure[place])
    return Belief(
        tuple(groups[place] for place in order),
        tuple(sure[place] for place in order),
        1.0 - sum(sure),
    )


def _held(group: ResultGroup, probability: float) -> float:
    """The probability of a result that a model stands behind, less where all its queries have a
    fault; where the embedded models alone do, theirs says it already."""
    faulty = all(one.vetoes for one in group.candidates)
    asked = any(one.by_model for one in group.candidates)
    return probability * VETOED if faulty and asked else probability


def expected_gain(belief: Belief, right: float, had: float | None) -> float:
    """The gain in the probability of being right that can be expected of asking a model that is
    right with probability `right`; `had` is how often it was right as it was asked before.

    Asked for the first time, it helps where its query would take the first one's place, and is
    right. Asked for more, it mends such a part of wrong answers as it is right more often.
    """
    if had is not None:
        return max(0.0, 1.0 - belief.sure) * max(0.0, right - had) / (1.0 - min(had, NEARLY))
    wrong = belief.sure * (1.0 - right)
    """The first one is right, and the model isn't."""
    others = belief.probabilities[1:]
    gain = max(0.0, belief.none * right - wrong * (1.0 - SAME_MISTAKE * bool(others)))
    for other in others:
        gain += max(0.0, other * right - wrong * SAME_MISTAKE / len(others))
    return gain


def chosen(state: State, belief: Belief) -> State:
    """The state with the most probable result selected, and how probable each candidate is. Of one
    result the embedded models' query is taken, whose words and values are known, unless that has a
    fault and the model's has none. What the critic measured was measured of its own choice."""
    sure = {
        one.id: probability
        for group, probability in zip(belief.groups, belief.probabilities, strict=True)
        for one in group.candidates
    }
    same = belief.groups[0].candidates
    best = next((one for one in same if not one.vetoes), same[0])
    return state.evolve(
        candidates=tuple(
            replace(one, confidence=sure[one.id]) if one.id in sure else one
            for one in state.candidates
        ),
        selected=replace(best, confidence=belief.sure),
        confidence=belief.sure,
        measures={},
    )


def _passed(state: State) -> Mapping[str, float]:
    """The share of unit tests each candidate passed, by its id, as a part of the best one's. One
    imagined pass and one imagined failure are added to each; empty where nothing was judged."""
    judged = [test.passed for test in state.tests if test.passed is not None]
    if not judged:
        return {}
    shares = {
        one.id: (sum(place in ones for ones in judged) + 1) / (len(judged) + 2)
        for place, one in enumerate(state.candidates)
    }
    most = max(shares.values())
    return {name: share / most for name, share in shares.items()}


def _whole(state: State) -> Sequence[Candidate]:
    """The candidates for the whole question."""
    return [one for one in state.candidates if not one.goal]
