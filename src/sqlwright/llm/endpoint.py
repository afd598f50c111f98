"""A language model as it is served, and what the engine that calls it agrees on with the gate.

The gate (privacy, budget, cache, recording) turns requests into `Call`s and hands them, together
with a `Meter`, to `engine.Engine.run_all`; the engine sends them to an `Endpoint`, again and again
where that helps, and gives back one `CallOutcome` for each:

    outcomes = engine.run_all(endpoint, calls, run=run, meter=meter)

`run_all` blocks until every call is settled, the run's deadline passes or it is cancelled, and
never raises for what an endpoint or a network does. Any number of threads may be in it at once.
An endpoint is built once per session by `providers.connect`, or is the scripted double.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, runtime_checkable

from sqlwright.messages import (
    Capabilities,
    Effort,
    Missing,
    Reply,
    Sample,
    Tool,
    ToolCall,
    Verbosity,
)
from sqlwright.types import Usage

if TYPE_CHECKING:
    from sqlwright.llm.sending.failures import Address

THREAD = "sqlwright-llm"
"""Name of the engine's thread, the only one that endpoints are used from."""

attempt_seed: ContextVar[int] = ContextVar("attempt_seed", default=0)
"""The seed of the attempt under way: a vendor that takes none gets equal requests for different
samples."""

WORTHWHILE = 1.25
"""Factor by which the limit of a reply must grow at least for it to be asked for again."""

USUAL_REASONING = 12_288
"""Tokens for reasoning at the effort that vendors take where none is named. Chosen."""

Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class PlainMessage:
    """A message as it is sent: privacy is applied, only text is left."""

    role: Role
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    """Tools that the assistant called, in its own messages."""
    tool_call_id: str = ""
    """Id of the call that a tool message answers."""
    thought: str = ""
    """The reasoning behind an assistant's message, as its vendor gave it."""
    fixed: bool = False
    """True if all of it comes from templates: the next request may begin with the same."""


@dataclass(frozen=True, slots=True)
class Call:
    """A request to an endpoint, already without what it can't do.

    `reply_schema` and `tools` are left out by the gate where the capabilities say no. The rest is
    the endpoint's: one that can't sample many replies gives one, one that takes no temperature or
    seed isn't sent any.
    """

    messages: tuple[PlainMessage, ...]
    n: int = 1
    """Replies wanted. The engine makes up for endpoints that give one at a time."""
    temperature: float = 0.0
    max_tokens: int = 4_096
    """Tokens of the reply's text."""
    reasoning_tokens: int = 0
    """Tokens for reasoning, on top."""
    room: int = 0
    """Tokens of reply that model and context have room for; 0 isn't known, so that a reply that
    ends for length isn't asked for again."""
    seed: int = 0
    """Seed of the first reply; reply k has `seed + k`."""
    reasoning: Effort | None = None
    verbosity: Verbosity | None = None
    logprobs: int | None = None
    reply_schema: Mapping[str, Any] | None = None
    tools: tuple[Tool, ...] = ()
    is_whole: Callable[[str], bool] | None = field(default=None, compare=False)
    """True for a text that can be used though its reply ended for length."""

    @property
    def text(self) -> str:
        """The texts of all messages."""
        return "\n".join(message.text for message in self.messages)

    @property
    def limit(self) -> int:
        """Reply tokens at most, reasoning included."""
        wanted = self.max_tokens + self.reasoning_tokens
        return min(wanted, self.room) if self.room else wanted

    def longer(self, *, unsaid: bool = False) -> Call | None:
        """The call with twice the limit, and with room for reasoning where all of a reply was that
        (`unsaid`); None where there is no room for more."""
        if self.room < WORTHWHILE * self.limit:
            return None
        reasoning = 2 * max(self.reasoning_tokens, USUAL_REASONING if unsaid else 0)
        return replace(self, max_tokens=2 * self.max_tokens, reasoning_tokens=reasoning)


