"""A session's workspace, kept between questions, and the thread that loads its models.

The workspace is opened with the first question and shared by all that run at once. When the data
has changed it is opened afresh; the old one is closed once no question uses it any more.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from sqlwright.errors import Cancelled, ConfigError, DatabaseUnavailable, ModelUnavailable
from sqlwright.events import Event, EventSink, QueryExecuted
from sqlwright.protocols import Run, Workspace
from sqlwright.types import Answer

POLL = 0.02
"""Seconds between checks for cancellation while models load; chosen."""
LOOK_SECONDS = 10.0
"""Seconds for reading the schema again at most."""
UNTOLD_SECONDS = 3_600.0
"""Seconds, an hour, after which a database that can't tell whether it has changed is opened
afresh."""


class _Shared:
    """A workspace and the number of runs that use it: it closes when it is old and unused."""

    def __init__(self, workspace: Workspace, rest: float) -> None:
        self.workspace = workspace
        self.fingerprint = workspace.database.fingerprint()
        self.opened = time.monotonic()
        self.again = self.opened + rest
        self.users = 0
        self.old = False
        self.outdated = False
        """True once its schema is known to be another one."""

    def changed(self) -> bool:
        """True if the data has changed; checked only once enough time has passed to reopen, unless
        what is known leads to queries that fail."""
        if self.outdated:
            return True
        if time.monotonic() < self.again:
            return False
        if not self.fingerprint:
            return time.monotonic() > self.opened + UNTOLD_SECONDS
        return self.workspace.database.fingerprint() != self.fingerprint


class OpenedWorkspace:
    """A workspace kept open, and opened afresh when its data has changed.

    `open_workspace` opens it for a run. It is opened afresh when at least `reopening` times as long
    has passed as opening it took. May be used from several threads.
    """

    def __init__(self, open_workspace: Callable[[Run], Workspace], reopening: int) -> None:
        self._open_workspace = open_workspace
        self._reopening = reopening
        self._opening = threading.Lock()
        self._counting = threading.Lock()
        self._shared: _Shared | None = None
        self._closed = False

    def get(self, run: Run) -> Workspace:
        """The workspace, opened if need be. Raises DatabaseUnavailable, and Cancelled when the run
        ends or after `close`."""
        with self._opening:
            return self._current(run).workspace

    @contextmanager
    def using(self, run: Run) -> Iterator[Workspace]:
        """`get`; the workspace isn't closed before the block ends."""
        with self._opening:
            shared = self._current(run)
            with self._counting:
                shared.users += 1
        try:
            yield shared.workspace
        finally:
            with self._counting:
                shared.users -= 1
                unused = shared.old and not shared.users
            if unused:
                shared.workspace.database.close()

    def outdated(self, workspace: Workspace, run: Run) -> list[str]:
        """Tables and columns that a workspace knows of and that are gone; if there are any, the
        next use opens it afresh. Reads the schema."""
        try:
            schema = workspace.database.schema(seconds=min(max(run.remaining(), 0.0), LOOK_SECONDS))
        except DatabaseUnavailable:
            return []
        gone = workspace.schema.gone_from(schema)
        if not gone:
            return []
        with self._opening:
            if self._shared is not None and self._shared.workspace is workspace:
                self._shared.outdated = True
        return gone

    def close(self) -> None:
        """Close the workspace once nothing uses it; safe to call twice."""
        with self._opening:
            self._closed = True
            shared, self._shared = self._shared, None
        if shared is not None:
            self._retire(shared)

    def _current(self, run: Run) -> _Shared:
        """The open workspace, opened now if there is none or the data has changed. The caller holds
        `_opening`. Raises Cancelled after `close`."""
        if self._closed:
            raise Cancelled("the session is closed")
        shared = self._shared
        if shared is not None and not shared.changed():
            return shared
        started = time.monotonic()
        workspace = self._open_workspace(run)
        took = time.monotonic() - started
        self._shared = _Shared(workspace, took * self._reopening)
        if shared is not None:
            self._retire(shared)
        return self._shared

    def _retire(self, shared: _Shared) -> None:
        with self._counting:
            shared.old = True
            unused = not shared.users
        if unused:
            shared.workspace.database.close()


class LostNames:
    """An event sink that notices queries which name what isn't there, then passes events on."""

    def __init__(self, sink: EventSink) -> None:
        self.seen = False
        self._sink = sink

    def __call__(self, event: Event) -> None:
        error = event.result.error if isinstance(event, QueryExecuted) else None
        if error is not None and error.cause in {"unknown_table", "unknown_column"}:
            self.seen = True
        self._sink(event)


class ModelLoading:
    """Loads models by role in a thread, once, while something else is done.

    A model that can't be loaded is reported to the step that asks for it, not here.
    """

    def __init__(self, models: Mapping[str, Any], roles: Sequence[str]) -> None:
        self._models = models
        self._roles = roles
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to load, if that hasn't been done."""
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._load, name="sqlwright-models")
                self._thread.start()

    def wait(self, run: Run) -> None:
        """Return when loading has ended. Raises Cancelled when the run ends before."""
        while self._thread is not None and self._thread.is_alive():
            self._thread.join(POLL)
            run.check()

    def _load(self) -> None:
        for role in self._roles:
            try:
                self._models[role]
            except (ModelUnavailable, ConfigError, KeyError):
                return


def with_cost(answer: Answer, workspace: Workspace, run: Run) -> Answer:
    """The answer with what its query reads, where the engine tells."""
    if answer.status != "answered" or not answer.sql or not workspace.database.estimates:
        return answer
    try:
        cost = workspace.database.cost(answer.sql, run)
    except DatabaseUnavailable:
        return answer  # it has its rows; a server that is gone now changes nothing of them
    return replace(answer, cost=cost) if cost.told else answer
