"""Rate limits of one endpoint: requests at once, requests and tokens a minute, and their order.

Everything here runs on the engine's event loop, so nothing is locked.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager

from sqlwright.llm.endpoint import Completion, EndpointError, Throttle

CROWDED_IN_A_ROW = 3
"""Requests in a row that were told to slow down before everybody does. One alone may be chance."""

PAUSE = 1.0
"""Seconds nothing is sent to an overrun endpoint that doesn't say how long it wants to rest."""
LONGEST_PAUSE = 60.0
"""Seconds at most that one answer can stop everybody."""


class TokenBucket:
    """Limits units a minute; after a rest, a minute's worth may be taken at once.

    What is taken in advance makes a debt, so that those who wait are served in their order."""

    def __init__(self, per_minute: float, now: float) -> None:
        self._rate = per_minute / 60.0
        self._most = per_minute
        self._level = per_minute
        self._seen = now

    def take(self, amount: float, now: float) -> float:
        """Take an amount. Returns the seconds to wait before using it."""
        self._level = min(self._most, self._level + (now - self._seen) * self._rate)
        self._seen = now
        self._level -= min(amount, self._most)  # more than a minute's worth would wait for ever
        return max(0.0, -self._level / self._rate)

    def give(self, amount: float) -> None:
        """Give back what wasn't used; a negative amount takes more without waiting."""
        self._level = min(self._most, self._level + amount)


class Slots:
    """Slots for requests in flight. Who waits is served in turn by party, in order within a party.

    So a question with one request isn't stuck behind another question's hundred."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._most = limit
        self._used = 0
        self._waiting: OrderedDict[Hashable, deque[asyncio.Future[None]]] = OrderedDict()

    @property
    def used(self) -> int:
        return self._used

    async def acquire(self, party: Hashable, *, first: bool = False) -> None:
        """Wait for a slot; `first` goes before the others of its party."""
        if self._used < self.limit and not self._waiting:
            self._used += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue = self._waiting.setdefault(party, deque())
        if first:
            queue.appendleft(turn)
        else:
            queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.release()  # the slot was given just now
            else:
                self._leave(party, turn)
            raise

    def release(self) -> None:
        """Give a slot back."""
        self._used -= 1
        self._admit()

    def shrink(self) -> None:
        """Half the room."""
        self.limit = max(1, self.limit // 2)

    def grow(self) -> None:
        """One more, up to the size at the start."""
        if self.limit < self._most:
            self.limit += 1
            self._admit()

    def _admit(self) -> None:
        while self._waiting and self._used < self.limit:
            party, queue = self._waiting.popitem(last=False)
            turn = queue.popleft()
            if queue:
                self._waiting[party] = queue  # to the end: the others come first
            if not turn.done():
                turn.set_result(None)
                self._used += 1

    def _leave(self, party: Hashable, turn: asyncio.Future[None]) -> None:
        queue = self._waiting.get(party)
        if queue is not None and turn in queue:
            queue.remove(turn)
            if not queue:
                del self._waiting[party]


class RateLimiter:
    """All limits of one endpoint together."""

    def __init__(self, throttle: Throttle, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._slots = Slots(throttle.concurrency)
        self._crowded = 0
        self._open_at = clock()
        self._requests, self._tokens = (
            None if rate is None else TokenBucket(rate, clock())
            for rate in (throttle.requests_per_minute, throttle.tokens_per_minute)
        )

    @property
    def in_flight(self) -> int:
        return self._slots.used

    @property
    def room(self) -> int:
        """Requests allowed at once at the moment."""
        return self._slots.limit

    @property
    def pause(self) -> float:
        """Seconds until the next request may be sent, slots and rates aside."""
        return max(0.0, self._open_at - self._clock())

    @asynccontextmanager
    async def slot(
        self, party: Hashable, tokens: float, *, first: bool = False
    ) -> AsyncIterator[None]:
        """Wait until a request of about so many tokens may be sent; hold the slot meanwhile."""
        await self._slots.acquire(party, first=first)
        try:
            while self.pause > 0:
                await asyncio.sleep(self.pause)
            await self._pass(self._requests, 1.0)
            await self._pass(self._tokens, tokens)
            yield
        finally:
            self._slots.release()

    def note(self, outcome: Completion | EndpointError, tokens: float) -> None:
        """Learn from an answer: what it really took of the `tokens` that its slot was taken for,
        and whether the endpoint is overrun, so that fewer are sent after a pause for all."""
        if isinstance(outcome, Completion):
            self._crowded = 0
            self._slots.grow()
            if self._tokens is not None and outcome.prompt_tokens is not None:
                used = outcome.prompt_tokens + (outcome.reply_tokens or 0)
                self._tokens.give(tokens - used)
            return
        if self._tokens is not None:
            self._tokens.give(tokens)
        if outcome.crowded:
            self._crowded += 1
            if self._crowded >= CROWDED_IN_A_ROW:
                self._crowded = 0
                self._slots.shrink()
                pause = PAUSE if outcome.retry_after is None else outcome.retry_after
                self._open_at = max(self._open_at, self._clock() + min(pause, LONGEST_PAUSE))

    async def _pass(self, bucket: TokenBucket | None, amount: float) -> None:
        if bucket is None:
            return
        wait = bucket.take(amount, self._clock())
        try:
            if wait > 0:
                await asyncio.sleep(wait)
        except asyncio.CancelledError:
            bucket.give(amount)
            raise
