"""A calibration in words, and how far the questions for it are; standard error."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rich.progress import MofNCompleteColumn

from sqlwright.cli.terminal.bar import TerminalBar
from sqlwright.cli.terminal.console import Screen
from sqlwright.cli.terminal.text import clean
from sqlwright.confidence.own import CalibrationReport, figure_words


class AskingProgress(TerminalBar):
    """A bar on a terminal; nothing elsewhere. Called with the questions asked, and of how many."""

    def __init__(self, screen: Screen) -> None:
        super().__init__(screen, "asking", MofNCompleteColumn())

    def __call__(self, done: int, of: int) -> None:
        if self._bar:
            self._bar.update(self._task, completed=done, total=of)


def calibrated_lines(fitted: CalibrationReport, path: Path | None) -> Iterator[str]:
    """A calibration that was fitted: how many questions, the error before and after, the file."""
    whose = f"{fitted.recipe} with {fitted.model}" if not fitted.embedded else fitted.recipe
    yield clean(f"{whose}: {fitted.questions} questions answered, {fitted.right} right", 400)
    if fitted.before is not None:
        yield f"calibration error before: {figure_words(fitted.before)}"
    yield f"calibration error after, of questions left out of fitting: {figure_words(fitted.after)}"
    if path is not None:
        yield clean(f"kept in {path}", 400)


def reset_line(path: Path | None, *, removed: bool) -> str:
    """Words on a calibration that was to be removed."""
    if removed:
        return "the calibration is removed; answers show the confidence that ships"
    return clean(f"there is no calibration in {path}", 400)
