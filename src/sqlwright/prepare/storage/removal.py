"""Removing what was prepared, and nothing else."""

from __future__ import annotations

from pathlib import Path

from sqlwright.errors import WorkspaceError
from sqlwright.prepare.storage.locking import locked
from sqlwright.prepare.storage.paths import (
    LOCK,
    MANIFEST,
    OWN_FILE,
    disk_errors,
    prepared_folder,
    remove,
    written_paths,
)
from sqlwright.protocols import Run


def purge(url: str, *, folder: Path | None = None, run: Run | None = None) -> bool:
    """Remove what was prepared for a database; whether there was anything.

    The database need not exist any more. Only files that `prepare` writes are removed, and the
    folder itself when nothing else is in it. Waits for a preparation that is under way. Raises
    `WorkspaceError`.
    """
    folder = prepared_folder(url) if folder is None else folder
    if not folder.is_dir():
        return False
    found = written_paths(folder)
    if not any(path.name in {MANIFEST, LOCK, OWN_FILE} for path in found):
        if any(folder.iterdir()):
            raise WorkspaceError(
                f"{folder} holds nothing that was prepared.",
                hint="Name the folder that was given to prepare.",
            )
        return False
    with locked(folder, run or Run(), lambda _: None):
        # The manifest first: from then on nothing here counts as prepared.
        for path in sorted(
            written_paths(folder), key=lambda path: (path.name != MANIFEST, path.name == LOCK)
        ):
            remove(path)
        with disk_errors(folder):
            if not any(folder.iterdir()):
                folder.rmdir()
    return True
