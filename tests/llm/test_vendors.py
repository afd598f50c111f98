"""Each vendor's own wire format, spoken with a server on loopback."""

from __future__ import annotations

import importlib.util
import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from sqlwright.errors import ConfigError
from sqlwright.llm.endpoint import Call, Endpoint, PlainMessage
from sqlwright.llm.sending.engine import Engine
from sqlwright.llm.vendors.connecting import Service, connect
from sqlwright.llm.vendors.providers import PROVIDERS
from sqlwright.messages import Missing, Reply, Tool, ToolCall
from sqlwright.protocols import Run
from tests.llm.doubles import QUICK, Books, ask
from tests.llm.server import Asked, Fault, ModelServer, always, in_order

CANARY = "canary-7f3a"
SCHEMA = {
    "type": "object",
    "properties": {"sql": {"type": "string"}},
    "required": ["sql"],
    "additionalProperties": False,
}
TOOL = Tool("run_sql", "Runs a query.", {"type": "object", "properties": {}})

BODIES = json.loads((Path(__file__).parents[1] / "cases/llm/bodies.json").read_text("utf-8"))
PACKAGES = {"anthropic": "anthropic", "google": "google.genai"}


def installed(package: str) -> bool:
    """Asked of the whole name: others have packages in `google` too."""
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:
        return False


@dataclass(frozen=True)
class Vendor:
    """A provider whose server is ours; its key is bound to loopback by hand."""

    name: str
    path: str
    key_header: str

    def on(self, server: ModelServer, **options: Any) -> Endpoint:
        package = PACKAGES.get(self.name)
        if package is not None and not installed(package):
            pytest.skip(f"{package} isn't installed")
        openai_style = PROVIDERS[self.name].wire == "openai"
        options = {
            "base_url": server.url if openai_style else server.origin,
            "key": CANARY,
            "key_hosts": ("127.0.0.1",),
            "throttle": QUICK,
            **options,
        }
        model = options.pop("model", "some-model")
        return connect(Service(PROVIDERS[self.name], model, **options))


VENDORS = [
    Vendor("openai", "/v1/chat/completions", "authorization"),
    Vendor(
        "azure",
        "/openai/deployments/some-model/chat/completions?api-version=2024-10-21",
        "api-key",
    ),
    Vendor("openrouter", "/v1/chat/completions", "authorization"),
    Vendor("vllm", "/v1/chat/completions", "authorization"),
    Vendor("ollama", "/v1/chat/completions", "authorization"),
    Vendor("openai-compatible", "/v1/chat/completions", "authorization"),
    Vendor("anthropic", "/v1/messages", "authorization"),
    Vendor("google", "/v1/models/some-model:generateContent", "x-goog-api-key"),
]


@pytest.fixture(params=VENDORS, ids=lambda vendor: vendor.name)
def vendor(request: pytest.FixtureRequest) -> Vendor:
    given: Vendor = request.param
    return given


def settle(engine: Engine, endpoint: Endpoint, call: Call) -> tuple[Any, ...]:
    (outcome,) = engine.run_all(endpoint, [call], run=Run(), meter=Books())
    return outcome.samples


def first_time(faults: Sequence[str]) -> Fault:
    """A prompt that ends in k gets fault k when it is asked for the first time."""
    asked_before: set[str] = set()

    def choose(asked: Asked) -> str:
        if asked.prompt in asked_before:
            return ""
        asked_before.add(asked.prompt)
        return faults[int(asked.prompt.split()[-1])]

    return choose


def replying(message: dict[str, Any]) -> Callable[[Asked], dict[str, Any]]:
    return lambda asked: message


def test_a_reply(engine: Engine, vendor: Vendor) -> None:
    with ModelServer(answer=lambda asked: "SELECT 1") as server:
        endpoint = vendor.on(server)
        call = Call(
            (PlainMessage("system", "Write SQL."), PlainMessage("user", "How many?")),
            temperature=0.5,
            max_tokens=77,
            seed=5,
            reply_schema=SCHEMA,
        )
        books = Books()
        (outcome,) = engine.run_all(endpoint, [call], run=Run(), meter=books)
        (asked,) = server.seen
    (reply,) = outcome.samples
    assert reply.text == "SELECT 1"  # type: ignore[union-attr]
    assert reply.finish == "stop"  # type: ignore[union-attr]
    assert reply.prompt_tokens > 0  # type: ignore[union-attr]
    assert reply.reply_tokens > 0  # type: ignore[union-attr]
    assert outcome.revision
    assert endpoint.name == f"{vendor.name}/some-model"
    assert asked.path == vendor.path
    text = json.dumps(asked.body)
    assert "Write SQL." in text
    assert asked.prompt == "How many?"
    assert "77" in text
    if endpoint.capabilities.json_schema:
        assert '"additionalProperties": false' in text
    assert CANARY in asked.headers[vendor.key_header]
    assert CANARY not in text


