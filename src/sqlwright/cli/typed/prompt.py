"""Lines typed at a prompt, with history and editing, or piped in."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from sqlwright.boundary.home import make_private
from sqlwright.cli.terminal.console import Screen
from sqlwright.presentation.answer import readable

LINE_LIMIT = 100_000
"""Characters of a line that are taken."""
HISTORY_LINES = 1_000
"""Lines kept in the history file."""
PROMPT = "ask> "


class LineReader:
    """Iterates over the lines entered. Ctrl-C drops the line, Ctrl-D ends.

    What was typed is kept for the next time in the file `history`, if one is given, which only its
    owner can read.
    """

    def __init__(self, screen: Screen, *, history: Path | None) -> None:
        self._screen = screen
        self.interactive = sys.stdin is not None and sys.stdin.isatty()
        self._history = history if self.interactive else None

    def __enter__(self) -> LineReader:
        if self.interactive:
            # Importing it is what gives input() editing and history.
            with contextlib.suppress(ImportError):
                import readline

                readline.set_history_length(HISTORY_LINES)
                if self._history is not None:
                    with contextlib.suppress(OSError):
                        readline.read_history_file(self._history)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._history is None:
            return
        with contextlib.suppress(ImportError, OSError):
            import readline

            if not self._history.parent.is_dir():
                make_private(self._history.parent)
            self._history.touch(mode=0o600)
            readline.write_history_file(self._history)
            self._history.chmod(0o600)

    def __iter__(self) -> Iterator[str]:
        return self._typed() if self.interactive else self._piped()

    def _typed(self) -> Iterator[str]:
        while True:
            try:
                line = readable(input(PROMPT))[:LINE_LIMIT].strip()
            except EOFError:
                self._screen.note("")
                return
            except KeyboardInterrupt:
                self._screen.note("  (Ctrl-D or :quit leaves)")
                continue
            if line:
                yield line

    def _piped(self) -> Iterator[str]:
        if sys.stdin is None:
            return
        for line in sys.stdin:
            text = readable(line)[:LINE_LIMIT].strip()
            if text:
                yield text
