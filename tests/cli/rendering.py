"""Rendering into text, as a terminal of some width or a pipe would get it."""

from __future__ import annotations

import io
from collections.abc import Iterable

from rich.console import Console
from rich.text import Text
from rich.theme import Theme

from sqlwright.cli.terminal.console import ASCII, STYLES, UNLIMITED, Glyphs, Screen
from sqlwright.cli.views.answer import DisplayOptions


def screen(width: int | None = None, *, colour: bool = False, ascii_only: bool = False) -> Screen:
    """A screen that collects what is printed; without `width` it is a pipe."""
    consoles = [
        Console(
            file=io.StringIO(),
            width=width or UNLIMITED,
            force_terminal=colour,
            color_system="standard" if colour else None,
            theme=Theme(STYLES),
            markup=False,
            emoji=False,
            highlight=False,
        )
        for _ in range(2)
    ]
    return Screen(consoles[0], consoles[1], ASCII if ascii_only else Glyphs(), width is not None)


def look(width: int | None = None, *, colour: bool = False, rows: int = 20) -> DisplayOptions:
    return DisplayOptions(width or UNLIMITED, Glyphs(), colour, rows if width else UNLIMITED)


def rendered(lines: Iterable[Text], width: int | None = None, *, colour: bool = False) -> str:
    """The lines as they reach the terminal."""
    shown = screen(width, colour=colour)
    shown.show(lines)
    return printed(shown)


def printed(shown: Screen) -> str:
    stream = shown.out.file
    assert isinstance(stream, io.StringIO)
    return stream.getvalue()
