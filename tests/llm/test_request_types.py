"""Every request that is sent is one that the vendors' own packages know: their types of requests,
written by the vendors, read what arrived at a server on loopback, and nothing is left over."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from benchmarks.answering import Responder
from pydantic import BaseModel, TypeAdapter, ValidationError

import sqlwright
from sqlwright.demo.business import write_business
from sqlwright.llm.endpoint import Call, PlainMessage
from sqlwright.llm.options import LlmOptions
from sqlwright.llm.sending.engine import Engine
from sqlwright.llm.vendors.connecting import Service, connect
from sqlwright.llm.vendors.providers import PROVIDERS
from sqlwright.messages import Tool, ToolCall
from sqlwright.protocols import Run
from tests.llm.doubles import Books
from tests.llm.server import ModelServer

MODELS = (
    "openai/gpt-4.1",
    "openai/gpt-5.1",
    "openrouter/some/model",
    "vllm/some-model",
    "anthropic/claude-opus-5",
    "google/gemini-3-pro",
)
RECIPES: Mapping[str, tuple[str, ...]] = {
    "baseline": (),
    "chess-ir-ss-cg": (),
    "chess-ir-cg-ut": (
        "samples[1].count=2",
        "samples[2].count=2",
        "selection.generate_tests.tests=2",
    ),
    "chase": ("samples.count=2",),
    "mag": (),
    "chess-agents": ("samples.count=2", "selection.generate_tests.tests=2"),
    "msc": (),
    "auto": (
        "escalate.sure=1",
        "samples[4].count=1",
        "samples[5].count=1",
        "selection.generate_tests.tests=2",
    ),
}
PACKAGES = {"openai": "openai", "anthropic": "anthropic", "google": "google.genai"}


def known(model: str) -> Any:
    """A function that raises for a body that the vendor's package doesn't know, or not all of."""
    return _known(PROVIDERS[model.partition("/")[0]].wire)


@cache
def _known(wire: str) -> Any:
    pytest.importorskip(PACKAGES[wire])
    if wire == "openai":
        from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming

        return _kept_whole(TypeAdapter(CompletionCreateParamsStreaming))
    if wire == "anthropic":
        from anthropic.types.message_create_params import MessageCreateParamsNonStreaming

        return _kept_whole(TypeAdapter(MessageCreateParamsNonStreaming))
    from google.genai import types

    def check(body: Mapping[str, Any]) -> None:
        """As the package's `generate_content` takes it; its models forbid what they don't know."""
        config = {**body.get("generationConfig", {})}
        config |= {k: v for k, v in body.items() if k not in {"contents", "generationConfig"}}
        types.GenerateContentConfig.model_validate(config)
        for content in body["contents"]:
            types.Content.model_validate(content)

    return check


def _kept_whole(adapter: TypeAdapter[Any]) -> Any:
    """A check by typed dictionaries, which pass over what they don't know: nothing may be lost."""

    def check(body: Mapping[str, Any]) -> None:
        assert _read(adapter.validate_python(body)) == body

    return check


def _read(value: Any) -> Any:
    """What validation made of a value; it reads what may be repeated as that is asked for."""
    if isinstance(value, BaseModel):
        value = {name: getattr(value, name) for name in value.model_fields_set}
    if isinstance(value, Mapping):
        return {key: _read(part) for key, part in value.items()}
    if isinstance(value, str) or not isinstance(value, Iterable):
        return value
    return [_read(part) for part in value]


@pytest.fixture(scope="module")
def business(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("demo") / "demo.sqlite"
    write_business(file)
    return file


@pytest.mark.slow
@pytest.mark.parametrize(
    "model", ["openai/gpt-5.1", "anthropic/claude-opus-5", "google/gemini-3-pro"]
)
@pytest.mark.parametrize("recipe", RECIPES)
def test_recipes_send_requests_that_the_package_knows(
    model: str, recipe: str, business: Path
) -> None:
    check = known(model)
    openai = PROVIDERS[model.partition("/")[0]].wire == "openai"
    with ModelServer(answer=Responder()) as server:
        llm = LlmOptions(
            model=model, base_url=server.url if openai else server.origin, cache=False, retrying=1.0
        )
        with sqlwright.open(
            business,
            recipe=recipe,
            overrides=RECIPES[recipe],
            llm=llm,
            record=False,
            environ={},
        ) as session:
            session.ask("Which customer in Munich has the most orders?")
        assert server.seen
        for asked in server.seen:
            check(asked.body)


EVERYTHING = Call(
    (
        PlainMessage("system", "You answer."),
        PlainMessage("user", "How many?"),
        PlainMessage("assistant", "", (ToolCall("c1", "look_up", '{"text": "x"}'),)),
        PlainMessage("tool", "3", tool_call_id="c1"),
    ),
    n=2,
    temperature=0.7,
    max_tokens=500,
    reasoning_tokens=2_000,
    seed=2**40 + 5,
    reasoning="low",
    verbosity="low",
    logprobs=2,
    reply_schema={
        "type": "object",
        "properties": {"sql": {"type": "string"}},
        "required": ["sql"],
        "additionalProperties": False,
    },
    tools=(Tool("look_up", "Find a value.", {"type": "object", "properties": {}}),),
)


def sent(model: str, call: Call, **capabilities: bool) -> list[Mapping[str, Any]]:
    """The bodies of the requests for one call."""
    provider, _, name = model.partition("/")
    openai = PROVIDERS[provider].wire == "openai"
    with ModelServer(answer=lambda asked: '{"sql": "SELECT 1"}') as server:
        service = Service(
            PROVIDERS[provider],
            name,
            base_url=server.url if openai else server.origin,
            capabilities=tuple(capabilities.items()),
        )
        engine = Engine()
        try:
            engine.run_all(connect(service), [call], run=Run(), meter=Books())
        finally:
            engine.close()
        return [asked.body for asked in server.seen]


@pytest.mark.parametrize("model", MODELS)
def test_what_a_call_can_hold_is_known_to_the_package(model: str) -> None:
    check = known(model)
    bodies = sent(model, EVERYTHING)
    assert bodies
    for body in bodies:
        check(body)


@pytest.mark.parametrize("model", MODELS)
def test_what_the_package_does_not_know_would_be_found(model: str) -> None:
    check = known(model)
    (body, *_) = sent(model, replace(EVERYTHING, n=1))
    turns = "contents" if "contents" in body else "messages"
    strange = {**body, turns: [{**body[turns][0], "mood": "good"}, *body[turns][1:]]}
    for wrong in (strange, {**body, "frobnicate": 1}):
        with pytest.raises((AssertionError, ValidationError)):
            check(wrong)
