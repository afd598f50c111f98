"""What is said to a language model and what comes back. All of it is frozen.

Text that goes into a prompt is a `Text`: spans that each carry where they came from. The gate in
front of every model drops what the run's privacy doesn't let out, so a step can't leak a stored
value by forgetting to ask.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Origin = Literal["template", "schema", "value", "question", "model"]
"""Where a span comes from: a prompt file, names and descriptions of the schema, data of the
database (stored values, what a description says of them, results, counts of rows, messages that
may quote them), what the user typed (question, evidence), an earlier reply of a model."""

Privacy = Literal["full", "schema-only"]
"""What may leave the machine: everything a prompt holds, or everything but stored values."""

LONGEST_REPLY = 40_000
"""Characters kept of a reply, from its end, where the answer stands; the rest is dropped."""
HIDDEN = "[hidden]"
"""Stands where a span was dropped for privacy."""


class Span(NamedTuple):
    """A piece of text and where it came from."""

    text: str
    origin: Origin
    instead: str = HIDDEN
    """What stands in its place where it may not be told: a mark, or what is coarse enough."""


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
        """Whether all of it is ours: it stands in a prompt's file, or might."""
        return all(span.origin == "template" for span in self.spans)

    def without(self, origin: Origin) -> Text:
        """Spans of that origin replaced by what stands for them; neighbours share a mark."""
        kept: list[Span] = []
        for span in self.spans:
            if span.origin != origin:
                kept.append(span)
            elif span.instead and (span.instead != HIDDEN or not kept or kept[-1].text != HIDDEN):
                kept.append(Span(span.instead, "template"))
        return Text(tuple(kept))


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's wish to run a tool. `arguments` is the JSON text it gave, not yet trusted."""

    id: str
    name: str
    arguments: str = "{}"


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a prompt."""

    role: Literal["system", "user", "assistant", "tool"]
    text: Text
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""


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
    """Reply tokens at most, reasoning included."""
    seed: int = 0
    """Of the first reply; reply k has `seed + k`."""
    reply_schema: Mapping[str, Any] | None = None
    """JSON schema of the reply, where the model offers that; the parser checks it all the same."""
    tools: tuple[Tool, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    finish: str = "stop"
    """'stop', 'length', 'tool_calls' or what else the endpoint said."""
    prompt_tokens: int = 0
    """For the first reply of a request; 0 for the others of an endpoint that gives n at once."""
    reply_tokens: int = 0
    cached: bool = False
    """Taken from the cache or a recording: it cost nothing."""


@dataclass(frozen=True, slots=True)
class Missing:
    """Why a reply isn't there. Data, not an exception."""

    kind: Literal["budget", "cancelled", "unavailable", "rejected", "unrecorded"]
    """Out of budget; the run ended; the endpoint failed, retries included; it refused the request
    (a wrong key, an unknown model, a prompt that is too long); a replay has no such recording."""
    message: str


Sample = Reply | Missing


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an endpoint can do; what it can't is made up for or left out."""

    n: bool = False
    seed: bool = True
    logprobs: bool = False
    json_schema: bool = False
    tools: bool = False
    temperature: bool = True
    context_tokens: int = 128_000
    remote: bool = True
    """Whether requests leave this machine."""
