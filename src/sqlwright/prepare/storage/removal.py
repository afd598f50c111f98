"""Removing what was prepared, and nothing else."""

from __future__ import annotations

from pathlib import Path

from sqlwright.errors import WorkspaceError
from sqlwright.prepare.storage.locking import locked
from sqlwright.prepare.storage.paths import LOCK, MANIFEST, ours, prepared_folder, remove, told
from sqlwright.protocols import Run


def purge(url: str, *, folder: Path | None = None, run: Run | None = None) -> bool:
    """Remove what was prepared for a database; whether there was anything.

    The database need not exist any more. Only files that `prepare` writes are removed, and the
    folder itself when nothing else is in it. Waits for a preparation that is under way. Raises
    `WorkspaceError`.
    """
    place = folder if folder is not None else prepared_folder(url)
    if not place.is_dir():
        return False
    found = ours(place)
    if not any(path.name in {MANIFEST, LOCK} for path in found):
        if any(place.iterdir()):
            raise WorkspaceError(
                f"{place} holds nothing that was prepared.",
                hint="Name the folder that was given to prepare.",
            )
        return False
    with locked(place, run or Run(), lambda _: None):
        # The manifest first: from then on nothing here counts as prepared.
        for path in sorted(
            ours(place), key=lambda path: (path.name != MANIFEST, path.name == LOCK)
        ):
            remove(path)
        with told(place):
            if not any(place.iterdir()):
                place.rmdir()
    return True
