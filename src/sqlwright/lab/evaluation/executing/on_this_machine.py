"""Questions asked on this machine: side by side in this process, for models elsewhere, or by worker
processes, each with its own models."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import cast

from sqlwright.errors import DatabaseUnavailable, SqlwrightError, UserError
from sqlwright.lab.datasets.example import Example
from sqlwright.lab.evaluation.executing.executor import Keep, NotAsked, Notice, Plan, Skipped
from sqlwright.lab.evaluation.executing.opened import OpenDatabase, open_database
from sqlwright.lab.evaluation.executing.workers import Answering, Order, Reply, WorkerEnded
from sqlwright.lab.evaluation.records import Record
from sqlwright.lab.evaluation.settings import in_order
from sqlwright.local.models import EmbeddedModels
from sqlwright.spending import Spending


@dataclass
class _Group:
    """An open database and the questions asked of it."""

    database: OpenDatabase
    left: int
    """Questions that haven't ended."""


Running = dict["Future[tuple[Record, str]]", _Group]


@dataclass
class Threads:
    """Asks in threads of this process, which share what is loaded and open."""

    plan: Plan
    notice: Notice
    account: Spending
    """All questions together; none is begun once it is exhausted."""
    skipped: list[Skipped] = field(default_factory=list)
    ask: Callable[[OpenDatabase, Example, threading.Event], tuple[Record, str]] = (
        OpenDatabase.answer
    )

    def run(self, examples: Sequence[Example], keep: Keep) -> None:
        """As `Executor` says; what is under way when it ends early is cancelled."""
        stopping = threading.Event()
        running: Running = {}
        opened: list[_Group] = []
        jobs = self.plan.settings.jobs
        pool = ThreadPoolExecutor(jobs, thread_name_prefix="question")
        try:
            for group, example in self._opened(examples, opened):
                if self.account.exhausted:
                    break
                running[pool.submit(self.ask, group.database, example, stopping)] = group
                if len(running) >= jobs:
                    _collect(running, keep)
            while running:
                _collect(running, keep)
        except BaseException:
            stopping.set()
            for group in opened:
                group.database.session.cancel()
            pool.shutdown(cancel_futures=True)
            for ended in running:
                if ended.done() and not ended.cancelled() and ended.exception() is None:
                    with suppress(OSError, SqlwrightError):
                        keep(*ended.result())
            raise
        finally:
            pool.shutdown(cancel_futures=True)
            for group in opened:
                group.database.session.close()

    def _opened(
        self, examples: Sequence[Example], opened: list[_Group]
    ) -> Iterator[tuple[_Group, Example]]:
        """Each question with its open database, which is opened for its first one."""
        # The embedded models are the same for every database: they are loaded once.
        given = self.plan.settings.models
        models = EmbeddedModels() if given is None else given
        for _, asked in groupby(in_order(examples), key=lambda example: example.database):
            listed = list(asked)
            try:
                database = open_database(self.plan, listed[0], models, self.notice)
            except DatabaseUnavailable as error:
                self.skipped.append(Skipped(listed[0].db_id, len(listed), error))
                self.notice(str(self.skipped[-1]))
                continue
            database.charge(self.account)
            for earlier in [group for group in opened if not group.left]:
                earlier.database.session.close()
                opened.remove(earlier)
            group = _Group(database, len(listed))
            opened.append(group)
            yield from ((group, example) for example in listed)


def _collect(running: Running, keep: Keep) -> None:
    """Wait until a question has ended, and keep what has; raise what it raised."""
    ended, _ = wait(running, return_when=FIRST_COMPLETED)
    for future in [future for future in running if future in ended]:
        with suppress(NotAsked):
            keep(*future.result())
        running.pop(future).left -= 1


ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
"""Variables by which libraries decide on threads: a worker is to keep one core busy. onnxruntime
goes by none; `local/runtime.py` tells it the first."""
LAST_LINES = 2_000
"""Characters read from the end of what a worker that ended had to say."""


@dataclass(frozen=True, slots=True)
class _Told:
    """A line for whoever watches; the reply is still to come."""

    line: str


class ProcessWorker:
    """One process with the pipe to it."""

    def __init__(self, plan: Plan, notice: Notice) -> None:
        self._notice = notice
        ours, theirs = socket.socketpair()
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`
        code = (
            "import sys; sys.path[:] = sys.argv[2:]; "
            "from sqlwright.lab.evaluation.executing.on_this_machine import main; "
            "main(int(sys.argv[1]))"
        )
        try:
            # Not by multiprocessing: that would run the caller's own script again in each.
            self._process = subprocess.Popen(
                [sys.executable, "-c", code, str(theirs.fileno()), *sys.path],
                stdin=subprocess.DEVNULL,
                stdout=self._said,
                stderr=self._said,
                pass_fds=(theirs.fileno(),),
                env=os.environ | dict.fromkeys(ONE_THREAD, "1"),
                start_new_session=True,  # Ctrl-C in the terminal is for the caller alone
            )
        except OSError as error:
            ours.close()
            self._said.close()
            raise UserError(f"a worker can't be started: {error.strerror or error}") from None
        finally:
            theirs.close()
        self._connection = Connection(ours.detach())
        with suppress(OSError):  # that it is gone is seen when it gets an order
            self._connection.send(plan)

    def do(self, order: Order, seconds: float) -> Reply:
        """Hand over an order and wait for the reply. Raises WorkerEnded."""
        end = time.monotonic() + seconds
        try:
            self._connection.send(order)
            while self._connection.poll(max(0.0, end - time.monotonic())):
                reply = self._connection.recv()
                if not isinstance(reply, _Told):
                    return cast("Reply", reply)
                self._notice(reply.line)
        except (EOFError, OSError):
            raise WorkerEnded(self._reason()) from None
        raise WorkerEnded(f"no reply in {seconds:,.0f} s")

    def kill(self) -> None:
        """End the process now."""
        self._process.kill()

    def close(self) -> None:
        """End the process, and close the pipe."""
        self._process.kill()
        self._process.wait()
        self._connection.close()
        self._said.close()

    def _reason(self) -> str:
        """The cause of its end, in words."""
        try:
            code = self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            return "it closed its pipe"
        if code < 0:
            return f"killed by {signal.Signals(-code).name}"
        size = self._said.seek(0, os.SEEK_END)
        self._said.seek(max(0, size - LAST_LINES))
        lines = self._said.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else f"exit status {code}"


class Processes:
    """Starts processes on this machine."""

    opening_seconds = 4 * 3600.0

    def start(self, plan: Plan, notice: Notice) -> ProcessWorker:
        """A new process."""
        return ProcessWorker(plan, notice)

    def close(self) -> None:
        """Nothing is left."""


def main(handle: int) -> None:
    """A worker process from inside: serve the pipe of that number. Ends with the process that
    started this one, even where that was killed."""
    connection = Connection(handle)
    orders: SimpleQueue[Order] = SimpleQueue()
    plan: Plan = connection.recv()
    threading.Thread(target=_receive, args=(connection, orders), daemon=True).start()
    try:
        answering = Answering(plan, lambda line: connection.send(_Told(line)))
        while True:
            connection.send(answering.do(orders.get()))
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        raise
    finally:
        os._exit(1)  # whatever threads there are: the other end is to notice now


def _receive(connection: Connection, orders: SimpleQueue[Order]) -> None:
    try:
        while True:
            orders.put(connection.recv())
    except (EOFError, OSError):
        os._exit(1)  # nobody waits for the question under way
