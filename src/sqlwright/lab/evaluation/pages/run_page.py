"""One run as a page."""

from __future__ import annotations

from collections.abc import Sequence

from sqlwright.lab.evaluation.pages.report import ReportTable, Section, report_page
from sqlwright.lab.evaluation.pages.runs import MeasuredRun, settings_lines
from sqlwright.lab.evaluation.pages.sections.accuracy import accuracy, confidence
from sqlwright.lab.evaluation.pages.sections.beginning import look_at, opening
from sqlwright.lab.evaluation.pages.sections.costs import costs
from sqlwright.lab.evaluation.pages.sections.steps import candidates, linking
from sqlwright.lab.evaluation.pages.sections.wrong import losses, wrong_answers

LONG = ("recipe_content ", "packages ", "weights ")
"""Beginnings of the names of settings that are shown apart."""
PARTS = (look_at, losses, accuracy, confidence, candidates, linking, costs, wrong_answers)


def run_page(run: MeasuredRun) -> str:
    """The page as text."""
    return report_page(run.title, opening(run), [*(part(run) for part in PARTS), _described(run)])


def _described(run: MeasuredRun) -> Section:
    """The settings of a run."""
    rows: list[Sequence[str]] = []
    more: list[Sequence[str]] = []
    for name, text in settings_lines(run.described).items():
        (more if name.startswith(LONG) else rows).append((name, text))
    head = ("Setting", "Value")
    hidden = [ReportTable(head, more, folded="Recipe and packages")] if more else []
    return Section("The run", "settings", tables=[ReportTable(head, rows), *hidden])
