"""A language model asked where the embedded models aren't sure enough, tier by tier.

The answer of the embedded models stands where its calibrated confidence reaches a threshold. Else
the tiers run, the cheapest first, until one bears out the result that was chosen before it or the
budget is spent. What was found before stays and isn't asked again; the embedded models' candidates
stay as rivals: a result that only the language model gives takes the place of theirs where its
queries agree on it more than theirs is sure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from sqlwright.candidates import ResultGroup, group_by_result, rank, valid
from sqlwright.confidence.calibration import log_odds
from sqlwright.confidence.measures import BELIEF, STAYS
from sqlwright.errors import Cancelled, MalformedReply, ModelFailed, SqlwrightError
from sqlwright.events import BranchesMerged, Event, EventSink, TierEnded
from sqlwright.protocols import Context
from sqlwright.running import combinators
from sqlwright.spending import minus
from sqlwright.types import (
    Basis,
    Candidate,
    Refusal,
    RefusalReason,
    Sign,
    State,
    TierEnd,
    TierRecord,
)

RIVALS = 3
"""Results of the embedded models at most that a language model's are tested beside; chosen."""
AGAINST = 3
"""Queries of other results that are counted beside those of the language model, so that few of one
result don't make it certain. Chosen on simulated models (benchmarks/auto_curve.py): with 1, models
that are right in a fifth of their queries and err alike in all cost right answers."""
DOUBTS: frozenset[RefusalReason] = frozenset({"unanswerable", "unsure"})
"""Reasons of refusals that embedded models give for what they found, not for what was asked."""
BORNE_OUT = "the language model gives the same result"
SAME = "the embedded models give the same result"
OTHER = "the embedded models give another result"
DISPUTED = "the language model gives another result"


@dataclass(frozen=True)
class Tier(combinators.Sequence):
    """Steps that ask a language model."""

    name: str = ""
    """Its name in answers: "one query"."""
    least_calls: int = 1
    """Calls of the model before a query of it can be there: with fewer left it isn't entered."""

    def __post_init__(self) -> None:
        if self.least_calls < 1:
            raise ValueError(f"least_calls must be at least 1, not {self.least_calls}")


@dataclass(frozen=True)
class Escalation(combinators.Sequence):
    """Tiers, the cheapest first, where the embedded models aren't sure enough.

    Without a language model at hand it does nothing, and says nothing. Where the embedded models
    refused because they found nothing that fits, a language model is asked all the same: on
    databases unlike those they learnt from they refuse much that can be answered. Its query then
    stands with their reason as a note; other refusals stand, and nothing is asked.

    An answer that a language model bears out is as sure as the embedded models' confidence was
    fitted to say, and any other has its basis and no probability, until one is fitted to what both
    say together (`confidence.measures.ASKED`).
    """

    sure: float = 0.8
    """Confidence of the embedded models from which no language model is asked: at 0 none ever is,
    at 1 one always is."""

    after_refusal: ClassVar[bool] = True
    spares_model: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.steps or not all(isinstance(step, Tier) for step in self.steps):
            raise ValueError("escalate takes tiers, at least one")
        if not 0.0 <= self.sure <= 1.0:
            raise ValueError(f"sure must be from 0 to 1, not {self.sure:g}")

    @property
    def reads(self) -> frozenset[str]:
        return super().reads | {"candidates"}

    @property
    def writes(self) -> frozenset[str]:
        return super().writes | {
            "candidates", "selected", "confidence", "basis", "measures", "refusal", "tiers"
        }  # fmt: skip

    def __call__(self, state: State, context: Context) -> State:
        refusal = state.refusal
        if "llm" not in context.models or (refusal and refusal.reason not in DOUBTS):
            return state
        weighed = context.weighed(state)
        before = weighed.confidence
        found = refusal is None and state.selected is not None and (before or 0.0) >= self.sure
        stands = self.sure < 1.0 and (found or self.sure == 0.0)
        state = state.evolve(refusal=None, selected=None if refusal else state.selected)
        first = _Local(state, {} if refusal else {o.id: o.confidence for o in weighed.candidates})
        for tier in self.steps:
            assert isinstance(tier, Tier)
            error, spending = None, context.run.spending
            spent = spending.total
            end: TierEnd = "sure" if stands else "budget"
            if not stands and spending.affords(tier.least_calls):
                state, end, error = _entered(tier, first, state, context)
            record = TierRecord(
                tier.name, context.llm().name, end, before, minus(spending.total, spent)
            )
            state = state.evolve(tiers=(*state.tiers, record))
            context.run.events(TierEnded(record, _settled(state, refusal)))
            if error is not None:
                raise error
            if end != "differs" or state.refusal is not None:
                break
        return _settled(state, refusal)


