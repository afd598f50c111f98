"""Lines of styled text: wrapping, hanging indents, labels. Widths are in terminal cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest

from rich.cells import cell_len, chop_cells, set_cell_size
from rich.text import Text

from sqlwright.cli.terminal.console import UNLIMITED, Glyphs

LABEL_WIDTH = 12
"""Characters of the column of labels."""
NARROW = 56
"""Below this many columns labels stand on a line of their own."""
PROSE = 100
"""Sentences are wrapped here at the latest, however wide the terminal is."""


def shorten(text: str, width: int, glyphs: Glyphs) -> str:
    """`text` in at most `width` cells, ending in an ellipsis when something is missing."""
    if cell_len(text) <= width:
        return text
    mark = glyphs.ellipsis
    if width <= len(mark):
        return mark[:width]
    return set_cell_size(text, width - len(mark)).rstrip() + mark


def wrapped(text: Text, width: int, *, hang: int = 0) -> Iterator[Text]:
    """`text` broken at spaces into lines of at most `width` cells; longer words are broken too.

    Continuation lines keep the line's own indent plus `hang`. Unlimited width breaks nothing.
    """
    for line in text.split("\n", allow_blank=True):
        if width >= UNLIMITED // 2:
            yield line
        else:
            yield from _broken(line, max(width, 8), hang)


def _broken(line: Text, width: int, hang: int) -> Iterator[Text]:
    plain = line.plain
    indent = min(_leading(plain), width // 2)
    start = _leading(plain)
    pieces: list[tuple[int, int, int]] = []  # start, end, indent
    while True:
        end = _cut(plain, start, width - indent)
        pieces.append((start, end, indent))
        if end == len(plain):
            break
        start = end + _leading(plain[end : end + width])
        indent, hang = min(indent + hang, width // 2), 0
    divided = line.divide([index for start, end, _ in pieces for index in (start, end)])
    for number, (_, _, margin) in enumerate(pieces):
        piece = divided[2 * number + 1]
        piece.rstrip()
        yield Text(" " * margin) + piece if margin and piece else piece


def _cut(plain: str, start: int, room: int) -> int:
    """End of the line that begins at `start`: at a blank if there is one, else mid-word."""
    window = plain[start : start + 4 * room + 8]  # looking further would make this quadratic
    if cell_len(window) <= room:
        return start + len(window)
    head = chop_cells(window, room)[0]
    if window[len(head) : len(head) + 1] in {" ", ""}:
        return start + len(head)
    blank = head.rstrip(" ").rfind(" ")
    return start + (blank if blank > 0 else max(len(head), 1))


def labelled(
    label: str, entries: Iterable[Text], width: int, *, style: str = "label", hang: int = 0
) -> Iterator[Text]:
    """A dim label and its entries beside it, or below it where the terminal is narrow or the label
    wide."""
    head = Text.assemble((label, style))
    if width < NARROW:
        for number, entry in enumerate(entries):
            if not number:
                yield head
            for line in wrapped(entry, width - 2, hang=hang):
                yield Text("  ") + line
        return
    gutter = head + Text(" " * (LABEL_WIDTH - cell_len(label)))
    width = width if width >= UNLIMITED // 2 else min(width, PROSE + LABEL_WIDTH)
    for number, entry in enumerate(entries):
        if not number and cell_len(label) >= LABEL_WIDTH:
            yield head
            gutter = Text(" " * LABEL_WIDTH)
        for line in wrapped(entry, width - LABEL_WIDTH, hang=hang):
            yield gutter + line
            gutter = Text(" " * LABEL_WIDTH)


def indented(lines: Iterable[Text], by: int = 2) -> Iterator[Text]:
    """The same lines, moved right; blank ones stay blank."""
    for line in lines:
        yield Text(" " * by) + line if line else line


def rest(count: int, what: str = "more") -> list[Text]:
    """The line that says how many are there besides those shown; none where all are."""
    return [Text(f"and {count:,} {what}", style="quiet")] if count > 0 else []


def _leading(text: str) -> int:
    return len(text) - len(text.lstrip(" "))


GAP = 3
"""Blanks between two columns."""
LEAST = 36
"""Cells that a column has at least; blocks that would get less stand below one another."""
MOST = 72
"""Cells that a column has at most: longer lines are hard to read."""

Block = Callable[[int], Iterable[Text]]
"""Gives a block's lines, fitted to a width."""


def column_width(count: int, width: int) -> int:
    """Cells of each of `count` columns; 0 where they don't fit beside one another."""
    if width >= UNLIMITED // 2 or count < 2:
        return 0
    room = (width - GAP * (count - 1)) // count
    return min(room, MOST) if room >= LEAST else 0


def side_by_side(blocks: Sequence[tuple[Text, Block]], width: int) -> Iterator[Text]:
    """Blocks with a title each."""
    room = column_width(len(blocks), width)
    if not room:
        for title, block in blocks:
            yield title
            yield from indented(block(width if width >= UNLIMITED // 2 else width - 2))
        return
    columns = [[title, *block(room)] for title, block in blocks]
    for row in zip_longest(*columns, fillvalue=Text()):
        line = Text()
        for place, cell in enumerate(row):
            line.append(" " * (place * (room + GAP) - cell_len(line.plain)))
            line.append_text(cell)
        line.rstrip()
        yield line
