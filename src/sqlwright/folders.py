"""Folders that only their owner may enter."""

from __future__ import annotations

from pathlib import Path


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it that are missing, each 0700 whatever the umask. One that is
    there stays as it is. Raises OSError."""
    # One by one: `parents=True` leaves the mode of those above to the umask.
    for place in (*reversed(folder.parents), folder):
        if not place.is_dir():
            place.mkdir(mode=0o700, exist_ok=True)
