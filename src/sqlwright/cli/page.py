"""A file that a command writes besides what it shows: its place, and pages of HTML."""

from __future__ import annotations

from pathlib import Path

from sqlwright.boundary.text import readable
from sqlwright.cli.failure import UsageError
from sqlwright.cli.terminal.console import Screen
from sqlwright.cli.terminal.text import clean
from sqlwright.errors import WorkspaceError
from sqlwright.presentation.html.page import is_page, write_page


def check_place(path: Path | None, *, replacing: bool = False) -> None:
    """Raise UsageError where a file can't be written: no folder is there, or something is in its
    place, but for a page of ours when `replacing`."""
    if path is None:
        return
    if not path.parent.is_dir():
        raise UsageError(f"there is no folder {readable(str(path.parent))}", hint="Make it first.")
    if (path.exists() or path.is_symlink()) and not (replacing and is_page(path)):
        kind = " and is no report" if replacing else ""
        raise UsageError(
            f"{readable(str(path))} is there already{kind}", hint="Name another file, or remove it."
        )


def keep_page(screen: Screen, path: Path, text: str) -> None:
    """Write the page and say so. Raises WorkspaceError."""
    try:
        write_page(path, text)
    except OSError as error:
        raise WorkspaceError(
            f"{readable(str(path))} can't be written: {error.strerror}", hint="Name another file."
        ) from None
    screen.note(f"written to {clean(str(path), 400)}")
