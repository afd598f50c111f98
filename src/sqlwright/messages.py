"""Prompts and replies of language models. All of it is frozen.

Text that goes into a prompt is a `Text`: spans that each carry their origin. The gate in
front of every model drops what the run's privacy doesn't let out, so a step can't leak a stored
value by forgetting to ask.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Origin = Literal["template", "schema", "value", "question", "model"]
"""The source of a span: a prompt file, names and descriptions of the schema, data of the
database (stored values, what a description says of them, results, counts of rows, messages that
may quote them), what the user typed (question, evidence), an earlier reply of a model."""

Privacy = Literal["full", "schema-only"]
"""The parts of a prompt that may leave the machine: all of it, or all but stored values."""

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
"""The effort a model puts into reasoning before it replies, where its vendor has such a setting."""

Verbosity = Literal["low", "medium", "high"]
"""The length of a model's replies, where its vendor has such a setting."""

LONGEST_REPLY = 40_000
"""Characters kept of a reply, from its end, where the answer stands; the rest is dropped.
Chosen."""
HIDDEN = "[hidden]"
"""Stands where a span was dropped for privacy."""


class Span(NamedTuple):
    """A piece of text and its origin."""

    text: str
    origin: Origin
    instead: str = HIDDEN
    """Its replacement where it may not leave the machine: a mark, or a coarser text."""
    origin_instead: Origin = "template"
    """The origin of that."""


