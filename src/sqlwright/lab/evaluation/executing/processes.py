"""Workers that are processes on this machine, each with its own models, and killed at will."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import cast

from sqlwright.errors import UserError
from sqlwright.lab.evaluation.executing.orders import Gone, Order, Reply
from sqlwright.lab.evaluation.executing.pool import Worker

ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
"""Variables by which libraries decide on threads: a worker is to keep one core busy. onnxruntime is
told by the models themselves (`local/runtime.py`)."""
LAST_WORDS = 2_000
"""Characters read from the end of what a worker that ended had to say."""


class ProcessWorker:
    """One process with the pipe to it."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - closed when it is killed
        code = (
            "import sys; sys.path[:] = sys.argv[2:]; "
            "from sqlwright.lab.evaluation.executing.worker import main; main(int(sys.argv[1]))"
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
        self.connection = Connection(ours.detach())

    def send(self, order: Order) -> None:
        """Hand over an order; that a worker is gone is seen when its reply is waited for."""
        try:
            self.connection.send(order)
        except OSError:
            return

    def receive(self) -> Reply:
        """Its reply, which has begun to come."""
        try:
            return cast("Reply", self.connection.recv())
        except (EOFError, OSError):
            return Gone(self._reason())

    def kill(self) -> None:
        """End the process now."""
        if not self.connection.closed:
            self._process.kill()
            self._process.wait()
            self.connection.close()
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
        self._said.seek(max(0, size - LAST_WORDS))
        lines = self._said.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else f"exit status {code}"


class Processes:
    """Hires processes on this machine."""

    start_seconds = 300.0

    def hire(self) -> ProcessWorker:
        """A new process."""
        return ProcessWorker()

    def wait(self, workers: Sequence[Worker], seconds: float) -> Iterator[tuple[Worker, Reply]]:
        """One reply of each that has something to say."""
        of = {one.connection: one for one in workers if isinstance(one, ProcessWorker)}
        for connection in wait(list(of), seconds):
            worker = of[cast("Connection", connection)]
            yield worker, worker.receive()

    def close(self) -> None:
        """Nothing is left."""