@dataclass(frozen=True)
class _Local:
    """The embedded models' part."""

    state: State
    """The state before any tier."""
    sure: Mapping[str, float | None]
    """The probability of each candidate, by its id; of none where they refused."""

    @property
    def answer(self) -> str:
        """The id of the query they chose; empty without one."""
        return "" if self.state.selected is None else self.state.selected.id

    def belief(self, group: ResultGroup) -> float:
        """The probability of a result, 0 for one that they don't give."""
        return max(self.sure.get(one.id) or 0.0 for one in group.candidates)

    def odds(self, group: ResultGroup) -> float:
        """The log odds of a result: of one that they don't give those against their answer, and 0
        where there is none."""
        if belief := self.belief(group):
            return log_odds(belief)
        return -log_odds(self.sure.get(self.answer) or 0.5)


def _settled(state: State, refusal: Refusal | None) -> State:
    """The state with what becomes of the embedded models' refusal."""
    if refusal is None or state.refusal is not None:
        return state
    if any(one.by_model and valid(one) for one in state.candidates):
        return state.warn("critic", refusal.message)
    return state.evolve(refusal=refusal, selected=None)


@dataclass
class _AtHand:
    """An event sink that keeps what branches had as one of them failed, and passes events on."""

    sink: EventSink
    state: State | None = None

    def __call__(self, event: Event) -> None:
        if isinstance(event, BranchesMerged):
            self.state = event.state
        self.sink(event)


def _run(tier: Tier, state: State, context: Context) -> tuple[State, SqlwrightError | None]:
    """The state after the tier's steps, or as it was when an error ended them."""
    after, run = state, context.run
    for step in tier.steps:
        at_hand = _AtHand(run.events)
        try:
            after = step(after, replace(context, run=run.fork(at_hand)))
        except (Cancelled, MalformedReply, ModelFailed) as error:
            return (at_hand.state or after).evolve(view=state.view), error
        if after.refusal is not None:
            break
    return after, None


def _entered(
    tier: Tier, first: _Local, state: State, context: Context
) -> tuple[State, TierEnd, SqlwrightError | None]:
    """The state after the tier's steps, what came of them, and the error that ends it all, if there
    was one (out of time, cancelled): what the model had written by then counts."""
    calls = context.run.spending.total
    rivals = _rivals(state)
    others = tuple(one for one in state.candidates if one not in rivals)
    after, error = _run(tier, state.evolve(candidates=rivals), context)
    if isinstance(error, ModelFailed | MalformedReply):
        after = after.warn("left_out", f"{tier.name} was left out: {error}", error)
        error = None
    after = after.evolve(candidates=(*after.candidates, *others))
    if _running(after) == _running(state):
        asked = minus(context.run.spending.total, calls)
        end = _vain(state, after, asked=bool(asked.calls or asked.cached))
        return _unchanged(state, after), end if error is None else "cut_short", error
    tested = None if after.selected is state.selected else after.selected
    tested = None if tested is not None and tested.declined else tested
    after, agreed = _chosen(after, first, state, tested)
    return after, "agrees" if agreed else "differs", error


def _rivals(state: State) -> tuple[Candidate, ...]:
    """The candidates that a model's are tested beside: the best of each probable result of the
    embedded models, and what a model wrote."""
    own = [one for one in state.for_question if not one.by_model and one.confidence is not None]
    taken = "" if state.selected is None else state.selected.id
    own.sort(key=lambda one: (-(one.confidence or 0.0), one.id != taken))
    best = {group.best.id for group in group_by_result(own)[:RIVALS]}
    return tuple(one for one in state.candidates if one.by_model or one.id in best)


