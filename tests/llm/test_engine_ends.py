"""How calls end before they are answered: cancellation, deadline, interrupt, closing."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from sqlwright.llm.sending.engine import Engine
from sqlwright.messages import Missing
from sqlwright.protocols import Run
from tests.llm.doubles import QUICK, Books, ask, model_on, texts
from tests.llm.server import (
    ModelServer,
    constant,
)
from tests.waiting import comes


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
        quick, slow = engine.run_all(model_on(server), calls, run=Run(seconds=3), meter=Books())
        assert server.idle()
    assert texts(quick) == ["echo 0: quick"]
    (missing,) = slow.samples
    assert isinstance(missing, Missing)
    assert missing.kind == "cancelled"
    assert "3 s" in missing.message


def test_one_question_cancelled_leaves_the_others_alone(engine: Engine) -> None:
    with ModelServer(latency=lambda asked: 60 if asked.prompt == "a" else 0.1) as server:
        endpoint = model_on(server)
        cancelled, other = Run(), Run()
        with ThreadPoolExecutor(2) as pool:
            first = pool.submit(engine.run_all, endpoint, [ask("a")], run=cancelled, meter=Books())
            second = pool.submit(engine.run_all, endpoint, [ask("b")], run=other, meter=Books())
            assert comes(lambda: len(server.seen) == 2)
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


def test_an_interrupt_of_the_user_leaves_nothing_in_flight(engine: Engine) -> None:
    with ModelServer(latency=constant(60)) as server:
        endpoint = model_on(server)

        def interrupt() -> None:
            while not server.in_flight:
                time.sleep(0.005)
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

        # A suite started in the background inherits that interrupts are ignored.
        inherited = signal.signal(signal.SIGINT, signal.default_int_handler)
        threading.Thread(target=interrupt).start()
        try:
            with pytest.raises(KeyboardInterrupt):
                engine.run_all(endpoint, [ask("q")], run=Run(), meter=Books())
        finally:
            signal.signal(signal.SIGINT, inherited)
        assert server.idle()
        assert server.dropped == 1


def test_after_a_fork_nobody_waits_for_a_thread_that_is_not_there() -> None:
    code = """
import os, sys
from sqlwright.llm.sending.engine import Engine
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
