"""The engine against a real server that misbehaves."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from sqlwright.llm.endpoint import Call, Completion, Throttle
from sqlwright.llm.engine import Engine
from sqlwright.messages import Capabilities, Missing, Reply
from sqlwright.protocols import Run
from tests.llm.doubles import QUICK, Books, ask, model_on
from tests.llm.server import (
    PASSING,
    ModelServer,
    always,
    constant,
    in_order,
    some_bad,
)


@pytest.fixture
def engine() -> Iterator[Engine]:
    made = Engine()
    yield made
    made.close()


def texts(outcome: object) -> list[str]:
    return [
        sample.text if isinstance(sample, Reply) else f"<{sample.kind}>"
        for sample in outcome.samples  # type: ignore[attr-defined]
    ]


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
        endpoint = model_on(server, throttle=replace(QUICK, seconds=0.2))
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


def test_nobody_listens(engine: Engine) -> None:
    with ModelServer() as server:
        url = server.url
    endpoint = model_on(server, base_url=url)
    (outcome,) = engine.run_all(endpoint, [ask("q")], run=Run(), meter=Books())
    (missing,) = outcome.samples
    assert isinstance(missing, Missing)
    assert missing.kind == "unavailable"
    assert "127.0.0.1" in missing.message


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


def test_cancelling_drops_the_requests_in_flight(engine: Engine) -> None:
    with ModelServer(latency=constant(60)) as server:
        run, books = Run(), Books()
        endpoint = model_on(server, throttle=replace(QUICK, concurrency=4))
        calls = [ask(str(k)) for k in range(10)]
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(engine.run_all, endpoint, calls, run=run, meter=books)
            while server.in_flight < 4:
                time.sleep(0.005)
            run.cancelled.set()
            outcomes = waiting.result()
        assert server.idle()
        assert (len(server.seen), server.dropped) == (4, 4)
        assert engine.in_flight(endpoint) == 0
    assert [texts(outcome) for outcome in outcomes] == [["<cancelled>"]] * 10
    assert books.balanced
    assert len(books.reserved) == 4


def test_the_deadline_keeps_what_is_there(engine: Engine) -> None:
    with ModelServer(latency=lambda asked: 60 if asked.prompt == "slow" else 0) as server:
        calls = [ask("quick"), ask("slow")]
        quick, slow = engine.run_all(model_on(server), calls, run=Run(seconds=0.5), meter=Books())
        assert server.idle()
    assert texts(quick) == ["echo 0: quick"]
    (missing,) = slow.samples
    assert isinstance(missing, Missing)
    assert missing.kind == "cancelled"
    assert "0.5 s" in missing.message


def test_one_question_cancelled_leaves_the_others_alone(engine: Engine) -> None:
    with ModelServer(latency=constant(0.3)) as server:
        endpoint = model_on(server)
        cancelled, other = Run(), Run()
        with ThreadPoolExecutor(2) as pool:
            first = pool.submit(engine.run_all, endpoint, [ask("a")], run=cancelled, meter=Books())
            second = pool.submit(engine.run_all, endpoint, [ask("b")], run=other, meter=Books())
            while server.in_flight < 2:
                time.sleep(0.005)
            cancelled.cancelled.set()
            assert texts(first.result()[0]) == ["<cancelled>"]
            assert texts(second.result()[0]) == ["echo 0: b"]


def test_a_run_that_has_ended_sends_nothing(engine: Engine) -> None:
    run = Run()
    run.cancelled.set()
    with ModelServer() as server:
        (outcome,) = engine.run_all(model_on(server), [ask("q", n=2)], run=run, meter=Books())
        assert server.seen == []
    assert texts(outcome) == ["<cancelled>"] * 2


def test_never_more_at_once_than_allowed(engine: Engine) -> None:
    with ModelServer(latency=constant(0.01)) as server:
        endpoint = model_on(server, throttle=replace(QUICK, concurrency=3))
        calls = [ask(str(k), n=2) for k in range(20)]
        outcomes = engine.run_all(endpoint, calls, run=Run(), meter=Books())
        assert server.most_in_flight == 3
        assert server.connections <= 3
    assert all(outcome.complete for outcome in outcomes)


def test_turns_are_fair_between_questions(engine: Engine) -> None:
    """A question with one call isn't behind all calls of the one that came before it."""
    with ModelServer(latency=constant(0.02)) as server:
        endpoint = model_on(server, throttle=replace(QUICK, concurrency=2))
        with ThreadPoolExecutor(2) as pool:
            many = [ask(f"many {k}") for k in range(40)]
            first = pool.submit(engine.run_all, endpoint, many, run=Run(), meter=Books())
            while len(server.seen) < 2:
                time.sleep(0.001)
            one = [ask("one")]
            pool.submit(engine.run_all, endpoint, one, run=Run(), meter=Books()).result()
            asked_before = [asked.prompt for asked in server.seen].index("one")
            first.result()
    assert asked_before < 30