def _unchanged(state: State, after: State) -> State:
    """The state after a tier without a query that runs: what was chosen stays. Where nothing was,
    the error of the model's query is the answer."""
    return after.evolve(
        selected=state.selected or next(iter(rank(after.for_question)), None),
        confidence=state.confidence,
        basis=state.basis,
        measures=state.measures,
    )


def _vain(state: State, after: State, *, asked: bool) -> TierEnd:
    """The end of a tier without a query that runs."""
    cut = any(one.kind == "budget" and one not in state.warnings for one in after.warnings)
    if cut and not asked:
        return "budget"
    return "cut_short" if cut else "nothing"


def _chosen(
    state: State, first: _Local, before: State, tested: Candidate | None
) -> tuple[State, bool]:
    """The state with a result chosen, and whether the tier bears out what was found `before` it: a
    query of this tier gives the chosen result, and so did the query chosen then or one of the
    language model's.

    It is the best by `_support`; where that is the language model's, the tier's tests may choose
    another. Of one result the embedded models' query is taken, whose words and values are known,
    unless that has a fault and the model's has none.
    """
    written = [one for one in state.for_question if one.by_model]
    own = [one for one in state.for_question if not one.by_model]
    groups, of = group_by_result([*own, *rank(written)]), len(written) + len(state.declines)
    parts = {
        one.id: sum(each.by_model for each in group.candidates) / (of + 1)
        for group in groups
        for one in group.candidates
    }
    best = max(groups, key=lambda group: _support(group, first, of))
    if tested is not None and not _has(best, first.answer):
        best = next(group for group in groups if _has(group, tested.id))
    votes = sum(one.by_model for one in best.candidates)
    members = sorted(best.candidates, key=lambda one: (bool(one.vetoes), one.id != first.answer))
    taken = members[0].id
    stays = taken == first.answer
    if stays:
        sign = Sign("second_opinion", BORNE_OUT if votes else DISPUTED, favours=votes > 0)
    else:
        also = votes < len(best.candidates)
        sign = Sign("second_opinion", SAME if also else OTHER, favours=also)
    borne_out = stays and votes > 0
    judged = {o.id: o.confidence for o in first.state.candidates} if borne_out else {}
    candidates = tuple(
        replace(one, confidence=judged.get(one.id), share=parts.get(one.id))
        for one in state.candidates
    )
    compared = of > 1 or (stays and not votes)
    after = state.evolve(
        candidates=candidates,
        selected=next(one for one in candidates if one.id == taken),
        confidence=first.state.confidence if borne_out else None,
        basis=Basis("agreement" if compared else "none", votes, of, (sign,)),
        measures={**first.state.measures, BELIEF: first.odds(best), STAYS: float(stays)},
    )
    chosen = {one.id for one in best.candidates}
    earlier = sum(one.by_model and one.id in chosen for one in before.for_question)
    known = earlier or (before.selected is not None and before.selected.id in chosen)
    return after, bool(known) and votes > earlier


def _has(group: ResultGroup, candidate: str) -> bool:
    return any(one.id == candidate for one in group.candidates)


def _support(group: ResultGroup, first: _Local, of: int) -> tuple[bool, float, bool, bool]:
    """The order of results: some query of it has no fault; how probable it is if either the
    embedded models or the language model are right, whose part of queries without a fault
    (self-consistency, Wang et al. 2023) is taken for a probability; the embedded models' answer;
    any query of theirs. `of` are the language model's queries and replies that declined."""
    whole = [one for one in group.candidates if not one.vetoes]
    part = sum(one.by_model for one in whole) / (of + AGAINST)
    embedded = any(not one.by_model for one in group.candidates)
    likely = 1.0 - (1.0 - first.belief(group)) * (1.0 - part)
    return bool(whole), likely, _has(group, first.answer), embedded


def _running(state: State) -> int:
    """The number of a model's queries that run."""
    return sum(one.by_model and valid(one) for one in state.for_question)
