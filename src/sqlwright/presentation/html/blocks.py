"""Blocks of a page: code, tables, bars, sections, cards, disclosures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Literal

from sqlwright.presentation.answer import cell_to_text, hidden_rows, visible
from sqlwright.presentation.html.elements import (
    CELL,
    NOTHING,
    Content,
    Html,
    Look,
    by_class,
    element,
    foreign,
    joined,
)
from sqlwright.presentation.sql_text import Cut, in_clauses, sql_pieces

if TYPE_CHECKING:
    from sqlwright.types import Cell

Level = Literal[2, 3, 4]
"""The level of a heading; a page's title is the first."""
SQL_LIMIT = 20_000
"""Characters of a query that are shown; chosen."""

PROSE_LIMIT = 6_000
"""Characters of a text of several lines that are shown; chosen."""


def paragraph(*content: Content, kind: str = "", look: Look = by_class) -> Html:
    """A paragraph; nothing without content."""
    told = joined(content)
    return element("p", told, **look(kind or "paragraph")) if told.markup else NOTHING


def code(sql: str, cut: Cut | None, look: Look = by_class) -> Html:
    """A query with a line for each clause and its words coloured, cut as its dialect does; as it is
    written without a `cut`, for a look that has no colours."""
    text = visible(sql, limit=SQL_LIMIT, lines=True)
    if cut is not None:
        text = in_clauses(text.strip(), cut)
    pieces: list[Content] = []
    end = 0
    for piece in () if cut is None else sql_pieces(text, cut):
        pieces.append(text[end : piece.start])
        word = text[piece.start : piece.end]
        pieces.append(element("span", word, **look(f"sql-{piece.kind}")))
        end = piece.end
    inner = joined([*pieces, text[end:]])
    return element("pre", inner if cut is None else element("code", inner), **look("code"))


def verbatim(text: str, look: Look = by_class) -> Html:
    """A text with its own line ends."""
    shown = visible(text.strip(), limit=PROSE_LIMIT, lines=True)
    return element("pre", element("bdi", shown, **look("foreign")), **look("verbatim"))


def table(
    head: Sequence[Content],
    rows: Iterable[Sequence[Content]],
    *,
    caption: Content = "",
    numbers: Iterable[int] = (),
) -> Html:
    """A table whose rows begin with a heading of their own. `numbers` are the columns, from 0, that
    are set to the right. It scrolls in itself where it is too wide."""
    right = {place: {"class_": "number"} for place in numbers}
    first = element(
        "tr",
        *(element("th", cell, scope="col", **right.get(n, {})) for n, cell in enumerate(head)),
    )
    body = [
        element(
            "tr",
            *(
                element("td", cell, **right.get(n, {})) if n else element("th", cell, scope="row")
                for n, cell in enumerate(row)
            ),
        )
        for row in rows
    ]
    named = [element("caption", caption)] if caption else []
    return _scrolling(
        element("table", *named, element("thead", first), element("tbody", *body)),
        "table" if not isinstance(caption, str) or not caption else caption,
    )


def rows_table(
    columns: Iterable[str],
    rows: Sequence[Sequence[Cell]],
    look: Look = by_class,
    *,
    most: int,
    truncated: bool = False,
    width: int = CELL,
) -> Html:
    """The first `most` rows of a result, cells cut at `width` characters, and how many are hidden;
    `truncated` if there are rows that were never fetched."""
    head = (
        element("th", foreign(name, look, limit=width), scope="col", **look("heading"))
        for name in columns
    )
    body = (element("tr", *(_cell(cell, width, look) for cell in row)) for row in list(rows)[:most])
    shown = element(
        "table",
        element("thead", element("tr", *head)),
        element("tbody", *body),
        **look("rows"),
    )
    hidden = hidden_rows(len(rows) - most, truncated)
    return joined([shown, paragraph(hidden, kind="faint", look=look)])


def scrolling_rows(
    columns: Iterable[str],
    rows: Sequence[Sequence[Cell]],
    *,
    most: int,
    truncated: bool = False,
) -> Html:
    """`rows_table` in a box that scrolls where it is too wide."""
    return _scrolling(rows_table(columns, rows, most=most, truncated=truncated), "rows")


def listed(items: Iterable[Content]) -> Html:
    """A list; nothing without items."""
    entries = [element("li", item) for item in items]
    return element("ul", *entries) if entries else NOTHING


def defined(pairs: Iterable[tuple[Content, Content]]) -> Html:
    """Names with what they stand for; nothing without pairs."""
    entries = [part for term, told in pairs for part in (element("dt", term), element("dd", told))]
    return element("dl", *entries) if entries else NOTHING


def bar(share: float) -> Html:
    """A bar of this share of its room, in [0, 1]. The number it stands for goes beside it: nobody
    has it read aloud."""
    width = f"width:{100 * min(max(share, 0.0), 1.0):.1f}%"
    return element("span", element("span", style=width), class_="bar", aria_hidden="true")


def disclosure(title: Content, *body: Content, look: Look = by_class, opened: bool = False) -> Html:
    """Content that opens on a click, without a script; nothing without content."""
    if not joined(body).markup:
        return NOTHING
    state = {"open": ""} if opened else {}
    return element("details", element("summary", title), *body, **look("details"), **state)


def heading(level: Level, *content: Content, kind: str = "") -> Html:
    """A heading."""
    return element(f"h{level}", *content, **by_class(kind))


def section(title: Content, *body: Content, level: Level = 2) -> Html:
    """A part of a page under its heading; nothing without content."""
    if not joined(body).markup:
        return NOTHING
    return element("section", heading(level, title), *body)


def cards(entries: Iterable[tuple[Content, Content]], *, level: Level = 3) -> Html:
    """Things side by side, each under a heading of its own; below one another where it is
    narrow."""
    shown = [
        element("section", heading(level, title), body, class_="card") for title, body in entries
    ]
    return element("div", *shown, class_="cards") if shown else NOTHING


def _scrolling(content: Content, label: str) -> Html:
    # What scrolls must be reachable by keyboard, and what is reachable needs a name.
    return element("div", content, class_="scroll", role="region", tabindex="0", aria_label=label)


def _cell(cell: Cell, width: int, look: Look) -> Html:
    kind = "number" if isinstance(cell, int | float | Decimal) else "cell"
    if cell is None or isinstance(cell, bytes):
        kind = "absent"
    return element("td", foreign(cell_to_text(cell, limit=width), look, limit=None), **look(kind))
