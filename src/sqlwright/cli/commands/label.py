"""`sqlwright label`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sqlwright.cli.failure import UsageError
from sqlwright.cli.typed import options
from sqlwright.presentation.answer import readable

EXAMPLES = """\
sqlwright label runs/dev
sqlwright label runs/dev --only column --sample 20
sqlwright label runs/dev --by kim < labels.txt
sqlwright label runs/dev --report
"""


def command(
    *,
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of an evaluated run.")],
    only: Annotated[
        str, typer.Option("--only", metavar="CLASS", help="Wrong answers that code gives it to.")
    ] = "",
    sample: Annotated[
        int | None,
        typer.Option("--sample", metavar="N", parser=options.count, help="So many, by chance."),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", help="Of the sample; the same for everybody.")
    ] = 0,
    by: Annotated[
        str, typer.Option("--by", metavar="NAME", help="Who labels; the user's name unless given.")
    ] = "",
    report: Annotated[
        bool, typer.Option("--report", help="Show what was labelled, and label nothing.")
    ] = False,
    as_json: options.AsJson = False,
) -> int:
    """Say what is wrong with an evaluated run's wrong answers, one key each.

    It goes on where you were. Piped in, labels are one a line, in the order shown. They are kept
    beside the run, and its report counts them; --json prints what is left, and the figures.
    """
    from sqlwright.cli.terminal.console import Screen, settle_streams
    from sqlwright.cli.views.label.work import Labelling, labelled_run, show_figures
    from sqlwright.lab.evaluation.error_classes.classes import LABELS

    settle_streams()
    if only and only not in LABELS:
        raise UsageError(
            f"{readable(only)!r} is no class of errors", hint=f"There are {', '.join(LABELS)}."
        )
    screen = Screen.open()
    chosen = labelled_run(run, only=only, sample=sample, seed=seed, by=readable(by).strip())
    if as_json or report:
        show_figures(screen, chosen, as_json=as_json)
        return 0
    return Labelling(screen, chosen).work()
