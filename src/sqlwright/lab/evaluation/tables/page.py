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
from sqlwright.presentation.html.page import page_of


def to_html(filled: FilledPaper, name: str, *, out: str = "runs") -> str:
    """The tables of a paper as a page."""
    left = [f"Not here: {one}." for one in filled.paper.left_out]
    return page_of(
        "paper.html",
        f"{filled.paper.title}: the paper's tables",
        footer="",
        about=f"{filled.paper.source}. {COMPARABLE}",
        tables=[_table(one, filled, name, out) for one in filled.tables],
        left=[*left, *(f"{note}." for note in filled.notes)],
    )


def _table(one: FilledTable, filled: FilledPaper, name: str, out: str) -> dict[str, object]:
    return {
        "title": title_of(one),
        "head": head_of(one),
        "rows": [body_of(one, row) for row in one.rows],
        "caption": one.table.title,
        "beneath": list(beneath(one, filled.choice)),
        "commands": list(commands_for([one], filled.choice, name, out=out)),
    }
