"""`sqlwright lab merge-runs`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sqlwright.cli.typed import options

EXAMPLES = """\
sqlwright lab merge-runs runs/whole runs/part1 runs/part2 runs/part3
"""


def command(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="A folder for the whole run.")],
    parts: Annotated[
        list[Path], typer.Argument(metavar="PART...", help="The folders of all its shards.")
    ],
    *,
    as_json: options.AsJson = False,
) -> int:
    """Put the shards of a run together, as if it had been made at once.

    Parts of different runs, questions that two parts have and questions that none has are refused.
    """
    from sqlwright.boundary.text import to_json
    from sqlwright.cli.commands.evaluate import summary_lines
    from sqlwright.cli.terminal.console import Screen, write_result
    from sqlwright.cli.terminal.text import clean
    from sqlwright.cli.typed import measuring
    from sqlwright.cli.views.answer import DisplayOptions
    from sqlwright.lab.evaluation.folder.merging import merge_runs

    screen = Screen.open()
    summary = merge_runs(parts, measuring.check_folder(out, resume=False))
    if as_json:
        write_result(to_json(summary, indent=2) + "\n")
        return 0
    screen.show(summary_lines(summary, DisplayOptions.of(screen)))
    screen.note(f"kept in {clean(str(out), 400)}")
    return 0
