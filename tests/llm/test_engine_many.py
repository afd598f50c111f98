"""Many calls of many threads: limits, fairness, and a fifth of the answers bad."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from sqlwright.llm.endpoint import Throttle
from sqlwright.llm.sending.engine import Engine
from sqlwright.protocols import Run
from tests.llm.doubles import QUICK, Books, ask, model_on, texts
from tests.llm.server import (
    PASSING,
    ModelServer,
    constant,
    some_bad,
)
from tests.waiting import comes


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
    with ModelServer(latency=constant(0.2)) as server:
        endpoint = model_on(server, throttle=replace(QUICK, concurrency=2))
        enough = Run()
        with ThreadPoolExecutor(2) as pool:
            many = [ask(f"many {k}") for k in range(400)]
            first = pool.submit(engine.run_all, endpoint, many, run=enough, meter=Books())
            assert comes(lambda: len(server.seen) >= 2)
            one = [ask("one")]
            pool.submit(engine.run_all, endpoint, one, run=Run(), meter=Books()).result()
            asked_before = [asked.prompt for asked in server.seen].index("one")
            enough.cancelled.set()
            first.result()
    assert asked_before < 300


def test_requests_a_minute(engine: Engine) -> None:
    """Of 3 a minute the fourth has to wait for its turn, and is cancelled meanwhile."""
    with ModelServer() as server:
        endpoint = model_on(server, throttle=Throttle(requests_per_minute=3))
        calls = [ask(str(k)) for k in range(4)]
        run = Run()
        with ThreadPoolExecutor(1) as pool:
            asked = pool.submit(engine.run_all, endpoint, calls, run=run, meter=Books())
            assert comes(lambda: len(server.served) == 3)
            time.sleep(0.3)  # replies arrive, and a fourth request would be seen
            run.cancelled.set()
            outcomes = asked.result()
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
