"""Requests, runs and gates over scripted endpoints, for the tests of the gate and what it uses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sqlwright.events import Event, ModelCalled
from sqlwright.llm.gate import Connection, GatedModel
from sqlwright.llm.prices import Price
from sqlwright.llm.scripted import Script, ScriptedEndpoint
from sqlwright.llm.sending.engine import Engine
from sqlwright.messages import Message, Missing, Reply, Request, Sample, Text
from sqlwright.protocols import Run
from sqlwright.spending import Budget, Spending

MODEL = "scripted/model"
PRICE = Price(prompt=1.0, reply=10.0)


def request(*texts: str | Text, n: int = 1, **options: Any) -> Request:
    """A request whose messages are the texts, the first one the system's if there are several."""
    spans = [text if isinstance(text, Text) else Text.of(text, "template") for text in texts]
    roles = ["system", "user"] if len(spans) > 1 else ["user"]
    return Request(
        tuple(Message(role, text) for role, text in zip(roles, spans, strict=True)),  # type: ignore[arg-type]
        n=n,
        **({"max_tokens": 1_000} | options),
    )


@dataclass
class Events:
    """Keeps the events of a run."""

    kept: list[Event] = field(default_factory=list)

    def __call__(self, event: Event) -> None:
        self.kept.append(event)

    @property
    def calls(self) -> list[ModelCalled]:
        return [event for event in self.kept if isinstance(event, ModelCalled)]


def a_run(budget: Budget | None = None, **options: Any) -> Run:
    return Run(spending=Spending(budget), **options)


@contextmanager
def gate(
    script: Script | str = "yes", *, endpoint: ScriptedEndpoint | None = None, **options: Any
) -> Iterator[tuple[GatedModel, ScriptedEndpoint]]:
    """A gate in front of a scripted endpoint, through the real engine."""
    if endpoint is None:
        chosen = Script(otherwise=script) if isinstance(script, str) else script
        endpoint = ScriptedEndpoint(chosen)
    engine = Engine()
    try:
        options.setdefault("price", PRICE)
        line = Connection(lambda: endpoint, engine)
        yield GatedModel(endpoint.name, endpoint.capabilities, line, **options), endpoint
    finally:
        engine.close()


def texts(samples: Sequence[Sample]) -> list[str]:
    """What was said, or why not, as `!kind`."""
    return [sample.text if isinstance(sample, Reply) else f"!{sample.kind}" for sample in samples]


def is_missing(sample: Sample, kind: str) -> bool:
    return isinstance(sample, Missing) and sample.kind == kind
