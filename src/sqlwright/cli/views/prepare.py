"""Progress of a preparation: a bar on a terminal, a line per stage elsewhere; standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.progress import TaskProgressColumn

from sqlwright.cli.terminal.bar import TerminalBar
from sqlwright.cli.terminal.console import Screen
from sqlwright.cli.terminal.layout import shorten
from sqlwright.cli.terminal.text import clean

if TYPE_CHECKING:
    from sqlwright import prepare

STAGES = {
    "waiting": "waiting",
    "changes": "looking for changes",
    "tables": "reading",
    "joins": "inferring joins",
    "texts": "embedding names",
    "descriptions": "embedding descriptions",
    "index": "indexing values",
    "signatures": "making MinHash signatures",
    "vectors": "embedding values",
    "done": "done",
}


class PreparationProgress(TerminalBar):
    """A context that shows progress. Called from the working thread."""

    def __init__(self, screen: Screen) -> None:
        super().__init__(screen, "opening", TaskProgressColumn())
        self._screen = screen
        self._stage = ""

    def __call__(self, progress: prepare.Progress) -> None:
        """Show where things are."""
        words = STAGES.get(progress.stage, clean(progress.stage, 40))
        if self._bar:
            room = max(self._screen.err.width - 34, 12)
            detail = shorten(f"{words} {clean(progress.detail, 200)}", room, self._screen.glyphs)
            self._bar.update(
                self._task, description=detail, completed=progress.done, total=progress.total
            )
        elif progress.stage not in (self._stage, "done"):
            self._stage = progress.stage
            self._screen.note(words)
