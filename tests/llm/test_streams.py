"""Replies that are streamed are the replies that come whole; what a stream can go wrong with."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import Any

import pytest

from sqlwright.llm.endpoint import Call, CallOutcome, PlainMessage
from sqlwright.llm.sending.engine import Engine
from sqlwright.messages import Missing, Reply, Tool
from sqlwright.protocols import Run
from tests.llm.doubles import QUICK, Books, ask, model_on
from tests.llm.misbehaving import MODES, Misbehaving
from tests.llm.server import Asked, ModelServer, always, in_order

WISH = {
    "id": "a",
    "type": "function",
    "function": {"name": "t", "arguments": '{"sql": "SELECT 1"}'},
}
PLACE = {"token": "B", "logprob": -0.1, "top_logprobs": [{"token": "B", "logprob": -0.1}]}
MESSAGES: list[Any] = [
    "SELECT name FROM people",
    ["first", "second", "Straße 東京 🙂"],
    {"content": "", "tool_calls": [WISH, {**WISH, "id": "b"}], "reasoning_content": "I think so"},
    {"content": "B", "logprobs": {"content": [PLACE, PLACE]}},
    {"content": None, "reasoning": "only thought"},
    {"content": "half", "finish_reason": "length"},
    {"content": "", "refusal": "I would rather not"},
]


def outcome(engine: Engine, server: ModelServer, n: int) -> CallOutcome:
    call = Call((PlainMessage("user", "q"),), n=n, logprobs=1, tools=(Tool("t", "Runs."),))
    endpoint = model_on(server, logprobs=True)
    return engine.run_all(endpoint, [call], run=Run(), meter=Books())[0]


@pytest.mark.parametrize("message", MESSAGES)
def test_a_stream_gives_what_comes_whole(engine: Engine, message: Any) -> None:
    n = len(message) if isinstance(message, list) else 1
    found = []
    for streams in (False, True):
        with ModelServer(answer=lambda _: message, streams=streams) as server:
            found.append(outcome(engine, server, n))
            assert all(asked.body["stream"] for asked in server.seen)
    assert found[0] == found[1]
    assert all(isinstance(sample, Reply) for sample in found[1].samples)


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("unfinished", "ended before"),
        ("error_inside", "the worker is gone"),
        ("stall", "nothing came"),
    ],
)
def test_a_stream_that_does_not_end_well_is_asked_for_again(
    engine: Engine, fault: str, says: str
) -> None:
    quick = replace(QUICK, seconds=0.3)
    with ModelServer(answer=lambda _: "fine", streams=True, faults=in_order(fault)) as server:
        endpoint = model_on(server, throttle=quick)
        (good,) = engine.run_all(endpoint, [ask("q")], run=Run(), meter=Books())
        assert len(server.seen) == 2
    assert good.complete
    with ModelServer(answer=lambda _: "fine", streams=True, faults=always(fault)) as server:
        endpoint = model_on(server, throttle=quick)
        (bad,) = engine.run_all(endpoint, [ask("q")], run=Run(), meter=Books())
        asked = len(server.seen)
    (missing,) = bad.samples
    assert isinstance(missing, Missing)
    assert says in missing.message
    assert asked == (6 if fault == "error_inside" else 2)


def test_a_server_that_holds_to_no_limit_is_left(engine: Engine) -> None:
    with Misbehaving(MODES["stream that never stops"]) as server:
        endpoint = model_on(ModelServer(), base_url=server.url)
        call = ask("q", max_tokens=10, room=1_000)
        (endless,) = engine.run_all(endpoint, [call], run=Run(), meter=Books())
        assert server.requests == 2
    (reply,) = endless.samples
    assert isinstance(reply, Reply)
    assert reply.finish == "length"


def test_cancelling_closes_the_stream(engine: Engine) -> None:
    run = Run()
    with ModelServer(answer=lambda _: "fine", streams=True, faults=always("stall")) as server:
        thread = threading.Thread(
            target=engine.run_all,
            args=(model_on(server), [ask("q")]),
            kwargs={"run": run, "meter": Books()},
        )
        thread.start()
        while not server.in_flight:
            time.sleep(0.005)
        run.cancelled.set()
        thread.join()
        assert server.idle()
        assert server.dropped == len(server.seen) == 1


def in_turn(asked: Asked) -> float:
    """As long as a server takes that answers one request after another."""
    return 0.3 * (asked.number + 1)


def test_a_request_that_waits_for_its_turn_is_not_sent_again(engine: Engine) -> None:
    quick = replace(QUICK, seconds=0.45)
    with ModelServer(answer=lambda _: "fine", streams=True, latency=in_turn) as server:
        calls = [ask(str(number)) for number in range(4)]
        endpoint = model_on(server, throttle=quick)
        outcomes = engine.run_all(endpoint, calls, run=Run(), meter=Books())
        assert all(each.complete for each in outcomes)
        assert len(server.seen) == 4


CITIES = ", ".join(f'"{city}"' for city in ("Leeds", "East York", "New York"))
ENDLESS = [
    f'["Hull", {", ".join([CITIES] * 80)}',
    "Keywords:\n- Hull\n" + "- Leeds\n- New York\n" * 60,
    "\n".join(["1. Hull", *(f"{number}. Leeds" for number in range(2, 200))]),
    "```sql\nSELECT 1 FROM t WHERE " + "a = 1 OR " * 100,
    '{"keywords": [' + "\n" * 900,
]
LONG = [
    ", ".join(str(number) for number in range(400)),
    "\n".join(f"| {number} | name {number % 7} |" for number in range(90)),
    "SELECT " + ", ".join(f"SUM(CASE WHEN month = {m} THEN 1 END) AS m{m}" for m in range(12)),
    " ".join(["x"] * 200),
]


@pytest.mark.parametrize("streams", [True, False])
@pytest.mark.parametrize(
    ("text", "ended"), [*((t, "repeats") for t in ENDLESS), *((t, "length") for t in LONG)]
)
def test_a_reply_that_repeats_itself_without_end_is_told_from_a_long_one(
    engine: Engine, text: str, ended: str, streams: bool
) -> None:
    message = {"content": text, "finish_reason": "length"}
    with ModelServer(answer=lambda _: message, streams=streams) as server:
        (found,) = engine.run_all(model_on(server), [ask("q")], run=Run(), meter=Books())
        assert len(server.seen) == 1
    (reply,) = found.samples
    assert isinstance(reply, Reply)
    assert reply.finish == ended
