"""Blocks of lines side by side, or below one another where the terminal is narrow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest

from rich.cells import cell_len
from rich.text import Text

from sqlwright.cli.terminal.console import UNLIMITED
from sqlwright.cli.terminal.layout import indented

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
