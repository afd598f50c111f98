"""Running a measurement with its progress shown."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from sqlwright.cli.terminal.console import Screen, write_result
from sqlwright.cli.terminal.progress import Spinner
from sqlwright.cli.terminal.text import clean
from sqlwright.cli.views.answer import DisplayOptions
from sqlwright.cli.views.evaluate.summary import summary_lines
from sqlwright.lab.evaluation.intervals import Share
from sqlwright.presentation.numbers import money
from sqlwright.presentation.timing import duration

if TYPE_CHECKING:
    from sqlwright.cli.views.golden.checked import Checks
    from sqlwright.lab.datasets.example import Dataset
    from sqlwright.lab.evaluation.records import Record
    from sqlwright.lab.evaluation.run import EvaluationSettings


def measure(
    screen: Screen,
    dataset: Dataset,
    settings: EvaluationSettings,
    *,
    folder: Path | str | None,
    checks: Checks | None,
    as_json: bool,
) -> int:
    """Run, show, give the exit code. Without `folder` nothing is kept."""
    from sqlwright.lab.evaluation.run import evaluate
    from sqlwright.presentation.answer import to_json

    try:
        with (
            tempfile.TemporaryDirectory(prefix="sqlwright-") as temporary,
            Spinner(screen, "loading the models") as spinner,
        ):
            summary = evaluate(
                dataset,
                settings,
                folder if folder is not None else Path(temporary),
                progress=Counter(screen, spinner, dataset.rule),
                notice=lambda line: screen.note(clean(line, 400), style="warning"),
            )
            kept = folder if isinstance(folder, Path) else Path(temporary)
            outcome = None if checks is None else checks.outcome(kept)
    except KeyboardInterrupt:
        if folder is not None:
            screen.note("interrupted; the same command with --resume goes on", style="warning")
        raise
    if as_json:
        told = {} if outcome is None else outcome.data()
        write_result(to_json({**summary, **told}, indent=2) + "\n")
        return 0 if outcome is None else outcome.code
    display = DisplayOptions.of(screen)
    screen.show(summary_lines(summary, display))
    if outcome is not None:
        screen.show(outcome.lines(display))
    if folder is not None:
        screen.note(f"kept in {clean(str(folder), 400)}")
    return 0 if outcome is None else outcome.code


class Counter:
    """Questions done, accuracy and cost of those asked so far, time left; on a terminal as it
    happens, else every 50."""

    def __init__(self, screen: Screen, spinner: Spinner, rule: str, name: str = "") -> None:
        self._screen = screen
        self._spinner = spinner
        self._rule = rule
        self._lead = f"{name}: " if name else ""
        self._started = time.monotonic()
        self._before = self._scored = self._right = 0
        self._cost: float | None = None

    def __call__(self, done: int, total: int, record: Record | None) -> None:
        if record is None:
            self._before = done
            return
        self._scored += record.status != "gold"
        self._right += record.right(self._rule)
        for used in record.usage.values():
            self._cost = (self._cost or 0.0) + (used.get("cost") or 0.0)
        fresh = done - self._before
        left = (time.monotonic() - self._started) / fresh * (total - done)
        words = f"{self._lead}{done:,} of {total:,} questions, {self._so_far(left)}"
        self._spinner.tell(words)
        if not self._screen.err.is_terminal and (fresh % 50 == 0 or done == total):
            self._screen.note(words)

    def _so_far(self, left: float) -> str:
        share = Share(self._right, self._scored)
        low, high = share.interval
        told = f"{share.value:.1%} right so far ({low:.0%} to {high:.0%}), "
        if self._cost is not None:
            told += f"{money(self._cost)} spent, "
        return f"{told}{duration(left)} left"