@dataclass(frozen=True, slots=True)
class Completion:
    """The result of one HTTP request: as many replies as there were, good or bad."""

    replies: tuple[Reply, ...]
    revision: str = ""
    """The model's revision or fingerprint as the endpoint reported it; empty when it didn't."""
    prompt_tokens: int | None = None
    """Tokens of the whole prompt; None when the endpoint didn't say (some local servers)."""
    reply_tokens: int | None = None
    """Tokens of all replies together, reasoning included; None when the endpoint didn't say."""
    cached_prompt_tokens: int = 0
    """The part of `prompt_tokens` the endpoint had in its own prefix cache."""
    written_prompt_tokens: int = 0
    """The part of `prompt_tokens` it put into its prefix cache, where it says so."""
    reasoning_tokens: int = 0
    """The part of `reply_tokens` that was reasoning, where it says so."""
    cost: float | None = None
    """US dollars, where the endpoint itself names its price (OpenRouter does); else None."""


class Told(NamedTuple):
    """A model as its server tells of it; what it doesn't tell is 0."""

    context_tokens: int = 0
    """Tokens of prompt and reply together."""
    weights: int = 0
    """Number of its parameters."""


class EndpointError(Exception):
    """A request that brought nothing. Its message is ours, with the server's own words where they
    say more: cut short, and without what was sent to it."""

    def __init__(
        self,
        message: str,
        *,
        kind: Literal["unavailable", "rejected", "gone"] = "unavailable",
        retryable: bool = True,
        retry_after: float | None = None,
        crowded: bool = False,
        left_out: str = "",
        failures: int = 1,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind
        self.retryable = retryable
        self.retry_after = retry_after
        """Seconds the endpoint asked to wait; None when it didn't."""
        self.crowded = crowded
        """The endpoint is fine but asks us to slow down (429): waiting is patient."""
        self.left_out = left_out
        """The parameter that it doesn't take, which is left out or changed from now on."""
        self.failures = 0 if left_out else failures
        """Attempts that it counts as: nothing that takes minutes is tried six times."""


@dataclass(frozen=True, slots=True)
class Throttle:
    """Limits of an endpoint: rates, time-outs and retries."""

    concurrency: int = 16
    """Requests in flight at once, of all questions together."""
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    """Prompt and reply together; None is no limit."""
    seconds: float = 120.0
    """Time-out of one attempt: seconds without a byte of a reply that is streamed, else seconds
    from sending to the last byte."""
    attempts: int = 6
    """Attempts for a reply at most, the first one included. Being asked to slow down isn't counted
    here."""
    turned_away: int = 30
    """Answers to slow down that a reply's requests may get at most."""
    patience: float = 300.0
    """Seconds one call may wait in all because the endpoint asks for it."""
    retrying: float = 5.0
    """Seconds a reply may wait in all between attempts that failed, what the endpoint asks for
    aside."""
    first_delay: float = 0.5
    """Seconds before the second attempt at most; doubles from there (full jitter)."""
    longest_delay: float = 20.0


class Endpoint(Protocol):
    """A language model without privacy, budget or cache. Used from the engine's thread only."""

    @property
    def name(self) -> str:
        """`provider/model`."""
        ...

    @property
    def capabilities(self) -> Capabilities: ...

    @property
    def throttle(self) -> Throttle: ...

    async def send(self, call: Call) -> Completion:
        """One HTTP request. Raises EndpointError; cancelling it closes the connection."""
        ...

    async def aclose(self) -> None:
        """Close the connections."""
        ...


@runtime_checkable
class Batching(Protocol):
    """Answers HTTP requests for replies in batches of the vendor's (`sending.batches.Batches`)."""

    def transport(self, address: Address) -> Any:
        """A transport for HTTP clients of a model (`httpx2.AsyncBaseTransport`)."""
        ...


class Meter(Protocol):
    """Accounts for every single attempt: retries and fanned-out samples too.

    Called on the engine's thread: quick, without blocking, without raising.
    """

    def reserve(self, call: Call) -> bool:
        """True if this attempt may be sent; `call.n` is what it will ask for. When not, the samples
        that are still open become `Missing('budget')` and nothing is sent."""
        ...

    def settle(self, call: Call, outcome: Completion | EndpointError | None) -> Usage:
        """Called once for each reservation given, with the same call: what came back (tokens count
        even when the replies are bad); the error; None when the request was dropped in flight, so
        that nobody knows what it cost. The cost that was booked."""
        ...


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """The samples of a call: exactly `call.n` samples, in order."""

    samples: tuple[Sample, ...]
    revision: str = ""
    """As in `Completion`; of the last request that brought a reply."""
    left_out: tuple[str, ...] = ()
    """Parameters that the model turned out not to take."""

    @property
    def complete(self) -> bool:
        return not any(isinstance(sample, Missing) for sample in self.samples)