@dataclass(frozen=True, slots=True)
class Text:
    """Spans in order. Added to with `+`; `str()` gives the plain text."""

    spans: tuple[Span, ...] = ()

    @classmethod
    def of(cls, text: str, origin: Origin) -> Text:
        """One span; nothing for an empty text."""
        return cls((Span(text, origin),) if text else ())

    @classmethod
    def join(cls, separator: str, parts: Iterable[Text]) -> Text:
        """The parts with a separator from a template between them."""
        between = Span(separator, "template")
        spans: list[Span] = []
        for part in parts:
            if spans and separator:
                spans.append(between)
            spans += part.spans
        return cls(tuple(spans))

    def __add__(self, other: Text) -> Text:
        return Text(self.spans + other.spans)

    def __bool__(self) -> bool:
        return any(span.text for span in self.spans)

    def __str__(self) -> str:
        return "".join([span.text for span in self.spans])

    @property
    def own(self) -> bool:
        """True if all of it comes from templates: it stands in a prompt's file, or might."""
        return all(span.origin == "template" for span in self.spans)

    def without(self, origin: Origin) -> Text:
        """The text, each span of that origin replaced by its `instead`; neighbours share a mark."""
        kept: list[Span] = []
        for span in self.spans:
            if span.origin != origin:
                kept.append(span)
            elif span.instead and (span.instead != HIDDEN or not kept or kept[-1].text != HIDDEN):
                kept.append(Span(span.instead, span.origin_instead))
        return Text(tuple(kept))


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's wish to run a tool. `arguments` is the JSON text it gave, not yet trusted."""

    id: str
    name: str
    arguments: str = "{}"
    signature: str = ""
    """Given back with the call where the vendor wants that (Gemini); opaque."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a prompt."""

    role: Literal["system", "user", "assistant", "tool"]
    text: Text
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    thought: str = ""
    """`Reply.thought` of the reply that this message repeats, given back with its tool calls."""

    @classmethod
    def of(cls, reply: Reply) -> Message:
        """The model's own turn, to be followed by the results of its tool calls."""
        text = Text.of(reply.text, "model")
        return cls("assistant", text, reply.tool_calls, thought=reply.thought)


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool a model may call. `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Request:
    """One prompt and how to sample from it."""

    messages: tuple[Message, ...]
    n: int = 1
    """Replies wanted."""
    temperature: float = 0.0
    max_tokens: int = 4_096
    """Tokens of a reply's text at first. What a model spends on reasoning comes on top; a reply
    that ends for length is asked for again with twice as many, as far as model and context go."""
    seed: int = 0
    """Of the first reply; reply k has `seed + k`."""
    reasoning: Effort | None = None
    """Effort of reasoning; None is as the model is configured."""
    verbosity: Verbosity | None = None
    """Length of the reply; None is as the model is configured."""
    logprobs: int | None = None
    """Likeliest tokens wanted for each token of a reply, up to 20, with their log probabilities, 0
    for those of the reply alone; None asks for none. See `Capabilities.logprobs`."""
    reply_schema: Mapping[str, Any] | None = None
    """JSON schema of the reply, where the model offers that; the parser checks it all the same."""
    tools: tuple[Tool, ...] = ()
    is_whole: Callable[[str], bool] | None = field(default=None, compare=False)
    """True for a text that can be used though the reply ended for length; None is never."""


class TokenLogprob(NamedTuple):
    """A token of a reply and the natural logarithm of its probability."""

    token: str
    logprob: float
    likeliest: tuple[tuple[str, float], ...] = ()
    """The likeliest tokens at its place and theirs, as many as were wanted."""


class Took(NamedTuple):
    """The cost of making a reply, or several, with every attempt at it."""

    calls: int = 0
    """Requests; 0 for the later replies of one that gave several, as for its tokens."""
    prompt_tokens: int = 0
    reply_tokens: int = 0
    cost: float | None = 0.0
    """In US dollars; None is unknown."""
    seconds: float = 0.0
    """From the first request to the reply."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    finish: str = "stop"
    """'stop', 'length', 'tool_calls' or another word of the endpoint."""
    prompt_tokens: int = 0
    """For the first reply of a request; 0 for the others of an endpoint that gives n at once."""
    reply_tokens: int = 0
    """Reasoning included."""
    reasoning_tokens: int = 0
    """The part of `reply_tokens` that was reasoning, as far as the endpoint says."""
    logprobs: tuple[TokenLogprob, ...] = ()
    """The text's tokens, where they were wanted and the endpoint gave them."""
    thought: str = ""
    """The vendor's record of its reasoning, opaque; given back with the reply's tool calls."""
    cached: bool = False
    """Taken from the cache or a recording: it cost nothing."""
    took: Took | None = field(default=None, compare=False)
    """None where nobody kept it."""
    left_out: tuple[str, ...] = ()
    """Settings that decide what is replied and that weren't sent, since the model had refused
    them."""

    @property
    def unsaid(self) -> bool:
        """True if its text is its reasoning, as it holds nothing else."""
        return bool(self.text) and not self.tool_calls and self.thought.endswith(self.text)


@dataclass(frozen=True, slots=True)
class Missing:
    """The reason a reply isn't there. Data, not an exception."""

    kind: Literal["budget", "cancelled", "unavailable", "rejected", "unrecorded", "gone", "cut"]
    """Out of budget; the run ended; the endpoint failed, retries included; it refused the request
    (a wrong key, an unknown model, a prompt that is too long); a replay has no such recording;
    nobody is at the address, so that nothing else is sent there for the question; the reply ended
    at its limit of tokens, also with more room."""
    message: str


Sample = Reply | Missing


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The abilities of an endpoint; those it lacks are made up for or left out."""

    n: bool = False
    seed: bool = True
    logprobs: bool = False
    json_schema: bool = False
    tools: bool = False
    temperature: bool = True
    reasoning: bool = False
    """True if it thinks before it replies, which takes tokens of the reply's limit."""
    context_tokens: int = 128_000
    reply_tokens: int = 0
    """Tokens a reply may have at most, reasoning included; 0 is as many as the context has."""
    remote: bool = True
    """True if requests leave this machine."""
    small: bool = False
    """True for a model of few weights, which is shown less: one worked example and a schema in
    short. A local server tells how many there are; of others it is to be said."""
