"""A chart with its title, what it shows in a sentence, and its numbers as a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlwright.presentation.html import blocks
from sqlwright.presentation.html.elements import NOTHING, Content, Html, element

KINDS = 6
"""Kinds of marks that colour and form tell apart; the style sheet has as many."""


def kind_of(number: int) -> str:
    """The class of the mark of this number, from 0."""
    return f"mark-{number % KINDS + 1}"


def figure(
    title: Content,
    drawing: Content,
    *,
    about: Content = "",
    head: Sequence[Content] = (),
    rows: Iterable[Sequence[Content]] = (),
    wide: bool = False,
) -> Html:
    """The figure; nothing without a drawing. The first column of the table names its rows, all
    others are numbers."""
    if not isinstance(drawing, Html) or not drawing.markup:
        return NOTHING
    numbers = range(1, len(head))
    told = (
        blocks.disclosure("The numbers", blocks.table(head, rows, numbers=numbers))
        if head
        else NOTHING
    )
    caption = element("figcaption", blocks.heading(3, title), blocks.paragraph(about, kind="faint"))
    return element("figure", caption, drawing, told, class_="wide" if wide else "figure")


def figures(*shown: Html) -> Html:
    """Figures side by side where there is room; nothing without one."""
    some = [one for one in shown if one.markup]
    return element("div", *some, class_="figures") if some else NOTHING


def stacked(*shown: Html) -> Html:
    """Figures below one another in one column; nothing without one."""
    some = [one for one in shown if one.markup]
    return element("div", *some, class_="stack") if some else NOTHING


def legend(names: Sequence[Content], kinds: Sequence[int] = ()) -> Html:
    """The names of marks: those of these numbers, or in their order."""
    items = [
        element("li", swatch(number), name, class_="legend-item")
        for number, name in zip(kinds or range(len(names)), names, strict=True)
    ]
    return element("ul", *items, class_="legend") if items else NOTHING


def swatch(number: int) -> Html:
    """A sample of the mark of this number."""
    return element(
        "svg",
        mark(number, "7", "7"),
        width="14",
        height="14",
        class_="swatch",
        aria_hidden="true",
    )


def mark(number: int, x: str, y: str) -> Html:
    """The mark of this number at a place: another form and another colour for each."""
    inner = element("path", d=_FORMS[number % KINDS], class_=f"mark {kind_of(number)}")
    return element("svg", inner, x=x, y=y, width="1", height="1", class_="anchor")


_FORMS = (
    "M-5,0 a5,5 0 1,0 10,0 a5,5 0 1,0 -10,0 z",  # circle
    "M-4.5,-4.5 h9 v9 h-9 z",  # square
    "M0,-6 L6,0 L0,6 L-6,0 z",  # diamond
    "M0,-5.5 L5.5,4.5 L-5.5,4.5 z",  # triangle
    "M0,5.5 L5.5,-4.5 L-5.5,-4.5 z",  # triangle upside down
    "M-1.8,-5.5 h3.6 v3.7 h3.7 v3.6 h-3.7 v3.7 h-3.6 v-3.7 h-3.7 v-3.6 h3.7 z",  # cross
)
