"""The engine against a real server that misbehaves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sqlwright.llm.endpoint import Call, Completion, Throttle
from sqlwright.llm.sending.engine import Engine
from sqlwright.messages import Capabilities, Missing, Reply
from sqlwright.protocols import Run
from tests.llm.doubles import QUICK, Books, ask, model_on, texts
from tests.llm.server import (
    PASSING,
    ModelServer,
    always,
    in_order,
)


def test_replies_come_in_the_order_of_the_calls(engine: Engine) -> None:
    with ModelServer(latency=lambda asked: 0.1 if asked.prompt == "0" else 0.0) as server:
        calls = [ask(str(k), seed=k) for k in range(5)]
        outcomes = engine.run_all(model_on(server), calls, run=Run(), meter=Books())
    assert [texts(outcome) for outcome in outcomes] == [[f"echo {k}: {k}"] for k in range(5)]
    assert all(outcome.revision == "model/fp_test" for outcome in outcomes)


def test_no_calls_no_thread(engine: Engine) -> None:
    with ModelServer() as server:
        assert engine.run_all(model_on(server), [], run=Run(), meter=Books()) == []


def test_many_replies_at_once_where_the_endpoint_gives_them(engine: Engine) -> None:
    with ModelServer(answer=lambda asked: [f"reply {k}" for k in range(asked.n)]) as server:
        books = Books()
        (outcome,) = engine.run_all(model_on(server), [ask("q", n=4)], run=Run(), meter=books)
        assert len(server.seen) == 1
    assert texts(outcome) == [f"reply {k}" for k in range(4)]
    first, *others = outcome.samples
    assert isinstance(first, Reply)
    assert first.prompt_tokens > 0
    assert [other.prompt_tokens for other in others if isinstance(other, Reply)] == [0, 0, 0]


def test_fan_out_gives_each_sample_a_seed_of_its_own(engine: Engine) -> None:
    with ModelServer() as server:
        endpoint = model_on(server, n=False)
        (outcome,) = engine.run_all(endpoint, [ask("q", n=3, seed=7)], run=Run(), meter=Books())
        assert all("n" not in asked.body for asked in server.seen)
    assert texts(outcome) == ["echo 7: q", "echo 8: q", "echo 9: q"]


def test_a_server_that_ignores_n_still_gives_n_replies(engine: Engine) -> None:
    with ModelServer(gives_n=False) as server:
        (outcome,) = engine.run_all(
            model_on(server), [ask("q", n=3, seed=7)], run=Run(), meter=Books()
        )
        assert len(server.seen) == 3
    assert texts(outcome) == ["echo 7: q", "echo 8: q", "echo 9: q"]


@pytest.mark.parametrize("fault", [*PASSING, "rate_limit_date", "conflict", "unavailable"])
def test_what_passes_is_asked_again(engine: Engine, fault: str) -> None:
    with ModelServer(faults=in_order(fault), answer=lambda asked: "SELECT 1") as server:
        books = Books()
        (outcome,) = engine.run_all(model_on(server), [ask("q", n=3)], run=Run(), meter=books)
    expected = ["SELECT 1"] * 3
    if fault == "prose":  # whether text is of use is for the step to tell
        assert all(isinstance(sample, Reply) for sample in outcome.samples)
    else:
        assert texts(outcome) == expected
    assert books.balanced


def test_a_stalled_body_is_cut_by_the_time_limit(engine: Engine) -> None:
    with ModelServer(faults=in_order("stall"), answer=lambda asked: "fine") as server:
        endpoint = model_on(server, throttle=replace(QUICK, seconds=2.0))
        (outcome,) = engine.run_all(endpoint, [ask("q")], run=Run(), meter=Books())
        assert texts(outcome) == ["fine"]
        assert server.idle()
        assert server.dropped == 1


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("bad_request", "refused"),
        ("too_long", "too long"),
        ("unauthorized", "TEST_KEY"),
        ("forbidden", "allowed"),
        ("not_found", "model's name"),
        ("unprocessable", "refused"),
        ("no_credit", "credit"),
    ],
)
def test_what_is_refused_is_not_asked_again(engine: Engine, fault: str, says: str) -> None:
    with ModelServer(faults=always(fault)) as server:
        endpoint = model_on(server, key="sk-canary")
        (outcome,) = engine.run_all(endpoint, [ask("CANARY")], run=Run(), meter=Books())
        assert len(server.seen) == 1
    (missing,) = outcome.samples
    assert isinstance(missing, Missing)
    assert missing.kind == "rejected"
    assert says in missing.message
    assert "canary" not in missing.message.lower()


@pytest.mark.parametrize(
    ("base_url", "says"),
    [
        ("http://127.0.0.1:{port}/v1", "is its server running?"),
        ("http://localhost:{port}/v1", "is its server running?"),
        ("http://no-such-host.invalid:{port}/v1", "no host is known"),
    ],
)
def test_where_nothing_listens_is_not_asked_again(engine: Engine, base_url: str, says: str) -> None:
    with ModelServer() as server:
        port = server.port
    endpoint = model_on(server, base_url=base_url.format(port=port))
    books = Books()
    (outcome,) = engine.run_all(endpoint, [ask("q")], run=Run(), meter=books)
    (missing,) = outcome.samples
    assert isinstance(missing, Missing)
    assert missing.kind == "gone"
    assert says in missing.message
    assert books.balanced


def test_redirects_are_not_followed_and_take_no_key_along(engine: Engine) -> None:
    with ModelServer() as elsewhere:
        with ModelServer(faults=always("redirect"), redirect_to=elsewhere.origin) as server:
            endpoint = model_on(server, key="sk-canary")
            (outcome,) = engine.run_all(endpoint, [ask("q")], run=Run(), meter=Books())
        assert elsewhere.seen == []
    (missing,) = outcome.samples
    assert isinstance(missing, Missing)
    assert missing.kind == "rejected"
    assert "redirect" in missing.message


def test_an_endpoint_that_stays_down_is_given_up(engine: Engine) -> None:
    with ModelServer(faults=always("server_error")) as server:
        books = Books()
        (outcome,) = engine.run_all(model_on(server), [ask("q")], run=Run(), meter=books)
        assert len(server.seen) == QUICK.attempts
    (missing,) = outcome.samples
    assert isinstance(missing, Missing)
    assert missing.kind == "unavailable"
    assert books.balanced


def test_an_endpoint_that_stays_down_is_given_up_in_time(engine: Engine) -> None:
    """Far earlier than after its attempts, whose delays would come to minutes."""
    throttle = Throttle(attempts=100, first_delay=0.2, retrying=0.5)
    with ModelServer(faults=always("server_error")) as server:
        endpoint = model_on(server, throttle=throttle)
        (outcome,) = engine.run_all(endpoint, [ask("q")], run=Run(), meter=Books())
        assert 1 <= len(server.seen) < 20
    (missing,) = outcome.samples
    assert isinstance(missing, Missing)
    assert missing.kind == "unavailable"


def test_a_wish_for_a_pause_is_granted_beyond_that(engine: Engine) -> None:
    with ModelServer(faults=in_order("unavailable", "unavailable"), retry_after=0.1) as server:
        endpoint = model_on(server, throttle=replace(QUICK, retrying=0.01))
        (outcome,) = engine.run_all(endpoint, [ask("q")], run=Run(), meter=Books())
    assert texts(outcome) == ["echo 0: q"]


def test_being_asked_to_slow_down_costs_no_attempts(engine: Engine) -> None:
    with ModelServer(faults=in_order(*["rate_limit"] * 10), retry_after=0.01) as server:
        (outcome,) = engine.run_all(model_on(server), [ask("q")], run=Run(), meter=Books())
    assert texts(outcome) == ["echo 0: q"]


def test_patience_ends(engine: Engine) -> None:
    with ModelServer(faults=always("rate_limit"), retry_after=3600) as server:
        (outcome,) = engine.run_all(model_on(server), [ask("q")], run=Run(), meter=Books())
        assert len(server.seen) == 1
    (missing,) = outcome.samples
    assert isinstance(missing, Missing)
    assert missing.kind == "unavailable"


def test_empty_replies_only(engine: Engine) -> None:
    with ModelServer(faults=always("empty")) as server:
        (outcome,) = engine.run_all(model_on(server), [ask("q")], run=Run(), meter=Books())
        seeds = [asked.body["seed"] for asked in server.seen]
    (missing,) = outcome.samples
    assert isinstance(missing, Missing)
    assert missing.kind == "unavailable"
    assert len(set(seeds)) == len(seeds) == QUICK.attempts


def test_the_budget_stops_retries_too(engine: Engine) -> None:
    with ModelServer(faults=always("server_error")) as server:
        books = Books(allowed=2)
        (outcome,) = engine.run_all(model_on(server), [ask("q")], run=Run(), meter=books)
        assert len(server.seen) == 2
    assert texts(outcome) == ["<budget>"]
    assert books.balanced


def test_a_parameter_the_model_refuses_is_left_out(engine: Engine) -> None:
    with ModelServer(faults=always("unsupported:temperature")) as server:
        endpoint = model_on(server)
        (first,) = engine.run_all(endpoint, [ask("q")], run=Run(), meter=Books())
        (second,) = engine.run_all(endpoint, [ask("r")], run=Run(), meter=Books())
        assert len(server.seen) == 3
    assert texts(first) == ["echo 0: q"]
    assert texts(second) == ["echo 0: r"]


class Defective:
    """An endpoint with a mistake in its own code."""

    name = "test/defective"
    capabilities = Capabilities()
    throttle = QUICK

    async def send(self, call: Call) -> Completion:
        raise ZeroDivisionError

    async def aclose(self) -> None:
        raise ZeroDivisionError


def test_a_defect_of_an_endpoint_is_raised(engine: Engine) -> None:
    books = Books()
    with pytest.raises(ZeroDivisionError):
        engine.run_all(Defective(), [ask("q")], run=Run(), meter=books)
    assert books.balanced
