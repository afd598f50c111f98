"""How long to wait before the next attempt."""

from __future__ import annotations

from email.utils import formatdate

import pytest

from sqlwright.llm.endpoint import Call, PlainMessage, Throttle
from sqlwright.llm.sending.engine import Engine
from sqlwright.llm.sending.failures import MARGIN, delay, retry_after
from sqlwright.llm.sending.transport import ModelAddress
from sqlwright.llm.vendors.openai import OpenAIEndpoint
from sqlwright.messages import Capabilities, Missing
from sqlwright.protocols import Run
from tests.llm.doubles import Books
from tests.llm.server import ModelServer, always

NOW = 1_700_000_000.0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": " 0.5 "}, 0.5),
        ({"retry-after": "-4"}, None),
        ({"retry-after": "0"}, None),
        ({"retry-after-ms": "0", "retry-after": "3"}, None),
        ({"retry-after": "1e400"}, None),
        ({"retry-after": "Fri, 31 Dec 99999 23:59:59 GMT"}, None),
        ({"retry-after": formatdate(NOW + 90, usegmt=True)}, 90.0),
        ({"retry-after": formatdate(NOW - 90, usegmt=True)}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after-ms": "?", "retry-after": "1"}, 1.0),
    ],
)
def test_what_an_endpoint_asks_for(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW) == seconds


def test_back_off_doubles_up_to_a_ceiling_and_is_seeded() -> None:
    throttle = Throttle(first_delay=1.0, longest_delay=6.0)

    def waits(seed: int) -> list[list[float]]:
        generator = Run(seed=seed).random("test")
        return [
            [delay(throttle, tries, None, generator) for _ in range(200)] for tries in (1, 3, 9)
        ]

    once, thrice, often = waits(0)
    assert 0.9 < max(once) <= 1.0
    assert 3.5 < max(thrice) <= 4.0
    assert 5.5 < max(often) <= 6.0
    assert min(once) < 0.1  # full jitter
    assert waits(0) == waits(0) != waits(1)


def test_a_wish_is_granted_in_full() -> None:
    generator = Run().random("test")
    waits = [delay(Throttle(), 1, 30.0, generator) for _ in range(50)]
    assert min(waits) >= 30.0
    assert max(waits) <= 30.0 + MARGIN


def test_a_wish_below_the_back_off_is_the_back_off() -> None:
    throttle = Throttle(first_delay=1.0, longest_delay=20.0)
    generator = Run().random("test")
    waits = [delay(throttle, 4, 0.001, generator) for _ in range(200)]
    assert max(waits) > 6.0
    assert sum(wait > 2.0 for wait in waits) > 100
    assert delay(throttle, 4, 0.0, generator) == 0.0  # ours, after we changed the request


@pytest.mark.parametrize("retry_after", ["0", "-1", "soon", formatdate(NOW, usegmt=True), ""])
def test_being_turned_away_ends_whatever_the_endpoint_wishes(retry_after: str) -> None:
    quick = Throttle(first_delay=0.001, longest_delay=0.002, turned_away=7)
    engine, run = Engine(), Run()
    with ModelServer(faults=always("rate_limit")) as server:
        server.retry_after = retry_after  # type: ignore[assignment]
        site = ModelAddress("openai-compatible/m", "m", server.url, Capabilities(), quick)
        call = Call((PlainMessage("user", "q"),))
        endpoint = OpenAIEndpoint(site)
        (outcome,) = engine.run_all(endpoint, [call], run=run, meter=Books())
        engine.close()
        assert len(server.seen) == 7
    (missing,) = outcome.samples
    assert isinstance(missing, Missing)
    assert missing.kind == "unavailable"
