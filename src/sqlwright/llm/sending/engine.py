"""Calls of any number of threads, all on one event loop in one background thread.

A caller hands over its calls and sleeps until they are settled. Nothing waits for anything else:
each sample is sent as soon as its endpoint has room, so a chain of dependent calls takes as long as
its own answers do. Cancelling a run, or its deadline, drops its requests in flight, which closes
their connections.

asyncio is imported with the first call: a session has an engine even where nothing is ever sent.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar

from sqlwright.errors import Cancelled
from sqlwright.llm.endpoint import THREAD, Call, CallOutcome, Endpoint, Meter
from sqlwright.protocols import Run

if TYPE_CHECKING:
    import asyncio

    from sqlwright.llm.sending.rate_limit import RateLimiter

R = TypeVar("R")

WATCH = 0.05
"""Seconds between two looks at whether a run was cancelled: an event of another thread can't wake
the loop by itself."""
GRACE = 0.1
"""Seconds a dropped request has to close its connection before its caller goes on without it."""


class Engine:
    """One per session: lazily started, used from any thread, closable.

    A closed engine answers everything with what it has and `Missing('cancelled')`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._closed = False
        self._process = os.getpid()
        # Below: only touched on the loop.
        self._limiters: dict[int, tuple[Endpoint, RateLimiter]] = {}
        """The limiter of each endpoint, by the endpoint's identity."""
        self._jobs: set[_Job] = set()
        self._watching = False

    def run_all(
        self, endpoint: Endpoint, calls: Sequence[Call], *, run: Run, meter: Meter
    ) -> list[CallOutcome]:
        """The outcome of each call, in order.

        Blocks until all are settled, the run's deadline passes or it is cancelled; what was there
        by then is in the outcomes, the rest is `Missing`. Raises only for a defect of an endpoint's
        or meter's own code."""
        job = _Job(endpoint, calls, run, meter)
        if not calls or job.ended() or not self._begin(job):
            return job.outcomes()
        try:
            return job.done.result()
        except BaseException:  # an interrupt of the user, too, must leave nothing behind
            self._drop(job)
            raise

    def fetch(self, make: Callable[[], Coroutine[Any, Any, R]], run: Run) -> R | None:
        """The result of one coroutine, on the loop with the endpoints; None where the run ends, or
        the engine is closed, before it is there. Raises what the coroutine raises."""
        import asyncio

        with self._lock:
            if self._closed or os.getpid() != self._process:
                return None
            result = asyncio.run_coroutine_threadsafe(make(), self._running())
        while not self._closed and not run.cancelled.is_set() and run.remaining() > 0:
            try:
                return result.result(WATCH)
            except TimeoutError:
                if result.done():
                    raise
        result.cancel()
        return None

    def in_flight(self, endpoint: Endpoint) -> int:
        """Requests that are under way to an endpoint."""
        entry = self._limiters.get(id(endpoint))
        return 0 if entry is None else entry[1].in_flight

    def close(self) -> None:
        """Drop what is under way, close the endpoints' connections, end the thread."""
        if os.getpid() != self._process:
            return
        with self._lock:
            self._closed = True
            loop, thread = self._loop, self._thread
        if loop is None or thread is None or not thread.is_alive():
            return
        import asyncio

        asyncio.run_coroutine_threadsafe(self._wind_up(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()

    def _begin(self, job: _Job) -> bool:
        """Hand it to the loop; False when the engine is closed."""
        if os.getpid() != self._process:
            # Threads don't survive a fork, and connections mustn't be shared.
            job.reason = "this session was opened before a fork: open one in the new process"
            return False
        with self._lock:
            if self._closed:
                return False
            self._running().call_soon_threadsafe(self._start, job)
            return True

    def _running(self) -> asyncio.AbstractEventLoop:
        """The loop, in its thread; called with the lock."""
        if self._loop is None:
            import asyncio

            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(
                target=_turn, args=(self._loop,), name=THREAD, daemon=True
            )
            self._thread.start()
        return self._loop

    def _drop(self, job: _Job) -> None:
        with self._lock:
            if self._loop is not None and not self._closed:
                self._loop.call_soon_threadsafe(job.stop)

    def _start(self, job: _Job) -> None:
        import asyncio

        from sqlwright.llm.sending.rate_limit import RateLimiter

        loop = asyncio.get_running_loop()
        endpoint = job.endpoint
        if id(endpoint) not in self._limiters:
            self._limiters[id(endpoint)] = (endpoint, RateLimiter(endpoint.throttle, loop.time))
        self._jobs.add(job)
        job.done.add_done_callback(lambda _: self._jobs.discard(job))
        job.start(self._limiters[id(endpoint)][1])
        if not self._watching:
            self._watching = True
            loop.call_later(WATCH, self._watch)

    def _watch(self) -> None:
        for job in list(self._jobs):
            if job.ended():
                job.stop()
        self._watching = bool(self._jobs)
        if self._watching:
            import asyncio

            asyncio.get_running_loop().call_later(WATCH, self._watch)

    async def _wind_up(self) -> None:
        import asyncio

        for job in list(self._jobs):
            job.stop()
        while self._jobs:
            await asyncio.sleep(GRACE / 10)
        closing = [asyncio.ensure_future(each.aclose()) for each, _ in self._limiters.values()]
        if closing:
            await asyncio.wait(closing, timeout=10 * GRACE)


def _turn(loop: asyncio.AbstractEventLoop) -> None:
    import asyncio

    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
    finally:
        loop.close()


class _Job:
    """The calls of one caller. Once handed over it belongs to the loop, `done` apart."""

    def __init__(self, endpoint: Endpoint, calls: Sequence[Call], run: Run, meter: Meter) -> None:
        from sqlwright.llm.sending.attempts import CallAttempts

        self.endpoint = endpoint
        self.done: Future[list[CallOutcome]] = Future()
        self._run = run
        self.reason = "the language models are closed"
        self._stopped = False
        self._open = 0
        self._tasks: list[asyncio.Task[None]] = []
        self._attempts = [CallAttempts(endpoint, call, run, meter) for call in calls]

    def ended(self) -> bool:
        """True if its run has ended."""
        try:
            self._run.check()
        except Cancelled as error:
            self.reason = str(error)
            return True
        return False

    def outcomes(self) -> list[CallOutcome]:
        """The outcomes so far."""
        return [attempts.outcome(self.reason) for attempts in self._attempts]

    def start(self, limiter: RateLimiter) -> None:
        """Begin all calls at once."""
        import asyncio

        self._open = len(self._attempts)
        for attempts in self._attempts:
            task = asyncio.get_running_loop().create_task(attempts.complete(limiter))
            task.add_done_callback(self._one_ended)
            self._tasks.append(task)

    def stop(self) -> None:
        """Drop what is under way and let the caller go on."""
        if self._stopped or self.done.done():
            return
        self._stopped = True
        import asyncio

        for task in self._tasks:
            task.cancel()
        asyncio.get_running_loop().call_later(GRACE, self._finish)

    def _one_ended(self, task: asyncio.Task[None]) -> None:
        self._open -= 1
        error = None if task.cancelled() else task.exception()
        if error is not None and not self.done.done():
            self.done.set_exception(error)
            for other in self._tasks:
                other.cancel()
        elif self._open == 0:
            self._finish()

    def _finish(self) -> None:
        if not self.done.done():
            self.done.set_result(self.outcomes())
