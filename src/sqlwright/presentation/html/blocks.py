"""Blocks of a page: code, tables, sections, disclosures, filters; `parts.html` lays them out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from sqlwright.presentation.html.elements import NOTHING, Content, Html, element, joined
from sqlwright.presentation.html.templates import highlighted, part
from sqlwright.presentation.sql_text import Cut

if TYPE_CHECKING:
    from sqlwright.types import Cell

Level = Literal[2, 3, 4]
"""The level of a heading; a page's title is the first."""
_PARTS = "parts.html"


def paragraph(*content: Content, kind: str = "paragraph") -> Html:
    """A paragraph; nothing without content."""
    told = joined(content)
    return element("p", told, class_=kind) if told.markup else NOTHING


def code(sql: str, cut: Cut) -> Html:
    """A query with a line for each clause and its words coloured, cut as its dialect does."""
    return part(_PARTS, "code", highlighted(sql, cut))


def verbatim(text: str) -> Html:
    """A text with its own line ends."""
    return part(_PARTS, "verbatim", text)


def table(
    head: Sequence[Content],
    rows: Iterable[Sequence[Content]],
    *,
    caption: str = "",
    numbers: Iterable[int] = (),
) -> Html:
    """A table whose rows begin with a heading of their own. `numbers` are the columns, from 0, that
    are set to the right. It scrolls in itself where it is too wide."""
    return part(_PARTS, "table", head, list(rows), caption, tuple(numbers))


def rows_table(
    columns: Iterable[str],
    rows: Sequence[Sequence[Cell]],
    *,
    most: int,
    truncated: bool = False,
) -> Html:
    """The first `most` rows of a result, and how many are hidden; `truncated` if there are rows
    that were never fetched. It scrolls in itself where it is too wide."""
    return part(_PARTS, "rows_table", columns, rows, most, truncated)


def listed(items: Iterable[Content]) -> Html:
    """A list; nothing without items."""
    entries = [element("li", item) for item in items]
    return element("ul", *entries) if entries else NOTHING


def filters(place: str, choices: Mapping[str, tuple[str, Sequence[tuple[str, str]]]]) -> Html:
    """Fields that filter the list whose id is `place`, hidden until the script is there: a field
    for words, and for each of `choices` (an attribute `data-NAME` of entries) its title and values,
    each with what is shown of it."""
    return part(_PARTS, "filters", place, choices)


def disclosure(title: Content, *body: Content) -> Html:
    """Content that opens on a click, without a script; nothing without content."""
    if not joined(body).markup:
        return NOTHING
    return element("details", element("summary", title), *body, class_="details")


def heading(level: Level, *content: Content, kind: str = "") -> Html:
    """A heading."""
    return element(f"h{level}", *content, **({"class_": kind} if kind else {}))


def section(title: Content, *body: Content, level: Level = 2) -> Html:
    """A part of a page under its heading; nothing without content."""
    if not joined(body).markup:
        return NOTHING
    return element("section", heading(level, title), *body)
