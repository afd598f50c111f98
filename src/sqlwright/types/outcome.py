"""All that is told of an answer beside its rows: its author, how sure it is, what it took."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Author = Literal["language_model", "embedded", "stand_in", "other"]
"""The author of a query: a language model; the embedded models of a recipe that asks no other; the
same in place of a language model that wrote none; a step of somebody else's."""

RefusalReason = Literal["write", "language", "empty", "too_long", "unanswerable", "unsure"]


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason no answer is given, and the nearest thing that could be done."""

    reason: RefusalReason
    message: str
    suggestion: str = ""


SignKind = Literal["tests", "second_opinion", "machine_check", "unexplained"]
"""The unit tests it passes; the embedded models' own answer; a fault read in the query; words of
the question that nothing in the database explains."""


@dataclass(frozen=True, slots=True)
class Sign:
    """Something that speaks for an answer or against it. It is no probability."""

    kind: SignKind
    text: str
    favours: bool
    """True if it speaks for the answer."""
    grave: bool = False
    """True if it alone is a reason to doubt the answer."""


@dataclass(frozen=True, slots=True)
class Basis:
    """The grounds for how sure an answer is."""

    kind: Literal["calibrated", "agreement", "none"] = "none"
    """`calibrated`: the confidence is a probability, fitted to questions with known answers, on
    databases that the models weren't trained on or on this one (`fitted_to`). `agreement`: no
    probability; so many samples agree. `none`: there was nothing to compare the query with."""
    agreeing: int = 0
    """Queries with the answer's result, itself included."""
    of: int = 0
    """Queries that were written, those that failed included."""
    signs: tuple[Sign, ...] = ()
    fitted_to: str = ""
    """The questions that a `calibrated` probability was fitted to, in words."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Cost of language models; zero for the embedded models."""

    calls: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    cost: float | None = 0.0
    """In US dollars; None is 'unknown'."""
    cached: int = 0
    """Replies taken from the cache or a recording; they cost nothing and are in no other number."""
    reasoning_tokens: int = 0
    """The part of `reply_tokens` that was reasoning, as far as endpoints say."""
    cached_prompt_tokens: int = 0
    """The part of `prompt_tokens` that endpoints had in their own prefix caches."""
    written_prompt_tokens: int = 0
    """The part of `prompt_tokens` that they put there, as far as they say."""
    unanswered: int = 0
    """The part of `calls` that brought no reply."""


@dataclass(frozen=True, slots=True)
class StepTime:
    """Wall time of one step, in seconds."""

    step: str
    seconds: float


TierEnd = Literal["agrees", "differs", "nothing", "cut_short", "sure", "budget"]
"""The end of a tier: the query chosen before gives the model's result, or it doesn't; or the
model wrote none that runs, or hadn't yet when the budget or the time ended; or it wasn't entered,
as the embedded models were sure enough or the budget didn't reach."""


@dataclass(frozen=True, slots=True)
class TierRecord:
    """A decision whether to ask a language model (further), and what came of it."""

    name: str
    model: str
    """The language model, as `provider/model`."""
    end: TierEnd
    before: float | None
    """The embedded models' confidence before any tier; None where they wrote no query."""
    usage: Usage = Usage()
    """The calls, tokens and cost it took."""

    @property
    def entered(self) -> bool:
        """True if its steps were run."""
        return self.end not in {"sure", "budget"}
