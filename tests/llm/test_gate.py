"""The gate: budgets that hold, samples in their places, one record in the order of the requests."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from sqlwright.llm.endpoint import Call, Completion, PlainMessage, Throttle
from sqlwright.llm.gate import Connection, GatedModel
from sqlwright.llm.metering import completion_tokens, largest_cost, prompt_tokens
from sqlwright.llm.scripted import Asked, Script, ScriptedEndpoint, When
from sqlwright.llm.sending.engine import Engine
from sqlwright.llm.sending.transport import ModelAddress
from sqlwright.llm.vendors.openai import OpenAIEndpoint
from sqlwright.llm.vendors.reading import count, price
from sqlwright.messages import LONGEST_REPLY, Capabilities, Missing, Reply, Text, Tool
from sqlwright.spending import Budget
from sqlwright.types import Usage
from tests.llm.gates import PRICE, Events, a_run, gate, request, texts
from tests.llm.server import ModelServer, always

ONE_AT_A_TIME = Capabilities(n=False)


def counted(asked: Asked) -> str:
    return f"reply {asked.seed}"


@pytest.mark.parametrize("capabilities", [Capabilities(n=True), ONE_AT_A_TIME])
def test_every_sample_is_in_its_place(capabilities: Capabilities) -> None:
    endpoint = ScriptedEndpoint(Script(otherwise=counted), capabilities=capabilities)
    with gate(endpoint=endpoint) as (model, _):
        found = model.complete(
            [request("a", n=3, seed=10), request("b", seed=50)], a_run(), step="s"
        )
    assert [texts(samples) for samples in found] == [
        ["reply 10", "reply 11", "reply 12"],
        ["reply 50"],
    ]


def test_usage_is_booked_on_the_step_with_its_price() -> None:
    run = a_run()
    with gate("four words of reply") as (model, endpoint):
        model.complete([request("a question", n=2)], run, step="generation.x")
        model.complete([request("a question")], run, step="selection.y")
    prompt = prompt_tokens(endpoint.calls[0])
    reply = Script(otherwise="four words of reply").reply(Asked(""))
    assert isinstance(reply, Reply)
    each = reply.reply_tokens
    assert run.spending.by_step["generation.x"] == Usage(
        1, prompt, 2 * each, PRICE.cost(prompt, 2 * each)
    )
    assert run.spending.total.calls == 2


def test_without_reported_tokens_they_are_estimated() -> None:
    run = a_run()
    endpoint = ScriptedEndpoint(Script(otherwise="x" * 300), reports_tokens=False)
    with gate(endpoint=endpoint) as (model, _):
        model.complete([request("y" * 600)], run, step="s")
    assert run.spending.total.prompt_tokens >= 200
    assert run.spending.total.reply_tokens == 100


def test_an_unknown_price_is_unknown_not_zero() -> None:
    events = Events()
    run = a_run(events=events)
    with gate(price=None) as (model, _):
        model.complete([request("q")], run, step="s")
    assert run.spending.total.cost is None
    assert events.calls[0].cost is None


@pytest.mark.parametrize("capabilities", [Capabilities(n=True), ONE_AT_A_TIME])
@pytest.mark.parametrize("most", [0, 1, 2, 5])
def test_a_budget_of_calls_is_never_overdrawn(most: int, capabilities: Capabilities) -> None:
    endpoint = ScriptedEndpoint(Script(otherwise="yes"), capabilities=capabilities)
    run = a_run(Budget(calls=most))
    with gate(endpoint=endpoint) as (model, _):
        found = model.complete([request("a", n=2), request("b", n=2)], run, step="s")
    assert len(endpoint.calls) == run.spending.total.calls <= most
    given = [text for samples in found for text in texts(samples)]
    wanted = min(4, 2 * most if capabilities.n else most)
    assert given == ["yes"] * wanted + ["!budget"] * (4 - wanted)


def test_a_budget_of_tokens_lets_as_many_pass_as_really_fit() -> None:
    # Each may take 1,000 tokens of reply and takes two: they go one after another, not none.
    run = a_run(Budget(tokens=1_400))
    with gate("fine") as (model, endpoint):
        found = model.complete([request(f"q{n}") for n in range(8)], run, step="s")
    assert [texts(samples) for samples in found] == [["fine"]] * 8
    assert len(endpoint.calls) == 8
    total = run.spending.total
    assert total.prompt_tokens + total.reply_tokens <= 1_400


def test_the_last_of_the_tokens_make_a_shorter_reply() -> None:
    run = a_run(Budget(tokens=700))
    with gate("fine") as (model, endpoint):
        model.complete([request("q")], run, step="s")
    sent = endpoint.calls[0]
    assert 256 <= sent.max_tokens < 700
    assert largest_cost(sent, PRICE).tokens <= 700


@pytest.mark.parametrize("budget", [Budget(tokens=200), Budget(cost=0.002), Budget(calls=0)])
def test_with_less_room_than_a_reply_needs_nothing_is_sent(budget: Budget) -> None:
    run = a_run(budget)
    with gate() as (model, endpoint):
        (samples,) = model.complete([request("q", n=2)], run, step="s")
    assert texts(samples) == ["!budget", "!budget"]
    assert endpoint.calls == []
    assert run.spending.total == Usage()


def test_a_budget_of_money_shortens_the_reply_and_then_ends() -> None:
    run = a_run(Budget(cost=0.006))  # 10 dollars per million: 600 tokens of reply
    with gate("word " * 300) as (model, endpoint):
        found = model.complete([request("q"), request("r")], run, step="s")
    assert endpoint.calls[0].max_tokens < 600
    assert texts(found[1]) == ["!budget"]
    assert (run.spending.total.cost or 0) <= 0.006


def test_many_branches_together_stay_within_one_budget() -> None:
    endpoint = ScriptedEndpoint(Script(otherwise="yes"), seconds=0.002)
    run = a_run(Budget(calls=37, tokens=40_000))
    with gate(endpoint=endpoint) as (model, _), ThreadPoolExecutor(12) as pool:
        found = list(
            pool.map(
                lambda n: model.complete([request(f"{n}.{k}") for k in range(4)], run, step="s"),
                range(12),
            )
        )
    given = [text for batch in found for samples in batch for text in texts(samples)]
    assert given.count("yes") == 37 == len(endpoint.calls)
    assert given.count("!budget") == 48 - 37


def test_attempts_that_failed_count_as_calls() -> None:
    script = Script([When("q", [Missing("unavailable", "down"), "up"])])
    endpoint = ScriptedEndpoint(script)
    endpoint.throttle = replace(endpoint.throttle, attempts=3)
    run = a_run(Budget(calls=2))
    with gate(endpoint=endpoint) as (model, _):
        (samples,) = model.complete([request("q")], run, step="s")
    assert texts(samples) == ["up"]
    assert run.spending.total.calls == 2


def test_a_retry_that_the_budget_has_no_room_for_is_not_made() -> None:
    endpoint = ScriptedEndpoint(Script(otherwise=Missing("unavailable", "down")))
    endpoint.throttle = replace(endpoint.throttle, attempts=5)
    run = a_run(Budget(calls=2))
    with gate(endpoint=endpoint) as (model, _):
        (samples,) = model.complete([request("q")], run, step="s")
    assert texts(samples) == ["!budget"]
    assert len(endpoint.calls) == 2


def test_a_refused_request_says_why_and_is_a_call() -> None:
    endpoint = ScriptedEndpoint(Script(otherwise=Missing("rejected", "no such model")))
    run = a_run()
    with gate(endpoint=endpoint) as (model, _):
        (samples,) = model.complete([request("q")], run, step="s")
    assert texts(samples) == ["!rejected"]
    assert run.spending.total == Usage(calls=1, unanswered=1)


def test_events_come_in_the_order_of_the_requests_whatever_is_faster() -> None:
    events = Events()
    endpoint = ScriptedEndpoint(Script(otherwise=counted), capabilities=ONE_AT_A_TIME)
    with gate(endpoint=endpoint) as (model, _):
        run = a_run(events=events)
        model.complete([request(f"q{n}", n=2, seed=n * 10) for n in range(20)], run, step="s")
    assert [str(call.messages[0].text) for call in events.calls] == [f"q{n}" for n in range(20)]
    assert [texts(call.replies) for call in events.calls] == [
        [f"reply {n * 10}", f"reply {n * 10 + 1}"] for n in range(20)
    ]


def test_an_event_says_what_its_own_request_cost() -> None:
    events = Events()
    with gate("fine") as (model, endpoint):
        run = a_run(events=events)
        model.complete([request("q"), request("q" * 3_000)], run, step="s")
    prices = [PRICE.cost(prompt_tokens(call), 2) for call in endpoint.calls]
    assert sorted(call.cost for call in events.calls) == sorted(prices)
    assert events.calls[0].cost < events.calls[1].cost


def test_tools_and_schema_are_sent_to_those_that_take_them() -> None:
    tool = Tool("find", "Find a value.", {"type": "object"})
    asked = request("q", tools=(tool,), reply_schema={"type": "object"})
    with gate() as (model, endpoint):
        model.complete([asked], a_run(), step="s")
    assert (endpoint.calls[0].tools, endpoint.calls[0].reply_schema) == ((), None)
    able = ScriptedEndpoint(
        Script(otherwise="yes"), capabilities=Capabilities(tools=True, json_schema=True)
    )
    with gate(endpoint=able) as (model, _):
        model.complete([asked], a_run(), step="s")
    assert able.calls[0].tools == (tool,)
    assert able.calls[0].reply_schema == {"type": "object"}


def test_a_cancelled_run_asks_nothing_more_and_keeps_what_it_has() -> None:
    run = a_run()

    def cancel_then(asked: Asked) -> str:
        run.cancelled.set()
        return "last"

    endpoint = ScriptedEndpoint(Script(otherwise=cancel_then), seconds=0.0)
    with gate(endpoint=endpoint) as (model, _):
        first = model.complete([request("q")], run, step="s")
        second = model.complete([request("r", n=2)], run, step="s")
    assert texts(first[0]) in (["last"], ["!cancelled"])
    assert texts(second[0]) == ["!cancelled", "!cancelled"]
    assert len(endpoint.calls) == 1


def test_waiting_for_others_ends_with_the_run() -> None:
    """A branch that waits for what another one reserved is let go when the run is cancelled."""
    endpoint = ScriptedEndpoint(Script(otherwise="slow"), seconds=30.0)
    run = a_run(Budget(calls=1))
    with gate(endpoint=endpoint) as (model, _):
        threads = [
            threading.Thread(target=lambda n=n: model.complete([request(f"q{n}")], run, step="s"))
            for n in range(2)
        ]
        for thread in threads:
            thread.start()
        while not endpoint.calls:
            time.sleep(0.001)
        run.cancelled.set()
        for thread in threads:
            thread.join(5)
        assert not any(thread.is_alive() for thread in threads)


@pytest.mark.parametrize(
    "leak", [lambda key: f"your key {key} is wrong", lambda key: f"{key}{key}"]
)
def test_a_key_that_an_endpoint_repeats_is_masked(leak: Callable[[str], str]) -> None:
    key = "canary-key-0123456789"
    events = Events()
    endpoint = ScriptedEndpoint(
        Script([When("bad", Missing("rejected", leak(key)))], otherwise=leak(key))
    )
    with gate(endpoint=endpoint, key=key) as (model, _):
        run = a_run(events=events)
        found = model.complete([request("bad"), request("good")], run, step="s")
    assert key not in repr(found)
    assert key not in repr(events.kept)


def test_text_of_every_origin_is_in_the_event() -> None:
    events = Events()
    prompt = Text.of("Is it ", "template") + Text.of("Anna", "value") + Text.of("?", "question")
    with gate() as (model, _):
        model.complete([request(prompt)], a_run(events=events), step="s")
    assert events.calls[0].messages[0].text == prompt


@pytest.mark.parametrize("seed", range(25))
def test_whatever_happens_a_budget_holds_and_every_sample_is_accounted_for(seed: int) -> None:
    generator = random.Random(seed)
    budget = Budget(
        generator.choice([None, 3, 12, 40]),
        generator.choice([None, 900, 6_000, 40_000]),
        generator.choice([None, 0.004, 0.05]),
    )

    def moody(asked: Asked) -> Reply | Missing:
        mood = random.Random(f"{seed}/{asked.prompt}/{asked.seed}").random()
        if mood < 0.2:
            return Missing("unavailable", "down")
        if mood < 0.25:
            return Missing("rejected", "no")
        words = int(mood * asked.max_tokens)
        return Reply("x" * 3 * words, reply_tokens=words)

    endpoint = ScriptedEndpoint(
        Script(otherwise=moody), capabilities=Capabilities(n=generator.random() < 0.5)
    )
    endpoint.throttle = replace(endpoint.throttle, attempts=2)
    run = a_run(budget)
    wanted = [
        [request(f"{branch}.{k}" * 20, n=generator.randint(1, 4)) for k in range(4)]
        for branch in range(6)
    ]
    with gate(endpoint=endpoint) as (model, _), ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda batch: model.complete(batch, run, step="s"), wanted))
    for batch, samples in zip(wanted, found, strict=True):
        assert [len(row) for row in samples] == [one.n for one in batch]
    total = run.spending.total
    assert not run.spending.held
    assert budget.calls is None or total.calls <= budget.calls
    assert budget.tokens is None or total.prompt_tokens + total.reply_tokens <= budget.tokens
    assert budget.cost is None or (total.cost or 0) <= budget.cost + 1e-12
    if budget == Budget():
        assert "!budget" not in [text for batch in found for row in batch for text in texts(row)]


@pytest.mark.parametrize(
    ("prompt", "reply", "believed"),
    [
        (100, 20, True),
        (None, None, False),
        (0, 0, False),
        (50_000_000, 50_000_000, False),
    ],
)
def test_tokens_are_estimated_where_what_is_reported_can_not_be(
    prompt: int | None, reply: int | None, believed: bool
) -> None:
    call = Call((PlainMessage("user", "How many people are there? " * 20),), max_tokens=500)
    answer = Completion((Reply("SELECT count(*) FROM people"),), "", prompt, reply)
    found = completion_tokens(call, answer)
    assert (found == (100, 20)) is believed
    assert 100 <= found[0] < 1_000
    assert 5 <= found[1] < 1_000


@pytest.mark.parametrize(
    "number", [10**400, -1, 10**18, float("inf"), float("nan"), -1e300, True, "7", None, [7], 1e308]
)
def test_a_number_that_is_none_is_none(number: object) -> None:
    assert count(number) is None
    assert price(number) is None


def test_of_a_reply_that_is_too_long_the_end_is_kept_and_the_event_says_so() -> None:
    events = Events()
    long = "x" * LONGEST_REPLY + "the end"
    with gate(Script(otherwise=long)) as (model, _):
        ((sample,),) = model.complete([request("q")], a_run(events=events), step="s")
    assert isinstance(sample, Reply)
    assert sample.text == long[-LONGEST_REPLY:]
    assert [call.cut for call in events.calls] == [1]


def test_a_budget_of_calls_is_the_most_requests_that_are_sent_whatever_comes_of_them() -> None:
    for fault in ("rate_limit", "server_error", "bad_request", "drop", "empty", "html"):
        engine, run = Engine(), a_run(Budget(calls=3))
        with ModelServer(faults=always(fault), retry_after=0.001) as server:
            throttle = Throttle(first_delay=0.001, longest_delay=0.002)
            endpoint = OpenAIEndpoint(
                ModelAddress("openai-compatible/m", "m", server.url, Capabilities(), throttle)
            )
            model = GatedModel(
                endpoint.name,
                endpoint.capabilities,
                Connection(lambda: endpoint, engine),  # noqa: B023
            )
            model.complete([request(f"q{number}", n=2) for number in range(4)], run, step="s")
            engine.close()
            assert 0 < len(server.seen) <= 3
            assert run.spending.total.calls == len(server.seen)


def test_replies_to_a_question_are_limited_in_all() -> None:
    def endless(asked: Asked) -> Reply:
        return Reply("so", finish="length", reply_tokens=asked.max_tokens)

    run = a_run(Budget().capped(2_500))
    with gate(Script(otherwise=endless)) as (model, endpoint):
        asked = [request(f"q{n}") for n in range(5)]
        samples = [sample for (sample,) in model.complete(asked, run, step="s")]
    assert sum(call.limit for call in endpoint.calls) <= 2_500
    assert run.spending.total.reply_tokens <= 2_500
    told = [sample.message for sample in samples if isinstance(sample, Missing)]
    assert told
    assert all("2,500 tokens of replies" in message for message in told)
