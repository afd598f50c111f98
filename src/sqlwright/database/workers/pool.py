"""The worker processes of a database: started ahead, borrowed per query, killed when stuck."""

from __future__ import annotations

import contextlib
import math
import os
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

from sqlwright.database.workers.engine import Place
from sqlwright.database.workers.process import (
    CRASHES,
    POLL_SECONDS,
    Reply,
    Stop,
    Worker,
    WorkerDied,
    WorkerStopped,
)
from sqlwright.errors import SqlwrightError

_LONG_SECONDS = 0.1
"""Seconds after which a query counts as long: it may have to be killed, so another worker is
started."""
_WARM_SECONDS = 0.3
"""Seconds that a worker which opens its first connection is waited for before another is started:
it may hang there."""
_CROWDED_SECONDS = 3.0
"""Seconds that a server with too many connections is asked again for one, at most, and no longer
than half of the time there is."""
_AGAIN_SECONDS = 0.1
"""Seconds between two of these."""
_FEWER_SECONDS = 60.0
"""Seconds for which no more connections are asked for than such a server has given."""
_LEAST_SECONDS = 0.001
"""Seconds that a request is given at least, where waiting for a worker took all there were."""
_MOST_WORKERS = 4
"""Worker processes of one database at most."""


class Pool:
    """Up to four workers, the first of them started ahead. Thread-safe.

    `warm` is the request a fresh worker is handed before its first query.
    """

    def __init__(self, warm: Callable[[], dict[str, Any]]) -> None:
        self._workers = _Workers()
        _let_go_when_forked(self._workers)
        self._warm = warm
        self._heavy = threading.Semaphore(1)
        self._finalizer = weakref.finalize(self, _Workers.close, self._workers)
        self.start_ahead()

    def start_ahead(self) -> None:
        """Start a worker in the background when none is waiting."""
        if self._workers.reserve_spare():
            starting = threading.Thread(
                target=_start_spare,
                args=(self._workers, self._warm),
                name="sqlwright-worker",
                daemon=True,
            )
            try:
                starting.start()
            except RuntimeError:  # no further thread: the next query starts its worker itself
                self._workers.started()

    def ask(self, fields: dict[str, Any], stop: Stop) -> Reply:
        """Have a worker answer, at most `fields["seconds"]` later; waiting while all are busy
        counts, the start of a process doesn't. Raises WorkerDied, WorkerStopped.

        Workers that were killed while they had nothing to do are replaced, and lose no query."""
        light = fields["place"].light_bytes
        if fields["memory_bytes"] <= light:
            return self._ask(fields, stop)
        until = time.monotonic() + fields["seconds"]
        try:
            reply = self._ask(fields | {"memory_bytes": light}, stop)
            if reply[0].get("failure", {}).get("kind") != "memory":
                return reply
        except WorkerDied as error:
            if error.signal not in CRASHES:
                raise
        while not self._heavy.acquire(timeout=POLL_SECONDS):
            reason = stop() or ("timeout" if time.monotonic() > until else None)
            if reason is not None:
                raise WorkerStopped(reason, "busy")
        try:
            left = max(until - time.monotonic(), POLL_SECONDS)
            return self._ask(fields | {"seconds": left}, stop)
        finally:
            self._heavy.release()

    def take(self, place: Place, stop: Stop) -> Worker:
        """A worker for several requests in turn. Raises WorkerDied, WorkerStopped."""
        return self._workers.borrow(place, stop)[0]

    def ask_again(self, worker: Worker, began: float, seconds: float) -> bool:
        """True if a request that a server refused, since it has too many connections, may be made
        once more: other workers have one, or so little time has passed that it waited a moment. The
        worker has been given back; `seconds` is the time that there was for the request."""
        if self._workers.make_fewer(worker):
            return True
        if time.monotonic() > began + min(_CROWDED_SECONDS, seconds / 2):
            return False
        time.sleep(_AGAIN_SECONDS)
        return True

    def give_back(self, worker: Worker) -> None:
        """End what `take` began; a worker that was killed is replaced."""
        self._workers.give_back(worker)
        if not worker.alive:
            self.start_ahead()

    def _ask(self, fields: dict[str, Any], stop: Stop) -> Reply:
        tries = _MOST_WORKERS
        began = time.monotonic()
        until = began + fields["seconds"]
        refused: Reply | None = None
        while True:
            try:
                worker, late = self._workers.borrow(fields["place"], stop, until)
            except WorkerStopped as error:
                if refused is None or str(error) != "timeout":
                    raise
                return refused
            until += late
            left = max(until - time.monotonic(), _LEAST_SECONDS)
            try:
                reply = self._ask_one(worker, fields | {"seconds": left}, stop)
            except WorkerDied as error:
                if not error.idle or not tries:
                    raise
                tries -= 1
                continue
            if not is_crowded(reply) or not self.ask_again(worker, began, fields["seconds"]):
                return reply
            refused = reply

    def _ask_one(self, worker: Worker, fields: dict[str, Any], stop: Stop) -> Reply:
        late = time.monotonic() + _LONG_SECONDS

        def watch() -> str | None:
            # A query that takes this long may have to be killed: have another worker ready then.
            if time.monotonic() > late:
                self.start_ahead()
            return stop()

        try:
            reply = worker.ask(fields, watch)
            if reply[0].pop("large"):
                worker.kill()
            return reply
        except WorkerStopped:
            raise
        except BaseException:
            # Left in the middle (Ctrl-C included): what it would send next belongs to no one.
            worker.kill()
            raise
        finally:
            self.give_back(worker)

    def close(self) -> None:
        """Kill every worker. Queries that still run end with WorkerDied."""
        self._finalizer()

    @property
    def pids(self) -> tuple[int, ...]:
        """Process ids of the workers that live now."""
        return self._workers.pids

    @property
    def holds(self) -> tuple[str, ...]:
        """Rights that the workers have given up, as `confinement.confine` names it; empty before
        one has answered."""
        return self._workers.holds


