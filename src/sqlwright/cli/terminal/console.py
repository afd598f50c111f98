"""Output to the terminal: results on standard output, everything else on standard error."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from textwrap import wrap
from typing import TextIO

from rich.console import Console
from rich.text import Text
from rich.theme import Theme

from sqlwright.cli.terminal.text import clean

STYLES = {
    "label": "dim",
    "quiet": "dim",
    "null": "dim italic",
    "strong": "bold",
    "name": "cyan",
    "value": "green",
    "good": "green",
    "fair": "yellow",
    "bad": "red",
    "warning": "yellow",
    "number": "default",
    "header": "bold",
    "rule": "dim",
    "sql.keyword": "blue",
    "sql.string": "green",
    "sql.number": "magenta",
    "sql.comment": "dim",
}
"""The sixteen colours of the terminal's own palette, so light and dark backgrounds both work."""

UNLIMITED = 100_000
"""Width of output that isn't a terminal: nothing is wrapped or shortened there."""
CHUNK = 200
"""Lines handed to the terminal at once; one by one is several times slower."""


class PipeClosed(Exception):
    """Whoever read our output has gone."""


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The few signs used, with stand-ins for terminals that have only ASCII."""

    arrow: str = "→"
    ellipsis: str = "…"
    dot: str = "·"
    rule: str = "─"
    full: str = "━"
    empty: str = "─"
    tick: str = "✓"
    cross: str = "✗"
    times: str = "×"
    spinner: str = "dots"


ASCII = Glyphs("->", "...", "-", "-", "#", ".", "ok", "no", "x", "line")


class _Console(Console):
    def on_broken_pipe(self) -> None:
        raise PipeClosed


@dataclass(frozen=True)
class Screen:
    """Both streams, and what is known about the one that carries results."""

    out: Console
    err: Console
    glyphs: Glyphs
    interactive: bool
    """True when results go to a terminal, where they are fitted to its width."""

    @classmethod
    def open(cls) -> Screen:
        """The screen for the process's current standard streams."""
        out, err = _console(sys.stdout), _console(sys.stderr)
        glyphs = Glyphs() if out.encoding.lower().startswith("utf") else ASCII
        return cls(out, err, glyphs, out.is_terminal)

    @property
    def width(self) -> int:
        """Columns to fit results into."""
        return max(20, self.out.width) if self.interactive else UNLIMITED

    @property
    def coloured(self) -> bool:
        return self.out.color_system is not None and not self.out.no_color

    def show(self, lines: Iterable[Text]) -> None:
        """Print result lines."""
        _print(self.out, lines)

    def say(self, lines: Iterable[Text]) -> None:
        """Print lines that are not results: progress, notes, messages. Where they can't be
        written, the results still can."""
        with contextlib.suppress(OSError):
            _print(self.err, lines)

    def note(self, message: str, style: str = "quiet") -> None:
        """Print one such message. `message` is clean already."""
        lines = [message]
        if self.err.is_terminal:
            # Broken at blanks only: a path broken in two couldn't be copied.
            width = max(20, self.err.width)
            lines = wrap(message, width, break_long_words=False, break_on_hyphens=False)
        self.say(Text(line, style=style) for line in lines)

    def warn(self, message: str, limit: int = 400) -> None:
        """Print a warning, of which so many characters are shown."""
        self.note(clean(message, limit), style="warning")


def write_result(text: str) -> None:
    """Write machine-readable output unchanged."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError as error:
        raise PipeClosed from error


def _console(stream: TextIO) -> Console:
    return _Console(
        file=stream,
        theme=Theme(STYLES),
        markup=False,
        emoji=False,
        highlight=False,
        legacy_windows=False,
    )


def _print(console: Console, lines: Iterable[Text]) -> None:
    remaining = iter(lines)
    try:
        while chunk := list(islice(remaining, CHUNK)):
            console.print(Text("\n").join(chunk), soft_wrap=True)
        console.file.flush()
    except BrokenPipeError as error:
        raise PipeClosed from error
