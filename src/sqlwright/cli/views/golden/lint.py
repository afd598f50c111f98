"""The faults of a golden set, by question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from rich.text import Text

from sqlwright.cli.terminal.console import Screen
from sqlwright.cli.terminal.layout import labelled
from sqlwright.cli.terminal.progress import Spinner
from sqlwright.cli.terminal.text import clean
from sqlwright.lab.datasets.example import Dataset
from sqlwright.lab.evaluation.golden.faults import RULES, Fault
from sqlwright.lab.evaluation.golden.lint import Lint
from sqlwright.protocols import Limits
from sqlwright.settings.values import Settings

STATES = {"error": "bad", "warning": "fair"}
"""Styles of severities."""


def examined(
    screen: Screen, dataset: Dataset, settings: Settings, *, readings: bool
) -> list[Fault]:
    """All faults of a set, found with the progress shown."""
    from sqlwright import api
    from sqlwright.local.models import EmbeddedModels

    models = EmbeddedModels()  # loaded once for all databases

    def opened(url: str) -> api.Session:
        return api.open(
            url, recipe="local", models=models, home=settings.home, prepare=False, record=False,
            limits=Limits(scan=settings.max_scan), tables=settings.tables_for(url),
            functions=settings.functions_for(url) or None,
        )  # fmt: skip

    for line in dataset.left_out:
        screen.note(clean(line, 400), style="warning")
    with Spinner(screen, "examining the questions") as spinner:
        return list(
            Lint(dataset, opened, readings, settings.max_scan).faults(
                lambda done, whole: spinner.tell(f"{done:,} of {whole:,} questions examined")
            )
        )


def fault_lines(found: Sequence[Fault], questions: int, screen: Screen) -> Iterator[Text]:
    """Each question with its faults, then counts by rule."""
    width = screen.width
    for id_, faults in groupby(found, key=lambda fault: fault.id):
        listed = list(faults)
        question = clean(listed[0].question, 400)
        yield Text.assemble((clean(id_, 60), "strong"), f"  {question}")
        for fault in listed:
            meaning = RULES[fault.rule][1]
            entry = Text.assemble(
                (fault.severity, STATES[fault.severity]),
                f" {meaning}: {clean(fault.shown_by, 1_000)}",
            )
            yield from labelled(fault.rule, [entry], width, hang=2)
    if found:
        yield Text()
    yield Text(_summary(found, questions), style=_style(found))


def fault_data(found: Sequence[Fault], file: Path, questions: int) -> dict[str, Any]:
    """The same as plain data."""
    return {
        "file": str(file),
        "questions": questions,
        "errors": _count(found, "error"),
        "warnings": _count(found, "warning"),
        "faults": [fault.as_dict() for fault in found],
    }


def _summary(found: Sequence[Fault], questions: int) -> str:
    told = [
        f"{count:,} {severity}{'' if count == 1 else 's'}"
        for severity in ("error", "warning")
        if (count := _count(found, severity))
    ]
    of = f"{questions:,} question{'' if questions == 1 else 's'}"
    return f"{' and '.join(told) or 'nothing wrong'} in {of}"


def _style(found: Sequence[Fault]) -> str:
    if _count(found, "error"):
        return "bad"
    return "fair" if found else "good"


def _count(found: Sequence[Fault], severity: str) -> int:
    return sum(fault.severity == severity for fault in found)