class _Workers:
    """The workers and who has them; kept apart from Pool, so that its finalizer can hold it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._free: list[Worker] = []
        self._all: list[Worker] = []
        self._starting = 0
        """Processes that are being started, and not ready yet."""
        self._warming = 0
        """Workers that open their first connection before anybody asks them."""
        self._waiting = 0
        """Threads that wait for a worker."""
        self._most = _MOST_WORKERS
        self._fewer_until = 0.0
        self._closed = False

    @property
    def pids(self) -> tuple[int, ...]:
        with self._changed:
            return tuple(worker.pid for worker in self._all if worker.alive)

    @property
    def holds(self) -> tuple[str, ...]:
        with self._changed:
            return next((worker.holds for worker in self._all if worker.holds), ())

    def reserve_spare(self) -> bool:
        """True when one should be started now; the caller then calls `start`, then `started`."""
        with self._changed:
            under_way = self._free or self._starting or self._warming
            if self._closed or under_way or len(self._all) >= self._most_now():
                return False
            self._starting += 1
            return True

    def borrow(self, place: Place, stop: Stop, until: float = math.inf) -> tuple[Worker, float]:
        """A free worker, or a new one while there may be more, or wait for one; and the seconds
        that were spent on the start of a process, which don't count. Raises WorkerDied, and
        WorkerStopped, also when none is free at the time `until`."""
        late = 0.0
        began = time.monotonic()
        while True:
            with self._changed:
                worker = self._free_one(place)
                if worker is not None:
                    return worker, late
                starting = bool(self._starting)
                hoped = self._warming and time.monotonic() < began + _WARM_SECONDS
                start = not starting and not hoped and len(self._all) < self._most_now()
                if start:
                    self._starting += 1
                else:
                    waited = self._wait()
                    late += waited if starting else 0.0
            if start:
                try:
                    return self.start(place), late
                finally:
                    self.started()
            reason = stop() or ("timeout" if time.monotonic() > until + late else None)
            if reason is not None:
                raise WorkerStopped(reason, "busy")

    def make_fewer(self, worker: Worker) -> bool:
        """End a worker whose server has no connection for it, and for a while start no more than
        there are now; false where it is the only one."""
        with self._changed:
            if worker in self._free:
                if len(self._all) == 1:
                    return False
                self._free.remove(worker)
                self._all.remove(worker)
                worker.kill()
            self._most = max(len(self._all), 1)
            self._fewer_until = time.monotonic() + _FEWER_SECONDS
            self._changed.notify_all()
            return bool(self._all)

    def _most_now(self) -> int:
        return self._most if time.monotonic() < self._fewer_until else _MOST_WORKERS

    def _free_one(self, place: Place) -> Worker | None:
        if self._closed:
            raise WorkerDied(None)
        while self._free:
            worker = self._free.pop()
            if not worker.has_ended() and worker.place == place:
                return worker
            worker.kill()  # closes its pipes
            self._all.remove(worker)
        return None

    def _wait(self) -> float:
        """Wait a moment for a change; the seconds that it took."""
        began = time.monotonic()
        self._waiting += 1
        self._changed.wait(POLL_SECONDS)
        self._waiting -= 1
        return time.monotonic() - began

    def start(self, place: Place) -> Worker:
        """A new worker, already borrowed."""
        worker = Worker(place)
        with self._changed:
            self._all.append(worker)
            closed = self._closed
        if closed:
            worker.kill()
        return worker

    def started(self, spare: Worker | None = None) -> bool:
        """Tell that the reserved worker has started or failed: the next one may start. A spare goes
        to whoever waits for a worker; True if nobody does, so that it has time to open its first
        connection, and then `warmed` is called."""
        with self._changed:
            self._starting -= 1
            idle = spare is not None and not self._waiting
            self._warming += idle
            if spare is not None and not idle:
                self.give_back(spare)
            self._changed.notify_all()
        return idle

    def warmed(self, worker: Worker) -> None:
        """Tell that a worker was warmed, or that it failed."""
        with self._changed:
            self._warming -= 1
        self.give_back(worker)

    def give_back(self, worker: Worker) -> None:
        with self._changed:
            if self._closed and worker.alive:
                worker.kill()
            if worker.alive:
                self._free.append(worker)
            elif worker in self._all:
                self._all.remove(worker)
            self._changed.notify_all()

    def close(self) -> None:
        with self._changed:
            self._closed = True
            # Whoever is waiting for a worker's reply sees its pipe end; it also closes the pipes.
            for worker in self._all:
                if worker in self._free:
                    worker.kill()
                else:
                    worker.terminate()
            self._free.clear()
            self._changed.notify_all()

    def let_go(self) -> None:
        """Forget the workers, which belong to the process that this one was forked from. They are
        let go of at once: they end when nobody holds their pipes. Whoever held the lock is there no
        more."""
        for worker in self._all:
            worker.abandon()
        self._changed = threading.Condition()
        self._free, self._all = [], []
        self._starting = self._warming = self._waiting = 0


def _let_go_when_forked(workers: _Workers) -> None:
    known = weakref.ref(workers)

    def let_go() -> None:
        found = known()
        if found is not None:
            found.let_go()

    os.register_at_fork(after_in_child=let_go)


def _start_spare(workers: _Workers, warm: Callable[[], dict[str, Any]]) -> None:
    worker: Worker | None = None
    idle = False
    # Without a process, or with one that fails, the next query tries again and reports it.
    try:
        with contextlib.suppress(OSError, SqlwrightError):
            request = warm()
            worker = workers.start(request["place"])
            with contextlib.suppress(WorkerDied, WorkerStopped):
                worker.await_ready(lambda: None)
    finally:
        idle = workers.started(worker)
    if worker is not None and idle:
        crowded = False
        try:
            with contextlib.suppress(OSError, WorkerDied, WorkerStopped):
                crowded = is_crowded(worker.ask(request, lambda: None))
        finally:
            workers.warmed(worker)
            if crowded:
                workers.make_fewer(worker)


def is_crowded(reply: Reply) -> bool:
    """True for the reply of a server that has too many connections."""
    return bool(reply[0].get("failure", {}).get("cause") == "crowded")
