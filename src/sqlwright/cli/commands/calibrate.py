"""`sqlwright lab calibrate`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import MofNCompleteColumn

from sqlwright.cli.failure import UsageError
from sqlwright.cli.opening import note_destinations, opener, settled
from sqlwright.cli.terminal.console import Screen
from sqlwright.cli.terminal.progress import TerminalBar
from sqlwright.cli.terminal.text import clean
from sqlwright.cli.typed import options
from sqlwright.cli.typed.target import read_database
from sqlwright.confidence.own import CalibrationReport, figure_words
from sqlwright.lab.calibrating import calibrate
from sqlwright.lab.evaluation.golden.questions import load_golden
from sqlwright.prepare.calibrations import KeptCalibrations

EXAMPLES = """\
sqlwright lab calibrate golden.yaml --database shop.sqlite
sqlwright lab calibrate golden.csv -d shop.sqlite -r chess-ir-ss-cg -m openai/gpt-4.1 --budget '$2'
sqlwright lab calibrate --reset -d shop.sqlite
"""


def command(
    *,
    golden: Annotated[
        Path | None,
        typer.Argument(
            metavar="[GOLDEN_SET]",
            help="Questions with queries that answer them: YAML, JSON, JSONL or CSV.",
        ),
    ] = None,
    database: options.Database = None,
    recipe: options.RecipeOptions,
    model: options.ModelOptions,
    access: options.AccessOptions,
    descriptions: options.Descriptions = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="FILE", help="Write it there; the setting 'calibration' names it."
        ),
    ] = None,
    reset: Annotated[
        bool, typer.Option("--reset", help="Remove it: of the recipe named, else of all.")
    ] = False,
) -> int:
    """Fit how sure answers are to questions of your own, for one database, recipe and model.

    Asks each question once and compares the answer with yours. From then on answers of that recipe
    on that database show the confidence fitted so; a language model's answers get one at all. For
    auto it does so twice: without a model, then with it where those answers aren't sure enough. A
    budget is each question's.
    """
    if reset is (golden is not None):
        raise UsageError(
            "calibrate takes either a golden set or --reset",
            hint="A golden set is a file of questions, each with a query that answers it.",
        )
    target = read_database(None, database)

    screen = Screen.open()
    chosen = settled(recipe, model, access, descriptions=descriptions)
    questions = () if golden is None else load_golden(golden)
    if not reset:
        note_destinations(screen, chosen)
    with opener(target, chosen)() as session:
        if reset:
            removed = session.calibrations.forget(recipe.recipe or "")
            screen.note(reset_line(session.calibrations.path, removed=removed), style="")
            return 0
        with TerminalBar(screen, "asking", MofNCompleteColumn()) as bar:
            fitted = calibrate(session, questions, out=out, progress=bar.show)
        kept = session.calibrations if out is None else KeptCalibrations(out, given=True)
        of_recipe = [
            own.report for own in kept.all().values() if own.report.recipe == fitted.recipe
        ]
        for report in of_recipe if session.recipe.spares_model else [fitted]:
            for line in calibrated_lines(report):
                screen.note(line, style="")
        screen.note(clean(f"kept in {kept.path}", 400), style="")
    return 0


def calibrated_lines(fitted: CalibrationReport) -> Iterator[str]:
    """A calibration that was fitted: how many questions, the error before and after."""
    whose = f"{fitted.recipe} with {fitted.model}" if not fitted.embedded else fitted.recipe
    yield clean(f"{whose}: {fitted.questions} questions answered, {fitted.right} right", 400)
    if fitted.before is not None:
        yield f"calibration error before: {figure_words(fitted.before)}"
    yield f"calibration error after, of questions left out of fitting: {figure_words(fitted.after)}"


def reset_line(path: Path | None, *, removed: bool) -> str:
    """Words on a calibration that was to be removed."""
    if removed:
        return "the calibration is removed; answers show the confidence that ships"
    return clean(f"there is no calibration in {path}", 400)
