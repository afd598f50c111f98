"""A run's folder at a URL: made here, copied there, gone on with anywhere.

Object stores can't append. New records go there as files of their own (`parts/`) at checkpoints;
at the end the whole folder does, and the parts are removed. What was answered since the last
checkpoint is lost with this machine, and only then: a run that is gone on with here has it.
"""

from __future__ import annotations

import hashlib
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlwright.boundary.home import home as default_home
from sqlwright.boundary.home import make_private
from sqlwright.boundary.remote_files import RemoteFolder
from sqlwright.lab.evaluation.files import LOCK
from sqlwright.lab.evaluation.folder.described import QUESTIONS, RUN
from sqlwright.lab.evaluation.records import PREDICTIONS, KeptRecords, stream

PARTS = "parts/"
CHECKPOINT_SECONDS = 60.0
"""Seconds between checkpoints; chosen: the most that a lost machine costs."""


class Mirror:
    """The copy of a run here, and its way there. A context manager: whatever ends the run, what
    was answered is there."""

    def __init__(self, url: str, home: Path | None = None) -> None:
        self._remote = RemoteFolder(url)
        digest = hashlib.sha256(self._remote.url.encode()).hexdigest()[:16]
        self.local = (home or default_home()) / "runs" / digest
        make_private(self.local)
        self._sent = 0
        self._next = 0.0

    def __enter__(self) -> Mirror:
        return self

    def __exit__(self, *_: object) -> None:
        if self._next:
            self._send()

    def fetch(self) -> None:
        """Have what is there here as well, but for records that are here already."""
        names = self._remote.names()
        for name in (RUN, QUESTIONS):
            if name in names:
                self._remote.get(name, self.local / name)
        with TemporaryDirectory(prefix="sqlwright-") as aside:
            for name in names:
                if name == PREDICTIONS or name.startswith(PARTS):
                    part = Path(aside) / Path(name).stem
                    self._remote.get(name, part / PREDICTIONS)
                    self._add(part)
        self._next = time.monotonic()

    def checkpoint(self) -> None:
        """Send the new records, if it is time."""
        if time.monotonic() >= self._next:
            self._send()

    def finish(self) -> None:
        """Send the whole folder, and remove the parts."""
        for path in sorted(self.local.rglob("*")):
            name = path.relative_to(self.local).as_posix()
            if path.is_file() and name != LOCK and path.suffix != ".part":
                self._remote.put_file(path, name)
        for name in self._remote.names():
            if name.startswith(PARTS):
                self._remote.remove(name)
        self._sent = self._size()

    def _add(self, part: Path) -> None:
        kept = KeptRecords(self.local)
        for record in stream(part):
            if record.id not in kept:
                kept.append(record)

    def _send(self) -> None:
        """Send what was added to the records since the last time, as a file of its own. The first
        time that is all of them: who reads them takes each question once."""
        size = self._size()
        if size > self._sent:
            with (self.local / PREDICTIONS).open("rb") as file:
                file.seek(self._sent)
                content = file.read(size - self._sent)
            if not self._sent:
                for name in (RUN, QUESTIONS):
                    self._remote.put_file(self.local / name, name)
            self._remote.put(content, f"{PARTS}{time.time_ns()}.jsonl")
            self._sent = size
        self._next = time.monotonic() + CHECKPOINT_SECONDS

    def _size(self) -> int:
        path = self.local / PREDICTIONS
        return path.stat().st_size if path.exists() else 0
