"""A language model whose replies are written beforehand: for tests, demonstrations and trying out.

A script says what to reply to what:

    script = Script([
        When("extract_keywords", '["oakland"]'),                # a step's name
        When("Valid SQL:", ["not yet", "SELECT 1"]),            # words of the prompt; in turn
        When(lambda asked: asked.sample > 2, Missing("unavailable", "down")),
    ], otherwise="SELECT 42")

`ScriptedModel` answers as a `protocols.LanguageModel`, with no gate before it; `ScriptedEndpoint`
answers as an endpoint, so that budget, privacy, cache and retries are tried over it. Both remember
what they were asked. No script is read from a file and none runs code.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from sqlwright.llm.endpoint import Call, Completion, EndpointError, Throttle
from sqlwright.llm.metering import estimated_tokens, prompt_tokens
from sqlwright.messages import Capabilities, Missing, Reply, Request, Sample
from sqlwright.protocols import Run


@dataclass(frozen=True, slots=True)
class Asked:
    """One reply that was asked for."""

    prompt: str
    """All messages in order, a blank line between them."""
    step: str = ""
    """Name of the step that asked; empty towards an endpoint, which isn't told."""
    sample: int = 0
    """Number of the reply within its request, from 0."""
    seed: int = 0
    """Seed of this reply."""
    temperature: float = 0.0
    max_tokens: int = 0


Said = str | Reply | Missing
Matches = str | Callable[[Asked], bool]
Says = Said | Sequence[Said] | Callable[[Asked], Said]


@dataclass(frozen=True)
class When:
    """A rule: what it matches (the name of a step, words of the prompt, or a test), and its
    replies.

    Of several replies the first is given the first time, and so on; the last one stays."""

    matches: Matches
    says: Says

    def fits(self, asked: Asked) -> bool:
        """True if this rule applies to the request."""
        if callable(self.matches):
            return self.matches(asked)
        return self.matches == asked.step or self.matches in asked.prompt


class Script:
    """Rules in order; the first that fits has the word. Safe to use from any thread."""

    def __init__(self, rules: Sequence[When] = (), otherwise: Says | None = None) -> None:
        """Without `otherwise`, what no rule fits is missing as if the endpoint were down."""
        self.asked: list[Asked] = []
        """Everything that was asked, in the order it came."""
        self._rules = tuple(rules)
        self._otherwise = otherwise
        self._turns = [0] * (len(self._rules) + 1)
        self._lock = threading.Lock()

    def reply(self, asked: Asked) -> Reply | Missing:
        """The reply of the first rule that applies."""
        with self._lock:
            self.asked.append(asked)
            index = next((n for n, rule in enumerate(self._rules) if rule.fits(asked)), -1)
            says = self._rules[index].says if index >= 0 else self._otherwise
            turn = self._turns[index]
            self._turns[index] += 1
        if says is None:
            return Missing("unavailable", "the script has no reply to this")
        if callable(says):
            reply: Said = says(asked)
        elif isinstance(says, str | Reply | Missing):
            reply = says
        else:
            reply = says[min(turn, len(says) - 1)]
        if isinstance(reply, str):
            return Reply(reply, reply_tokens=estimated_tokens([reply]))
        return reply


class ScriptedModel:
    """A language model that follows a script."""

    def __init__(
        self,
        script: Script,
        *,
        name: str = "scripted/model",
        capabilities: Capabilities | None = None,
    ) -> None:
        self.script = script
        self.requests: list[tuple[str, Request]] = []
        """Step and request, in the order they came."""
        self._name = name
        self._capabilities = capabilities or Capabilities(remote=False)
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """`provider/model`."""
        return self._name

    @property
    def capabilities(self) -> Capabilities:
        """The capabilities that it claims."""
        return self._capabilities

    def complete(
        self, requests: Sequence[Request], run: Run, *, step: str
    ) -> list[tuple[Sample, ...]]:
        """The script's replies. Costs nothing; doesn't reply to a run that was cancelled."""
        with self._lock:
            self.requests += [(step, request) for request in requests]
        return [self._samples(request, run, step) for request in requests]

    def _samples(self, request: Request, run: Run, step: str) -> tuple[Sample, ...]:
        if run.cancelled.is_set() or run.remaining() <= 0:
            return (Missing("cancelled", "the run has ended"),) * request.n
        prompt = "\n\n".join(str(message.text) for message in request.messages)
        return tuple(
            self.script.reply(
                Asked(
                    prompt,
                    step,
                    number,
                    request.seed + number,
                    request.temperature,
                    request.max_tokens,
                )
            )
            for number in range(request.n)
        )


@dataclass
class ScriptedEndpoint:
    """An endpoint that follows a script. A `Missing` is an error of the same kind."""

    script: Script
    name: str = "scripted/model"
    capabilities: Capabilities = field(default_factory=lambda: Capabilities(n=True))
    throttle: Throttle = field(
        default_factory=lambda: Throttle(attempts=1, first_delay=0.0, longest_delay=0.0)
    )
    seconds: float = 0.0
    """Seconds that each request takes."""
    revision: str = ""
    reports_tokens: bool = True
    calls: list[Call] = field(default_factory=list)
    """The requests that were really sent, in order of arrival."""
    closed: bool = False

    async def send(self, call: Call) -> Completion:
        """Give as many of the replies as the script has. Raises EndpointError for what it
        misses."""
        self.calls.append(call)
        if self.seconds:
            await asyncio.sleep(self.seconds)
        prompt = "\n\n".join(message.text for message in call.messages)
        replies: list[Reply] = []
        for number in range(call.n if self.capabilities.n else 1):
            reply = self.script.reply(
                Asked(prompt, "", number, call.seed + number, call.temperature, call.limit)
            )
            if isinstance(reply, Missing):
                if reply.kind == "rejected":
                    raise EndpointError(reply.message, kind="rejected", retryable=False)
                raise EndpointError(reply.message)
            replies.append(reply)
        tokens = prompt_tokens(call)
        if replies and not replies[0].prompt_tokens:
            replies[0] = replace(replies[0], prompt_tokens=tokens)
        return Completion(
            tuple(replies),
            revision=self.revision,
            prompt_tokens=tokens if self.reports_tokens else None,
            reply_tokens=sum(r.reply_tokens for r in replies) if self.reports_tokens else None,
            reasoning_tokens=sum(r.reasoning_tokens for r in replies),
        )

    async def aclose(self) -> None:
        """Remember that it was closed."""
        self.closed = True
