"""Lines typed at a prompt, with history and editing, or piped in."""

from __future__ import annotations

import contextlib
import os
import select
import sys
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

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


END = ""
"""Nothing more comes."""
BLANK = " "
"""A key that says nothing, or an empty line."""
ESCAPE = b"\x1b"
BLANKS = {ESCAPE, b" ", b"\n", b"\r"}
STOPS = {b"", b"\x03", b"\x04"}
"""Ctrl-C and Ctrl-D, where the terminal hands them on."""


class KeyReader:
    """Gives one key at a time from a terminal, without Enter; from a pipe one line at a time.

    While it is entered, the terminal shows nothing of what is typed.
    """

    def __init__(self) -> None:
        self.interactive = sys.stdin is not None and sys.stdin.isatty()
        self._before: list[Any] | None = None
        """The terminal's settings, where single keys can be had."""

    def __enter__(self) -> KeyReader:
        try:
            import termios
            import tty
        except ImportError:  # Windows: a letter and Enter
            return self
        if self.interactive:
            self._before = termios.tcgetattr(sys.stdin.fileno())
            tty.setcbreak(sys.stdin.fileno(), termios.TCSADRAIN)  # what was typed ahead counts
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._before is not None:
            import termios

            termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, self._before)

    def read(self) -> str:
        """A key, or a line without the blanks around it; `END` where there is no more, `BLANK` for
        what says nothing, such as an arrow."""
        if sys.stdin is None:
            return END
        if self._before is None:
            line = sys.stdin.readline(1_000)
            return line.strip() or BLANK if line else END
        try:
            return _key(sys.stdin.fileno())
        except KeyboardInterrupt:
            return END


def _key(terminal: int) -> str:
    first = os.read(terminal, 1)
    if first in STOPS:
        return END
    if first == ESCAPE and select.select([terminal], [], [], 0.02)[0]:
        # An arrow sends three characters at once, of which the last is a letter.
        while not os.read(terminal, 1).isalpha():
            pass
    return BLANK if first in BLANKS else first.decode("ascii", "replace")
