"""A bar on a terminal, and nothing where there is none; standard error."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn

from sqlwright.cli.terminal.console import Screen


class TerminalBar:
    """A context that shows one task while it is open: words, a bar, then `column`."""

    def __init__(self, screen: Screen, words: str, column: ProgressColumn) -> None:
        self._bar: Progress | None = None
        if screen.err.is_terminal and not screen.err.is_dumb_terminal:
            self._bar = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(20),
                column,
                console=screen.err,
                transient=True,
            )
            self._task = self._bar.add_task(words, total=None)

    def __enter__(self) -> Self:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar:
            self._bar.stop()
