"""One run as a page."""

from __future__ import annotations

from collections.abc import Iterable

import sqlwright
from sqlwright.lab.evaluation.pages.runs import MeasuredRun
from sqlwright.lab.evaluation.pages.sections.accuracy import accuracy, losses
from sqlwright.lab.evaluation.pages.sections.beginning import beginning
from sqlwright.lab.evaluation.pages.sections.certainty import certainty
from sqlwright.lab.evaluation.pages.sections.choosing import choosing, linking
from sqlwright.lab.evaluation.pages.sections.costs import costs
from sqlwright.lab.evaluation.pages.sections.wrong import wrong_answers
from sqlwright.lab.evaluation.pages.settings import settings_lines
from sqlwright.presentation.html import blocks
from sqlwright.presentation.html.elements import NOTHING, Content, Html, element, foreign, jump
from sqlwright.presentation.html.page import page

LONG = ("recipe_content ", "packages ", "weights ")
"""Beginnings of the names of settings that are shown apart."""


def run_page(run: MeasuredRun) -> str:
    """The page as text."""
    parts = {
        "lost": ("Where questions are lost", losses(run)),
        "accuracy": ("Accuracy", accuracy(run)),
        "confidence": ("Confidence", certainty(run)),
        "candidates": ("Candidates", choosing(run)),
        "linking": ("Schema linking", linking(run)),
        "cost": ("Cost and time", costs(run)),
        "answers": ("Wrong answers", wrong_answers(run)),
        "settings": ("The run", described(run)),
    }
    shown = {place: part for place, part in parts.items() if part[1].markup}
    return page(
        run.title,
        contents((place, title) for place, (title, _) in shown.items()),
        beginning(run),
        *(element("div", body, id=place) for place, (_, body) in shown.items()),
        footer=f"sqlwright {sqlwright.__version__}",
        themes=True,
        filtering=True,
    )


def contents(parts: Iterable[tuple[str, str]]) -> Html:
    """Links to the parts of a page."""
    items = [element("li", jump(place, title)) for place, title in parts]
    return element("nav", element("ul", *items), aria_label="Contents") if items else NOTHING


def described(run: MeasuredRun) -> Html:
    """The settings of a run."""
    head = ("Setting", "Value")
    rows: list[tuple[Content, Content]] = []
    more: list[tuple[Content, Content]] = []
    for name, text in settings_lines(run.described).items():
        (more if name.startswith(LONG) else rows).append((foreign(name), foreign(text)))
    hidden = blocks.disclosure("Recipe and packages", blocks.table(head, more)) if more else ""
    return blocks.section("The run", blocks.table(head, rows), hidden)
