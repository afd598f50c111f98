"""Steps that cost money, tier by tier, each only where it is worth its price.

A tier is entered where what a right answer is worth (`Run.worth`), times the gain in the
probability of being right that can be expected, is more than the price that can be expected; of
several tiers to come, where that holds up to one of them. What was found before stays and isn't
asked again; the embedded models' candidates stay as rivals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from sqlwright.candidates import rank, valid
from sqlwright.errors import Cancelled, MalformedReply, ModelFailed, SqlwrightError
from sqlwright.events import BranchesMerged, Event, EventSink, TierEnded
from sqlwright.protocols import Context, LanguageModel
from sqlwright.protocols.models import expected_cost
from sqlwright.running import combinators
from sqlwright.spending import minus
from sqlwright.steps.escalation.belief import (
    Belief,
    before_any,
    chosen,
    expected_gain,
    with_model,
)
from sqlwright.steps.showing import named_tokens
from sqlwright.types import (
    Basis,
    Candidate,
    Refusal,
    RefusalReason,
    State,
    TierEnd,
    TierRecord,
)

RIVALS = 3
"""Results of the embedded models at most that a language model's are tested beside; chosen."""
DOUBTS: frozenset[RefusalReason] = frozenset({"unanswerable", "unsure"})
"""Reasons of refusals that embedded models give for what they found, not for what was asked."""
LEAST_RIVAL = 0.05
"""Confidence of a rival at least; chosen."""


@dataclass(frozen=True)
class Tier(combinators.Sequence):
    """Steps that ask a language model, what they take, and how often it is right after them."""

    name: str = ""
    """Its name in answers: "one query"."""
    right: float = 0.7
    """Share of questions that the model answers right alone once these steps have run."""
    requests: float = 1.0
    """Calls of the model that its steps usually make."""
    prompt: int = 1_500
    """Tokens of each prompt besides names and descriptions of the schema."""
    reply: int = 300
    """Tokens of each reply."""

    def __post_init__(self) -> None:
        if not 0.0 < self.right < 1.0:
            raise ValueError(f"right must be above 0 and below 1, not {self.right:g}")
        if self.requests <= 0 or self.prompt < 0 or self.reply < 0:
            raise ValueError("requests must be above 0, prompt and reply not negative")


@dataclass(frozen=True, slots=True)
class Price:
    """Tokens of prompts and replies that can be expected, and what they cost in US dollars."""

    prompt: int = 0
    reply: int = 0
    cost: float | None = 0.0

    @property
    def tokens(self) -> int:
        return self.prompt + self.reply

    def plus(self, other: Price) -> Price:
        """The price of both."""
        known = self.cost is not None and other.cost is not None
        cost = (self.cost or 0.0) + (other.cost or 0.0) if known else None
        return Price(self.prompt + other.prompt, self.reply + other.reply, cost)


@dataclass(frozen=True)
class Escalation(combinators.Sequence):
    """Tiers, the cheapest first, as far as they are worth their price and the budget reaches.

    Without a language model at hand it does nothing, and says nothing. Where the embedded models
    refused because they found nothing that fits, a language model is asked all the same: on
    databases unlike those they learnt from they refuse much that can be answered. Its query then
    stands with their reason as a note; other refusals stand, and nothing is asked.
    """

    after_refusal: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.steps or not all(isinstance(step, Tier) for step in self.steps):
            raise ValueError("escalate takes tiers, at least one")
        rights = [tier.right for tier in self.tiers]
        if rights != sorted(rights):
            raise ValueError("tiers stand in the order of how often they are right")

    @property
    def tiers(self) -> tuple[Tier, ...]:
        """Its steps."""
        return tuple(step for step in self.steps if isinstance(step, Tier))

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
        prior = belief = before_any(context.weighed(state))
        had: float | None = None
        state = state.evolve(refusal=None)
        for place, tier in enumerate(self.tiers):
            record = _decided(self.tiers[place:], belief, had, state, context)
            error = None
            if record.entered:
                state, record, error = _entered(tier, record, prior, state, context)
            state = state.evolve(tiers=(*state.tiers, record))
            context.run.events(TierEnded(record, _settled(state, refusal)))
            if error is not None:
                raise error
            wrote = any(one.by_model for one in state.candidates)
            if not record.entered or not wrote or state.refusal is not None:
                break  # of a model that doesn't write queries nothing more can be had
            if record.end in {"agrees", "differs"}:
                had, belief = tier.right, with_model(prior, state, tier.right)
        return _settled(state, refusal)


def _settled(state: State, refusal: Refusal | None) -> State:
    """The state with what becomes of the embedded models' refusal."""
    if refusal is None or state.refusal is not None:
        return state
    if any(one.by_model and valid(one) for one in state.candidates):
        return state.warn("critic", refusal.message)
    return state.evolve(refusal=refusal, selected=None)


