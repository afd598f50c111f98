"""Filled tables as one page of HTML."""

from __future__ import annotations

from sqlwright.lab.evaluation.tables.filled import FilledPaper, FilledTable
from sqlwright.lab.evaluation.tables.forms import (
    COMPARABLE,
    beneath,
    body_of,
    commands_for,
    head_of,
    title_of,
)
from sqlwright.presentation.html.blocks import (
    disclosure,
    listed,
    paragraph,
    section,
    table,
    verbatim,
)
from sqlwright.presentation.html.elements import Html, foreign
from sqlwright.presentation.html.page import page


def to_html(filled: FilledPaper, name: str, *, out: str = "runs") -> str:
    """The tables of a paper as a page."""
    shown = [_table(one, filled, name, out) for one in filled.tables]
    left = [f"Not here: {one}." for one in filled.paper.left_out]
    return page(
        f"{filled.paper.title}: the paper's tables",
        paragraph(f"{filled.paper.source}. {COMPARABLE}"),
        *shown,
        section("Left out", listed([*left, *(foreign(f"{note}.") for note in filled.notes)])),
    )


def _table(one: FilledTable, filled: FilledPaper, name: str, out: str) -> Html:
    head = head_of(one)
    rows = [[foreign(text) for text in body_of(one, row)] for row in one.rows]
    commands = commands_for([one], filled.choice, name, out=out)
    return section(
        title_of(one),
        table(head, rows, caption=one.table.title, numbers=range(1, len(head))),
        listed(foreign(text) for text in beneath(one, filled.choice)),
        disclosure("What is missing", *(verbatim(command) for command in commands)),
    )
