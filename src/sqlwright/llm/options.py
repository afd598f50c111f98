"""Settings about language models, in a project file, the environment or a call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Annotated, Any

from pydantic import InstanceOf

from sqlwright.boundary.arguments import (
    Amount,
    AnyPath,
    Count,
    Natural,
    Positive,
    Predicate,
    Private,
    Words,
    checked_fields,
)
from sqlwright.llm.endpoint import Batching, Throttle
from sqlwright.messages import Capabilities, Effort, Privacy, Verbosity
from sqlwright.spending import Budget


def _are_capabilities(pairs: Sequence[tuple[str, bool | int]]) -> bool:
    known: Mapping[str, type] = {f.name: type(f.default) for f in fields(Capabilities)}
    return all(
        type(value) is known.get(name) and (value is False or value > 0) for name, value in pairs
    )


ToldCapabilities = Annotated[
    tuple[tuple[str, bool | int], ...],
    Predicate(_are_capabilities),
    Words("a tuple of capabilities and what they are, such as (('seed', False),)"),
]


@checked_fields
@dataclass(frozen=True, slots=True)
class ModelOptions:
    """One model of several, under a name of the user's: its address, key, price and limits.

    What is None is as `LlmOptions` says for all."""

    model: str
    """`provider/model`."""
    base_url: str = ""
    """Another address for it; for `openai-compatible` without one."""
    key_env: str = ""
    """Name of the environment variable that holds its key, or `host=key`. Empty is the vendor's own
    variable, for the vendor's own hosts."""
    context_tokens: Count | None = None
    """Tokens of prompt and reply together; None asks the server where it tells."""
    reply_tokens: Count | None = None
    """Tokens a reply may have at most, whatever a step asks for."""
    remote: bool | None = None
    """As in `LlmOptions`, of this model."""
    prompt_price: Amount | None = None
    """US dollars per million tokens."""
    reply_price: Amount | None = None
    """US dollars per million tokens."""
    reasoning: Effort | None = None
    """Effort of reasoning, where a recipe's step names none."""
    reasoning_tokens: Natural | None = None
    """Tokens a reply may spend on reasoning, on top of those of its text."""
    verbosity: Verbosity | None = None
    """Length of replies, where a recipe's step names none."""
    revision: str = ""
    concurrency: Count | None = None
    timeout: Positive | None = None
    retrying: Positive | None = None
    requests_per_minute: Positive | None = None
    tokens_per_minute: Positive | None = None
    capabilities: ToldCapabilities = ()
    found: bool = False
    """True if a project file says so that was found, not named: such a file can't say where a key
    goes."""


def _are_models(models: Mapping[str, Any]) -> bool:
    return all(
        isinstance(name, str) and isinstance(each, ModelOptions) for name, each in models.items()
    )


@checked_fields
@dataclass(frozen=True, slots=True)
class LlmOptions:
    """The language model's name, address, price and limits."""

    model: str = ""
    """`provider/model`, or a name of `models`, used where a step names no other; empty is none."""
    base_url: str = ""
    """Another address for the provider of `model`; for `openai-compatible` without one."""
    budget: Annotated[
        Budget, Words("a Budget, such as sqlwright.spending.parse_budget('$0.05, 20 calls')")
    ] = Budget()  # noqa: RUF009 - frozen
    """Budget of one question."""
    privacy: Privacy = "full"
    """Limits what may leave this machine."""
    remote: bool | None = None
    """True if requests leave this machine, where the address doesn't tell: a gateway that listens
    here may pass it on, a server in the user's own network may count as here. True is said of every
    model, False of that of `model`. None: whatever isn't on loopback is elsewhere."""
    cache: bool = True
    """True keeps replies on disk and uses them again."""
    prices: AnyPath | None = None
    """A TOML file with prices of the user's own."""
    revision: str = ""
    """The model's, for the cache: another one is another model. Many servers report theirs."""
    reasoning: Effort | None = None
    """Effort of reasoning, where a recipe's step names none; None is the vendor's default."""
    reasoning_tokens: Natural | None = None
    """Tokens a reply may spend on reasoning, on top of those of its text; None goes by the model
    and the effort."""
    verbosity: Verbosity | None = None
    """Length of replies, where a recipe's step names none; None is the vendor's default."""
    concurrency: Count = Throttle().concurrency
    """Requests in flight at once to one model."""
    timeout: Positive = Throttle().seconds
    """Seconds one request may take; a large model on a small machine needs more."""
    retrying: Positive = Throttle().retrying
    """Seconds a reply may wait in all between attempts that failed, before it is given up."""
    requests_per_minute: Positive | None = None
    tokens_per_minute: Positive | None = None
    """Prompt and reply together."""
    capabilities: ToldCapabilities = ()
    """Capabilities of the server of `model`, where they aren't known rightly: fields of
    `messages.Capabilities` by name."""
    record: AnyPath | None = None
    """A file to put requests and replies on record in."""
    replay: AnyPath | None = None
    """A recording to take replies from, with no model at all."""
    models: Annotated[
        Mapping[str, Any],
        Predicate(_are_models),
        Words("a mapping from names to ModelOptions"),
    ] = field(default_factory=dict)
    """Models by names of the user's, each a `ModelOptions`, which steps may name as theirs."""

    run_budget: Annotated[
        Budget, Words("a Budget, such as sqlwright.spending.parse_budget('$20')")
    ] = Budget()  # noqa: RUF009 - frozen
    """Budget of all questions of a measurement together."""

    batches: Annotated[InstanceOf[Batching] | None, Words("Batches, or None"), Private()] = None
    """The batches that requests go in; None sends each at once."""

    @property
    def needs_prices(self) -> bool:
        """True if a budget is in money."""
        return self.budget.cost is not None or self.run_budget.cost is not None

    @property
    def throttle(self) -> Throttle:
        """Limits of the endpoint: rates, time-outs and retries."""
        return Throttle(
            concurrency=self.concurrency,
            seconds=self.timeout,
            retrying=self.retrying,
            requests_per_minute=self.requests_per_minute,
            tokens_per_minute=self.tokens_per_minute,
        )