def _decided(
    tiers: Sequence[Tier], belief: Belief, had: float | None, state: State, context: Context
) -> TierRecord:
    """The decision whether to enter the first of these tiers, with its end where it isn't."""
    run, model = context.run, context.llm()
    best: tuple[float, Price] | None = None
    nearest, up_to = (0.0, Price()), Price()
    for number, tier in enumerate(tiers):
        up_to = up_to.plus(_price(tier, state, model))
        gain = expected_gain(belief, tier.right, had)
        nearest = nearest if number else (gain, up_to)
        if run.worth.exceeds(gain, up_to.tokens, up_to.cost):
            best = (gain, up_to)
            break
    gain, price = best or nearest
    end: TierEnd = "differs" if best else "not_worth"
    # With one call of several nothing is written yet: it would be spent in vain.
    start = replace(tiers[0], requests=min(max(1.0, tiers[0].requests // 1), 2.0))
    if best and not _affordable(start, state, context):
        end, price = "budget", _price(start, state, model)
    sure = belief.sure if belief.groups else None
    return TierRecord(
        name=tiers[0].name, model=model.name, end=end, before=sure, after=sure, gain=gain,
        tokens=price.tokens, cost=price.cost, worth=str(run.worth),
    )  # fmt: skip


def _price(tier: Tier, state: State, model: LanguageModel) -> Price:
    """The price of a tier that can be expected."""
    prompt = tier.prompt + named_tokens(state.view.visible_schema())
    cost = expected_cost(model, prompt, tier.reply)
    return Price(
        round(tier.requests * prompt),
        round(tier.requests * tier.reply),
        None if cost is None else tier.requests * cost,
    )


def _affordable(tier: Tier, state: State, context: Context) -> bool:
    """False where the budget doesn't even reach for the schema's names and the replies; whether it
    reaches for the prompts is seen when they are written."""
    spending = context.run.spending
    if not spending.budget.limited:
        return True
    least, left = _price(replace(tier, prompt=0), state, context.llm()), spending.left()
    if left.calls is not None and left.calls < tier.requests:
        return False
    if left.tokens is not None and left.tokens < least.tokens:
        return False
    return left.cost is None or (least.cost is not None and least.cost <= left.cost)


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
    tier: Tier, decision: TierRecord, prior: Belief, state: State, context: Context
) -> tuple[State, TierRecord, SqlwrightError | None]:
    """The state after the tier's steps, what came of them, and the error that ends it all, if there
    was one (out of time, cancelled): what the model had written by then counts."""
    spending, spent = context.run.spending, context.run.spending.total
    rivals, others = _rivals(prior, state)
    after, error = _run(tier, state.evolve(candidates=rivals), context)
    if isinstance(error, ModelFailed | MalformedReply):
        after = after.warn("left_out", f"{tier.name} was left out: {error}", error)
        error = None
    after = after.evolve(candidates=(*after.candidates, *others))
    record = replace(decision, usage=minus(spending.total, spent))
    if _running(after) == _running(state):
        end = _vain(state, after, record) if error is None else "cut_short"
        return _unchanged(state, after), replace(record, end=end), error
    belief = with_model(prior, after, tier.right)
    best, before = belief.groups[0].candidates, state.selected
    agreed = before is not None and any(one.id == before.id for one in best)
    agreed = agreed and any(one.by_model for one in best)
    after = _told(chosen(after, belief), belief, context.llm(), tier)
    return after, replace(record, end="agrees" if agreed else "differs", after=belief.sure), error


def _unchanged(state: State, after: State) -> State:
    """The state after a tier without a query that runs: what was chosen stays. Where nothing was,
    the error of the model's query is the answer."""
    ours = rank(one for one in after.candidates if not one.goal)
    return after.evolve(
        selected=state.selected or next(iter(ours), None),
        confidence=state.confidence,
        basis=state.basis,
        measures=state.measures,
    )


def _vain(state: State, after: State, record: TierRecord) -> TierEnd:
    """The end of a tier without a query that runs."""
    cut = any(one.kind == "budget" and one not in state.warnings for one in after.warnings)
    if cut and not (record.usage.calls or record.usage.cached):
        return "budget"
    return "cut_short" if cut else "nothing"


def _running(state: State) -> int:
    """The number of a model's queries that run."""
    return sum(one.by_model and valid(one) and not one.goal for one in state.candidates)


def _rivals(prior: Belief, state: State) -> tuple[tuple[Candidate, ...], tuple[Candidate, ...]]:
    """The candidates that a model's are tested beside: the best of each probable result of the
    embedded models, and what a model wrote; and the others."""
    probable = list(zip(prior.groups, prior.probabilities, strict=True))[:RIVALS]
    best = {group.best.id for group, sure in probable if sure >= LEAST_RIVAL}
    kept = tuple(one for one in state.candidates if one.by_model or one.id in best)
    return kept, tuple(one for one in state.candidates if one not in kept)


def _told(state: State, belief: Belief, model: LanguageModel, tier: Tier) -> State:
    """The state with what its confidence rests on."""
    written = sum(one.by_model and not one.goal for one in state.candidates)
    agreeing = sum(one.by_model for one in belief.groups[0].candidates)
    words = (
        f"the embedded models and {written} quer{'y' if written == 1 else 'ies'} of {model.name}, "
        f"taken to be right in {round(100 * tier.right)} of 100"
    )
    return state.evolve(basis=Basis("combined", agreeing, written, rests_on=words))
