"""Effort, length, log probabilities, prefix caches and tool calls, in each vendor's own form."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sqlwright.llm.endpoint import Call, PlainMessage
from sqlwright.llm.keeping.digest import call_form, reply_form, reply_from
from sqlwright.llm.sending.engine import Engine
from sqlwright.messages import (
    Effort,
    Message,
    Missing,
    Reply,
    Request,
    Text,
    TokenLogprob,
    Tool,
    ToolCall,
)
from sqlwright.protocols import Run
from tests.llm.doubles import Books, ask
from tests.llm.gates import a_run, gate
from tests.llm.server import Asked, ModelServer, always
from tests.llm.test_vendors import TOOL, VENDORS, Vendor, replying, settle

BY_NAME = {vendor.name: vendor for vendor in VENDORS}
SYSTEM = "Write one query. " * 400


def body_for(engine: Engine, vendor: str, call: Call, model: str = "some-model") -> dict[str, Any]:
    """The body that a call becomes."""
    with ModelServer() as server:
        (reply,) = settle(engine, BY_NAME[vendor].on(server, model=model), call)
        (asked,) = server.seen
    assert isinstance(reply, Reply)
    return dict(asked.body)


@pytest.mark.parametrize("vendor", ["openai", "azure", "openrouter", "vllm", "ollama"])
def test_openai_takes_effort_and_length_by_name(engine: Engine, vendor: str) -> None:
    body = body_for(engine, vendor, ask("q", reasoning="low", verbosity="low"))
    assert (body["reasoning_effort"], body["verbosity"]) == ("low", "low")
    assert {"reasoning_effort", "verbosity", "logprobs"}.isdisjoint(
        body_for(engine, vendor, ask("q"))
    )


@pytest.mark.parametrize(
    ("model", "effort", "thinking", "told"),
    [
        ("claude-opus-5", "high", {"type": "adaptive"}, "high"),
        ("claude-opus-5", "minimal", {"type": "adaptive"}, "low"),
        ("claude-opus-5", "none", {"type": "disabled"}, None),
        ("claude-haiku-4-5", "low", {"type": "enabled", "budget_tokens": 4_096}, None),
        ("claude-opus-4-5-20251101", "low", {"type": "enabled", "budget_tokens": 4_096}, None),
        ("claude-opus-5", None, None, None),
    ],
)
def test_anthropic_thinks_by_effort_or_by_budget(
    engine: Engine, model: str, effort: Effort | None, thinking: Any, told: str | None
) -> None:
    call = ask("q", reasoning=effort, reasoning_tokens=4_096)
    body = body_for(engine, "anthropic", call, model)
    assert body.get("thinking") == thinking
    assert body.get("output_config", {}).get("effort") == told
    assert body["max_tokens"] == 4_096 + 4_096


@pytest.mark.parametrize(
    ("model", "effort", "config"),
    [
        ("gemini-2.5-flash", "none", {"thinking_budget": 0}),
        ("gemini-2.5-flash", "max", {"thinking_budget": 24_576}),
        ("gemini-3.5-flash", "none", {"thinking_level": "MINIMAL"}),
        ("gemini-4-argon", "high", {"thinking_level": "HIGH"}),
    ],
)
def test_google_thinks_by_budget_or_by_level(
    engine: Engine, model: str, effort: Effort, config: Any
) -> None:
    body = body_for(engine, "google", ask("q", reasoning=effort), model)
    assert body["generationConfig"]["thinkingConfig"] == config


REFUSED = {
    "openai": ("reasoning_effort", "verbosity", "logprobs"),
    "anthropic": ("thinking", "output_config"),
    "google": ("thinkingConfig", "responseLogprobs"),
}


@pytest.mark.parametrize("vendor", list(REFUSED))
def test_what_a_model_does_not_take_is_left_out_and_named(engine: Engine, vendor: str) -> None:
    def holds(body: Any, name: str) -> bool:
        return isinstance(body, dict) and (
            name in body or any(holds(part, name) for part in body.values())
        )

    def fault(asked: Asked) -> str:
        bad = next((name for name in REFUSED[vendor] if holds(asked.body, name)), "")
        return f"refused:{bad}" if bad else ""

    with ModelServer(faults=fault) as server:
        endpoint = BY_NAME[vendor].on(server)
        call = ask("q", reasoning="low", verbosity="low", logprobs=0)
        (outcome,) = engine.run_all(endpoint, [call], run=Run(), meter=Books())
        (again,) = engine.run_all(endpoint, [call], run=Run(), meter=Books())
    assert isinstance(outcome.samples[0], Reply)
    assert len(outcome.left_out) == len(REFUSED[vendor])
    assert again.left_out == ()
    assert len(server.seen) == len(REFUSED[vendor]) + 2
    assert not endpoint.capabilities.logprobs


LIMITS = {
    "openai": "max_tokens is too large: 50000. This model supports at most 16384 completion tokens,"
    " whereas you provided 50000.",
    "vllm": "'max_tokens' or 'max_completion_tokens' is too large: 50000. This model's maximum"
    " context length is 32768 tokens.",
    "anthropic": "max_tokens: 50000 > 16384, which is the maximum allowed number of output tokens"
    " for claude-x-20241022",
    "google": "Unable to submit request because it has a maxOutputTokens value of 50000 but the"
    " supported range is from 1 (inclusive) to 16384 (exclusive).",
}


@pytest.mark.parametrize("vendor", list(LIMITS))
def test_a_limit_that_is_too_high_is_lowered_to_what_the_server_takes(
    engine: Engine, vendor: str
) -> None:
    most = 32_768 if vendor == "vllm" else 16_384

    def fault(asked: Asked) -> str:
        return f"says:{LIMITS[vendor]}" if "50000" in json.dumps(asked.body) else ""

    with ModelServer(faults=fault) as server:
        endpoint = BY_NAME[vendor].on(server)
        (reply,) = settle(engine, endpoint, ask("q", max_tokens=50_000))
    assert isinstance(reply, Reply)
    assert len(server.seen) == 2
    assert str(most) in json.dumps(server.seen[1].body)
    assert endpoint.capabilities.reply_tokens == most


def test_an_error_that_a_reply_ran_out_is_a_reply_that_ended_for_length(engine: Engine) -> None:
    text = "Could not finish the message because max_tokens or model output limit was reached."
    with ModelServer(faults=lambda asked: f"says:{text}" if not asked.number else "") as server:
        endpoint = BY_NAME["openai"].on(server)
        (reply,) = settle(engine, endpoint, ask("q", max_tokens=500, room=5_000))
    assert isinstance(reply, Reply)
    assert [asked.body["max_completion_tokens"] for asked in server.seen] == [500, 5_000]


def test_anthropic_keeps_the_fixed_beginning_in_its_prefix_cache(engine: Engine) -> None:
    fixed = PlainMessage("system", SYSTEM, fixed=True)
    used = {"cache_read_input_tokens": 40, "cache_creation_input_tokens": 60, "input_tokens": 10}
    message = {"content": "yes", "usage": used}
    books = Books()
    with ModelServer(answer=replying(message)) as server:
        endpoint = BY_NAME["anthropic"].on(server)
        for system in (fixed, PlainMessage("system", SYSTEM), PlainMessage("system", "Short.")):
            call = Call((system, PlainMessage("user", "q")))
            engine.run_all(endpoint, [call], run=Run(), meter=books)
    marked, unmarked, short = (asked.body["system"] for asked in server.seen)
    assert marked == [{"type": "text", "text": SYSTEM, "cache_control": {"type": "ephemeral"}}]
    assert (unmarked, short) == (SYSTEM, "Short.")
    completion: Any = books.settled[0][1]
    assert (completion.prompt_tokens, completion.cached_prompt_tokens) == (110, 40)
    assert completion.written_prompt_tokens == 60


def test_log_probabilities_are_read_in_openais_form(engine: Engine) -> None:
    place = {
        "token": " B",
        "logprob": -0.1,
        "top_logprobs": [{"token": " B", "logprob": -0.1}, {"token": "A", "logprob": -2.5}],
    }
    with ModelServer(
        answer=replying({"content": " B", "logprobs": {"content": [place]}})
    ) as server:
        call = ask("q", logprobs=50)
        (reply,) = settle(engine, BY_NAME["vllm"].on(server), call)
        (asked,) = server.seen
    assert (asked.body["logprobs"], asked.body["top_logprobs"]) == (True, 20)
    assert isinstance(reply, Reply)
    assert reply.logprobs == (TokenLogprob(" B", -0.1, ((" B", -0.1), ("A", -2.5))),)


def test_log_probabilities_are_read_in_googles_form(engine: Engine) -> None:
    listed = {
        "chosenCandidates": [{"token": "B", "logProbability": -0.1}],
        "topCandidates": [{"candidates": [{"token": "A", "logProbability": -2.5}]}],
    }
    with ModelServer(answer=replying({"content": "B", "logprobs": listed})) as server:
        (reply,) = settle(engine, BY_NAME["google"].on(server), ask("q", logprobs=3))
        (asked,) = server.seen
    config = asked.body["generationConfig"]
    assert (config["responseLogprobs"], config["logprobs"]) == (True, 3)
    assert isinstance(reply, Reply)
    assert reply.logprobs == (TokenLogprob("B", -0.1, (("A", -2.5),)),)


def test_what_is_asked_for_makes_another_request_and_replies_are_kept_whole() -> None:
    plain = call_form(ask("q"), "m")
    for other in (ask("q", reasoning="low"), ask("q", verbosity="low"), ask("q", logprobs=0)):
        assert call_form(other, "m") != plain
    assert call_form(ask("q", reasoning_tokens=9, room=99), "m") == plain
    place = TokenLogprob("B", -0.1, (("A", -2.5),))
    call = ToolCall("1", "t", "{}", "c2ln")
    reply = Reply("B", (call,), "stop", 1, 2, 1, (place,), "thought", cached=True)
    assert reply_from(json.loads(json.dumps(reply_form(reply)))) == reply


WISH = {"name": "run_sql", "arguments": '{"sql": "SELECT 1"}'}


def round_trip(engine: Engine, vendor: Vendor, message: dict[str, Any]) -> tuple[Reply, Any]:
    """A reply that calls a tool, and the body of the request that gives back its result."""
    with ModelServer(answer=replying(message)) as server:
        endpoint = vendor.on(server)
        (reply,) = settle(engine, endpoint, ask("q", tools=(TOOL,)))
        assert isinstance(reply, Reply)
        (call,) = reply.tool_calls
        talk = (
            PlainMessage("user", "q"),
            PlainMessage("assistant", reply.text, reply.tool_calls, thought=reply.thought),
            PlainMessage("tool", "one row: 1", tool_call_id=call.id),
        )
        settle(engine, endpoint, Call(talk, tools=(Tool("run_sql", "Runs it."),)))
        return reply, server.seen[-1].body


def test_anthropics_thoughts_come_back_before_its_tool_calls(engine: Engine) -> None:
    thinking = [
        {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "eHh4"},
    ]
    message = {
        "thinking": thinking,
        "content": "so",
        "tool_calls": [{"id": "a1", "function": WISH}],
    }
    reply, body = round_trip(engine, BY_NAME["anthropic"], message)
    assert reply.text == "so"
    assert body["messages"][1]["content"][:2] == thinking
    assert [block["type"] for block in body["messages"][1]["content"]][2:] == ["text", "tool_use"]


def test_googles_signatures_come_back_with_their_calls(engine: Engine) -> None:
    call = {"id": "a1", "function": WISH, "signature": "-_8="}
    reply, body = round_trip(engine, BY_NAME["google"], {"tool_calls": [call]})
    (part,) = body["contents"][1]["parts"]
    assert part["functionCall"]["args"] == {"sql": "SELECT 1"}
    assert part["thoughtSignature"].replace("+", "-").replace("/", "_") == "-_8="
    assert reply.tool_calls[0].signature == "-_8="
    (result,) = body["contents"][2]["parts"]
    assert result["functionResponse"]["name"] == "run_sql"


def test_openais_form_gives_reasoning_back_to_servers_that_sent_it(engine: Engine) -> None:
    call = {"id": "a1", "type": "function", "function": WISH}
    details = [{"type": "reasoning.encrypted", "data": "eHh4"}]
    message = {"content": "", "tool_calls": [call], "reasoning_details": details}
    _, body = round_trip(engine, BY_NAME["openrouter"], message)
    assert body["messages"][1]["reasoning_details"] == details
    assert body["messages"][2] == {
        "role": "tool",
        "content": "one row: 1",
        "tool_call_id": "a1",
    }


def test_records_of_thought_stay_here_with_what_a_model_here_has_seen() -> None:
    call = ToolCall("a1", "run_sql", '{"sql": "SELECT 1"}', "c2ln")
    own = Message("assistant", Text.of("so", "model"), (call,), thought="secret")
    run = a_run(privacy="schema-only")
    with gate() as (model, endpoint):
        model.complete([Request((own,))], run, step="s")
        run.local_model_saw_values.set()
        model.complete([Request((own,))], run, step="s")
    (first,), (second,) = (sent.messages for sent in endpoint.calls)
    assert (first.thought, first.tool_calls) == ("secret", (call,))
    assert (second.thought, second.tool_calls) == ("", (ToolCall("a1", "run_sql", "{}"),))


def test_a_refusal_for_another_reason_ends_the_call(engine: Engine) -> None:
    with ModelServer(faults=always("bad_request")) as server:
        (missing,) = settle(engine, BY_NAME["openai"].on(server), ask("q", reasoning="low"))
        assert len(server.seen) == 1
    assert isinstance(missing, Missing)