def test_requests_a_minute(engine: Engine) -> None:
    """Of 3 a second the fourth has to wait for its turn, and doesn't before the deadline."""
    with ModelServer() as server:
        endpoint = model_on(server, throttle=Throttle(requests_per_minute=3))
        calls = [ask(str(k)) for k in range(4)]
        outcomes = engine.run_all(endpoint, calls, run=Run(seconds=0.7), meter=Books())
        assert len(server.seen) == 3
    assert [texts(outcome)[0] for outcome in outcomes].count("<cancelled>") == 1


def test_a_fifth_of_the_answers_is_bad_and_nothing_is_lost(engine: Engine) -> None:
    kinds = [fault for fault in PASSING if fault != "prose"]
    with ModelServer(faults=some_bad(0.2, kinds), retry_after=0.01) as server:
        endpoint = model_on(server)

        def question(number: int) -> int:
            run, lost = Run(seed=number), 0
            for link in range(3):
                calls = [ask(f"{number}/{link}/{k}", n=3, seed=k) for k in range(2)]
                outcomes = engine.run_all(endpoint, calls, run=run, meter=Books())
                lost += sum(not outcome.complete for outcome in outcomes)
            return lost

        with ThreadPoolExecutor(16) as pool:
            lost = sum(pool.map(question, range(100)))
        assert server.idle()
        bad = sum(1 for each in server.served if each.fault)
        assert bad > 100
    assert lost == 0


def test_the_same_run_twice_asks_the_same(engine: Engine) -> None:
    def asked() -> list[tuple[str, int]]:
        with ModelServer(faults=some_bad(0.4, ["empty", "few", "server_error"])) as server:
            calls = [ask(f"q{k}", n=3, seed=k) for k in range(10)]
            engine.run_all(model_on(server), calls, run=Run(seed=3), meter=Books())
            return sorted((each.prompt, each.body["seed"]) for each in server.seen)

    assert asked() == asked()


def test_closing_lets_everybody_go(engine: Engine) -> None:
    with ModelServer(latency=constant(60)) as server:
        endpoint = model_on(server)
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(engine.run_all, endpoint, [ask("q")], run=Run(), meter=Books())
            while not server.in_flight:
                time.sleep(0.005)
            engine.close()
            assert texts(waiting.result()[0]) == ["<cancelled>"]
        assert server.idle()
        (outcome,) = engine.run_all(endpoint, [ask("q")], run=Run(), meter=Books())
        assert texts(outcome) == ["<cancelled>"]
    assert not any(thread.name == "sqlwright-llm" for thread in threading.enumerate())


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


def test_an_interrupt_of_the_user_leaves_nothing_in_flight(engine: Engine) -> None:
    with ModelServer(latency=constant(60)) as server:
        endpoint = model_on(server)

        def interrupt() -> None:
            while not server.in_flight:
                time.sleep(0.005)
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

        threading.Thread(target=interrupt).start()
        with pytest.raises(KeyboardInterrupt):
            engine.run_all(endpoint, [ask("q")], run=Run(), meter=Books())
        assert server.idle()
        assert server.dropped == 1


def test_after_a_fork_nobody_waits_for_a_thread_that_is_not_there() -> None:
    code = """
import os, sys
from sqlwright.llm.engine import Engine
from sqlwright.protocols import Run
from tests.llm.doubles import Books, ask, model_on
from tests.llm.server import ModelServer

with ModelServer() as server:
    engine, endpoint = Engine(), model_on(server)
    assert engine.run_all(endpoint, [ask("q")], run=Run(), meter=Books())[0].complete
    child = os.fork()
    if child == 0:
        (outcome,) = engine.run_all(endpoint, [ask("q")], run=Run(), meter=Books())
        engine.close()
        os._exit(0 if "fork" in outcome.samples[0].message else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert engine.run_all(endpoint, [ask("q")], run=Run(), meter=Books())[0].complete
    engine.close()
"""
    root = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", code], check=True, cwd=root, timeout=60)


def test_hundreds_of_threads_at_once(engine: Engine) -> None:
    """32 questions, each with 20 branches that wait for a reply of their own."""
    with ModelServer() as server:
        endpoint = model_on(server)
        runs = [Run() for _ in range(32)]

        def branch(place: int) -> list[str]:
            (outcome,) = engine.run_all(
                endpoint, [ask(str(place))], run=runs[place % 32], meter=Books()
            )
            return texts(outcome)

        with ThreadPoolExecutor(640) as pool:
            replies = list(pool.map(branch, range(640)))
        assert server.connections <= endpoint.throttle.concurrency
    assert replies == [[f"echo 0: {place}"] for place in range(640)]
