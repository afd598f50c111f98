"""Single keys at a terminal; lines where input is piped in."""

from __future__ import annotations

import os
import select
import sys
from types import TracebackType
from typing import Any

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
