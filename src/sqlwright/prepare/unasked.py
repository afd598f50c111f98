"""Preparing a database without being asked, where that takes next to no time.

It is done while a database is opened, so nothing about it may fail an opening: where the folder
can't be written, or the time is up, opening goes on without it. What was done by then is kept, and
an explicit `prepare` goes on from there.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from sqlwright.catalog.reading import OutOfTime, TimedReader
from sqlwright.database import open_database
from sqlwright.database.address import shown_address
from sqlwright.errors import Cancelled, DatabaseUnavailable, WorkspaceError
from sqlwright.events import PreparationEnded, PreparationStarted, no_events
from sqlwright.prepare.build import prepare
from sqlwright.prepare.cost import PER_BYTE, work_on
from sqlwright.prepare.storage.manifest import read_catalog, read_manifest
from sqlwright.prepare.storage.paths import LATE, MANIFEST, is_trustworthy, write_private
from sqlwright.protocols import Run
from sqlwright.schema import ColumnRef

MOST_SECONDS = 2.0
"""Seconds. A preparation estimated to take longer waits for `sqlwright prepare`."""
DEADLINE = 4.0
"""Seconds. A preparation that takes longer is stopped, however short the estimate was."""
SHARE = 0.5
"""Part of a question's time that may go into it at most."""
ESTIMATING = 1.0
"""Seconds that the estimate itself may take at most."""
LATE_SECONDS = 3_600.0
"""Time after which what was stopped is tried again."""
LONGER = "This database isn't prepared: that takes longer than a question should wait."


def prepare_unasked(url: str, folder: Path, descriptions: Path | None, run: Run) -> str | None:
    """Prepare a database if it is small enough; None once it is prepared, else why it isn't, in
    words. They are empty where something else says so, or nothing can be done about it.

    The run's events are `PreparationStarted` before and `PreparationEnded` after. Raises
    `Cancelled` when the run ends.
    """
    seconds = min(DEADLINE, run.remaining() * SHARE)
    if _was_late(folder):
        return LONGER
    if folder.exists() and not is_trustworthy(folder):
        return ""
    try:
        if _estimate(url, folder, run) > min(MOST_SECONDS, seconds):
            return ""
        first = not (folder / MANIFEST).exists()
        run.events(PreparationStarted(shown_address(url)))
        made = prepare(
            url,
            folder=folder,
            descriptions=descriptions,
            settle=False,  # what is told late is noticed by the next question
            run=run.fork(no_events, seconds=seconds),
        )
    except Cancelled:
        run.check()
        if seconds >= DEADLINE:
            with suppress(WorkspaceError):
                write_private(folder / LATE, b"")
        return LONGER
    except OutOfTime:
        return LONGER
    except (WorkspaceError, DatabaseUnavailable):
        return ""  # nothing can be kept there; or opening it says so
    logging.getLogger("sqlwright").info(
        "prepared %s in %.1f s, kept in %s", shown_address(url), made.seconds, made.folder
    )
    run.events(
        PreparationEnded(
            shown_address(url), made.folder, made.seconds, made.values, first and bool(made.read)
        )
    )
    return None


def _was_late(folder: Path) -> bool:
    """True if it was stopped not long ago: it would be again."""
    try:
        return abs(time.time() - (folder / LATE).stat().st_mtime) < LATE_SECONDS
    except OSError:
        return False


def _estimate(url: str, folder: Path, run: Run) -> float:
    """About how many seconds it takes."""
    with open_database(url, run=run) as whole:
        size = whole.size()
        if size is not None and size * PER_BYTE > MOST_SECONDS:
            return size * PER_BYTE
        with whole.reader() as reader, TimedReader(reader, run, ESTIMATING) as reading:
            return work_on(reading, whole.schema(), size, _known(folder)).seconds


def _known(folder: Path) -> Collection[ColumnRef]:
    """The columns that were prepared before."""
    try:
        manifest = read_manifest(folder)
        return () if manifest is None else set(read_catalog(folder, manifest).schema.columns)
    except WorkspaceError:
        return ()
