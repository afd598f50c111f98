"""Limits of one endpoint: rates, slots by turns, and slowing down together."""

from __future__ import annotations

import asyncio

from sqlwright.llm.endpoint import Completion, EndpointError, Throttle
from sqlwright.llm.sending.rate_limit import CROWDED_IN_A_ROW, RateLimiter, Slots, TokenBucket

FINE = Completion((), prompt_tokens=10, reply_tokens=5)


def test_a_bucket_lets_a_minute_through_at_once_and_then_its_rate() -> None:
    bucket = TokenBucket(60, now=0.0)
    assert [bucket.take(20, 0.0) for _ in range(5)] == [0, 0, 0, 20, 40]
    assert bucket.take(20, 60.0) == 0.0


def test_a_request_larger_than_a_minute_passes_some_time() -> None:
    bucket = TokenBucket(100, now=0.0)
    assert bucket.take(1_000, 0.0) == 0.0
    assert bucket.take(1_000, 0.0) == 60.0


def test_what_was_not_used_is_given_back() -> None:
    bucket = TokenBucket(60, now=0.0)
    bucket.take(60, 0.0)
    bucket.give(50)
    assert bucket.take(50, 0.0) == 0.0
    assert bucket.take(1, 0.0) == 1.0


def test_parties_take_turns_and_urgent_ones_go_first_in_theirs() -> None:
    order: list[str] = []

    async def one(slots: Slots, party: str, name: str, first: bool = False) -> None:
        await slots.acquire(party, first=first)
        order.append(name)
        await asyncio.sleep(0)
        slots.release()

    async def run() -> None:
        slots = Slots(1)
        await slots.acquire("x")
        waiting = []
        for name, first in (("a1", False), ("a2", False), ("b1", False), ("a3", True)):
            waiting.append(asyncio.create_task(one(slots, name[0], name, first)))
            await asyncio.sleep(0)
        slots.release()
        await asyncio.gather(*waiting)
        assert slots.used == 0

    asyncio.run(run())
    assert order == ["a3", "b1", "a1", "a2"]


def test_who_stops_waiting_leaves_no_gap() -> None:
    async def run() -> None:
        slots = Slots(1)
        await slots.acquire("x")
        given_up = asyncio.create_task(slots.acquire("a"))
        patient = asyncio.create_task(slots.acquire("b"))
        await asyncio.sleep(0)
        slots.release()  # the slot is `a`'s, which is cancelled before it can take it
        given_up.cancel()
        await asyncio.wait_for(patient, 1)
        assert given_up.cancelled()
        slots.release()
        assert slots.used == 0

    asyncio.run(run())


def test_an_overrun_endpoint_is_given_rest_by_everybody() -> None:
    now = 0.0
    crowded = EndpointError("slow down", crowded=True, retry_after=0.02)

    async def run() -> tuple[int, float]:
        lane = RateLimiter(Throttle(concurrency=8), lambda: now)
        for _ in range(CROWDED_IN_A_ROW - 1):
            lane.note(crowded, 0)
        lane.note(FINE, 0)  # one alone may be chance
        lane.note(crowded, 0)
        before = lane.room
        for _ in range(CROWDED_IN_A_ROW - 1):
            lane.note(crowded, 0)
        assert lane.room == before // 2
        pause = lane.pause
        for _ in range(20):
            lane.note(FINE, 0)
        assert lane.room == before
        return before, pause

    assert asyncio.run(run()) == (8, 0.02)
