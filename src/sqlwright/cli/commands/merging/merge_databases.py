"""`sqlwright lab merge-databases`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sqlwright.cli.typed import measuring, options

EXAMPLES = """\
sqlwright lab merge-databases merged --data bird:data/bird --columns 4337
sqlwright evaluate --data bird:merged --prepare --out runs/merged
"""


def command(
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="Folder for the merged data set; not there yet.")
    ],
    *,
    data: measuring.Data = None,
    questions: measuring.Questions = None,
    split: measuring.Split = None,
    columns: Annotated[
        int | None,
        typer.Option(
            "--columns",
            metavar="N",
            parser=options.count,
            help="Merge databases, drawn by seed, until there are so many columns; else all.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Seed of their order.")] = 0,
    prefix: Annotated[
        bool,
        typer.Option("--prefix", help="Name every table DATABASE_TABLE, not only where it must."),
    ] = False,
) -> int:
    """Merge the databases of a data set into one, with rows, and keep the questions.

    Gold queries are rewritten to the merged tables and run on both sides; a question whose query
    gives other rows there is left out. The folder is in BIRD's and in Spider's layout.
    """
    dataset = measuring.data_set(data, questions=questions, split=split)

    from sqlwright.cli.terminal.console import Screen, settle_streams
    from sqlwright.cli.terminal.progress import Spinner
    from sqlwright.cli.terminal.text import clean
    from sqlwright.lab.datasets.merging import merge
    from sqlwright.presentation.numbers import counted

    settle_streams()
    screen = Screen.open()
    measuring.note_left_out(screen, dataset)
    with Spinner(screen, "merging"):
        merged = merge(dataset, out, columns=columns, seed=seed, prefix=prefix)
    for line in merged.left_out:
        screen.note(clean(line, 400), style="warning")
    screen.note(
        f"{counted(merged.databases, 'database')}, {counted(merged.tables, 'table')}, "
        f"{counted(merged.columns, 'column')}, {counted(merged.questions, 'question')} "
        f"in {clean(str(merged.folder), 400)}"
    )
    return 0
