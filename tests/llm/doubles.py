"""What the engine's tests share: a meter that keeps books, and a model on a test server."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from sqlwright.llm.endpoint import (
    Call,
    CallOutcome,
    Completion,
    EndpointError,
    PlainMessage,
    Throttle,
)
from sqlwright.llm.sending.transport import ModelAddress
from sqlwright.llm.vendors.openai import OpenAIEndpoint
from sqlwright.messages import Capabilities, Reply
from sqlwright.types import Usage
from tests.llm.server import ModelServer

QUICK = Throttle(first_delay=0.01, longest_delay=0.05, seconds=30)


@dataclass
class Books:
    """A meter that lets everything pass until `allowed` attempts were made."""

    allowed: int | None = None
    reserved: list[Call] = field(default_factory=list)
    settled: list[tuple[Call, Completion | EndpointError | None]] = field(default_factory=list)

    def reserve(self, call: Call) -> bool:
        if self.allowed is not None and len(self.reserved) >= self.allowed:
            return False
        self.reserved.append(call)
        return True

    def settle(self, call: Call, outcome: Completion | EndpointError | None) -> Usage:
        self.settled.append((call, outcome))
        return Usage(calls=1)

    @property
    def balanced(self) -> bool:
        """Whether each reservation was settled exactly once."""
        return sorted(map(id, self.reserved)) == sorted(id(call) for call, _ in self.settled)


def ask(text: str, **options: Any) -> Call:
    return Call((PlainMessage("user", text),), **options)


def model_on(
    server: ModelServer,
    *,
    throttle: Throttle = QUICK,
    key: str | None = None,
    base_url: str = "",
    **capabilities: Any,
) -> OpenAIEndpoint:
    can = replace(Capabilities(n=True, json_schema=True, tools=True), **capabilities)
    url = base_url or server.url
    site = ModelAddress("test/model", "model", url, can, throttle, key=key, key_variable="TEST_KEY")
    return OpenAIEndpoint(site)


def texts(outcome: CallOutcome) -> list[str]:
    """The replies' texts; what is missing by its kind."""
    return [
        sample.text if isinstance(sample, Reply) else f"<{sample.kind}>"
        for sample in outcome.samples
    ]
