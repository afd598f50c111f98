"""One writer to a run's folder at a time."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlwright.errors import DatasetError

LOCK = "lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Make the folder and be its only writer. The system lets go of the lock when the process ends,
    however it does. Raises DatasetError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise DatasetError(f"{folder} can't be made: {error.strerror}") from None
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DatasetError(
                f"another run is writing {folder}",
                hint="Wait until it has ended, or name another folder with --out.",
            ) from None
        yield
    finally:
        os.close(handle)