def test_only_what_must_be_sent_is_sent(
    engine: Engine, vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Vendors' packages send what they find in the environment to whatever base URL there is."""
    for name in (
        "OPENAI_API_KEY",
        "OPENAI_ORG_ID",
        "OPENAI_PROJECT_ID",
        "OPENAI_ADMIN_KEY",
        "AZURE_OPENAI_API_KEY",
        "AZURE_OPENAI_AD_TOKEN",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "GEMINI_API_KEY",
    ):
        monkeypatch.setenv(name, f"env-{CANARY}")
    for name in ("OPENAI_CUSTOM_HEADERS", "ANTHROPIC_CUSTOM_HEADERS"):
        monkeypatch.setenv(name, f"X-Extra: env-{CANARY}\nAuthorization: Bearer env-{CANARY}")
    with ModelServer() as server:
        settle(engine, vendor.on(server, key="bound"), ask("q"))
        if not PROVIDERS[vendor.name].needs_key:
            settle(engine, vendor.on(server, key=None), ask("q"))
        seen = server.seen
    for asked in seen:
        assert CANARY not in json.dumps([asked.path, dict(asked.headers), asked.body])


def test_a_local_server_is_not_reached_through_a_proxy(
    engine: Engine, vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer() as proxy, ModelServer() as server:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.origin)
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        (reply,) = settle(engine, vendor.on(server), ask("q"))
        assert proxy.seen == []
    assert isinstance(reply, Reply)


def test_a_key_stays_with_its_host(engine: Engine, vendor: Vendor) -> None:
    with ModelServer(faults=always("unauthorized")) as server:
        endpoint = vendor.on(server, key_hosts=())
        (missing,) = settle(engine, endpoint, ask("q"))
        (asked,) = server.seen
    local = not PROVIDERS[vendor.name].hosts  # a local server's key belongs to this machine
    assert (CANARY in json.dumps(dict(asked.headers))) == local
    assert isinstance(missing, Missing)
    assert missing.kind == "rejected"


def test_no_redirect_is_followed(engine: Engine, vendor: Vendor) -> None:
    with ModelServer() as elsewhere:
        with ModelServer(faults=always("redirect"), redirect_to=elsewhere.origin) as server:
            (missing,) = settle(engine, vendor.on(server), ask("q"))
        assert elsewhere.seen == []
    assert isinstance(missing, Missing)
    assert missing.kind == "rejected"


PASSING = (
    "rate_limit",
    "rate_limit_in_body",
    "server_error",
    "unavailable",
    "drop",
    "cut",
    "truncated",
    "html",
    "empty",
)


def test_bad_answers_are_asked_again(engine: Engine, vendor: Vendor) -> None:
    """Each prompt gets another bad answer at first: faults, and bodies of a strange form."""
    faults = [*PASSING, *(f"raw:{body}" for body in BODIES), "raw:" + "[" * 100_000]
    with ModelServer(faults=first_time(faults), answer=lambda asked: "fine") as server:
        calls = [ask(str(place)) for place in range(len(faults))]
        outcomes = engine.run_all(vendor.on(server), calls, run=Run(), meter=Books())
        assert len(server.seen) == 2 * len(faults)
    for fault, outcome in zip(faults, outcomes, strict=True):
        (reply,) = outcome.samples
        assert isinstance(reply, Reply), fault[:100]
        assert reply.text == "fine"


def test_text_that_is_no_text_is_mended_both_ways(engine: Engine, vendor: Vendor) -> None:
    with ModelServer(answer=lambda asked: f"half {chr(0xD800)} pair") as server:
        call = ask(f"half {chr(0xDC00)} pair")
        (reply,) = settle(engine, vendor.on(server), call)
        (asked,) = server.seen
    assert isinstance(reply, Reply)
    assert reply.text == asked.prompt == "half \ufffd pair"


REFUSALS = ("unauthorized", "not_found", "too_long", "bad_request")


def test_nothing_of_an_error_gets_out(
    engine: Engine, vendor: Vendor, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with ModelServer(faults=first_time(REFUSALS)) as server:
        calls = [ask(f"{CANARY} {place}") for place in range(len(REFUSALS))]
        outcomes = engine.run_all(vendor.on(server), calls, run=Run(), meter=Books())
        assert len(server.seen) == len(REFUSALS)
    for outcome in outcomes:
        (missing,) = outcome.samples
        assert isinstance(missing, Missing)
        assert missing.kind == "rejected"
        assert CANARY not in missing.message
    assert CANARY not in caplog.text


def test_a_stalled_body_is_cut(engine: Engine, vendor: Vendor) -> None:
    with ModelServer(faults=in_order("stall"), answer=lambda asked: "fine") as server:
        endpoint = vendor.on(server, throttle=replace(QUICK, seconds=2.0))
        (reply,) = settle(engine, endpoint, ask("q"))
        assert server.idle()
        assert server.dropped == 1
    assert isinstance(reply, Reply)


def test_tools_there_and_back(engine: Engine, vendor: Vendor) -> None:
    wish = {
        "content": "",
        "tool_calls": [
            {
                "id": "a1",
                "type": "function",
                "function": {"name": "run_sql", "arguments": '{"sql": "SELECT 1"}'},
            }
        ],
    }
    with ModelServer(answer=replying(wish)) as server:
        endpoint = vendor.on(server, capabilities=(("tools", True),))
        (first,) = settle(engine, endpoint, ask("q", tools=(TOOL,)))
        assert isinstance(first, Reply)
        (call,) = first.tool_calls
        talk = (
            PlainMessage("system", "Be brief."),
            PlainMessage("user", "q"),
            PlainMessage("assistant", "", (call,)),
            PlainMessage("tool", "one row: 1", tool_call_id=call.id),
        )
        settle(engine, endpoint, Call(talk, tools=(TOOL,)))
        again = server.seen[-1]
    assert first.finish == "tool_calls"
    assert (call.name, json.loads(call.arguments)) == ("run_sql", {"sql": "SELECT 1"})
    text = json.dumps(again.body)
    assert "one row: 1" in text
    assert text.count("run_sql") >= 2


def test_broken_arguments_of_a_tool_do_no_harm(engine: Engine, vendor: Vendor) -> None:
    with ModelServer(answer=lambda asked: "fine") as server:
        broken = ToolCall("a1", "run_sql", "{not json")
        talk = (
            PlainMessage("user", "q"),
            PlainMessage("assistant", "let me see", (broken,)),
            PlainMessage("tool", "could not read that", tool_call_id="a1"),
        )
        (reply,) = settle(engine, vendor.on(server), Call(talk))
    assert isinstance(reply, Reply)


def test_a_missing_key_is_told_before_anything_is_sent() -> None:
    for name in ("openai", "anthropic", "google", "openrouter"):
        with pytest.raises(ConfigError) as caught:
            connect(Service(PROVIDERS[name], "m"))
        assert PROVIDERS[name].key_variable in caught.value.hint


def test_older_models_of_anthropic_get_their_temperature(engine: Engine) -> None:
    vendor = next(each for each in VENDORS if each.name == "anthropic")
    with ModelServer() as server:
        endpoint = vendor.on(server, capabilities=(("temperature", True),))
        settle(engine, endpoint, ask("q", temperature=1.5))
        (asked,) = server.seen
    assert asked.body["temperature"] == 1.0
    assert asked.headers["anthropic-version"] == "2023-06-01"
    assert CANARY in asked.headers["x-api-key"]


def test_a_server_without_schemas_may_take_one_with_its_plainer_json(engine: Engine) -> None:
    def plainer_only(asked: Asked) -> str:
        form = asked.body.get("response_format")
        schemas = form is not None and form["type"] == "json_schema"
        return "unsupported:response_format" if schemas else ""

    def neither(asked: Asked) -> str:
        return "unsupported:response_format" if "response_format" in asked.body else ""

    sent = {}
    for faults in (plainer_only, neither):
        with ModelServer(faults=faults) as server:
            endpoint = VENDORS[0].on(server)
            for _ in range(2):
                (reply,) = settle(engine, endpoint, ask("q", reply_schema=SCHEMA))
                assert isinstance(reply, Reply)
            sent[faults] = [asked.body.get("response_format") for asked in server.seen]
    strict, plainer, *later = sent[plainer_only]
    assert (strict["type"], plainer) == ("json_schema", {"type": "json_object", "schema": SCHEMA})
    assert later == [plainer]
    assert sent[neither] == [strict, plainer, None, None]
