"""`sqlwright lab finetune merge`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sqlwright.cli.failure import UsageError
from sqlwright.cli.terminal.text import clean

EXAMPLES = """\
sqlwright lab finetune merge tuned/run --out models/qwen-3b-selector
"""


def command(
    *,
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN", help="A run's folder, or the --out folder it was trained in."
        ),
    ],
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="FOLDER", help="Where the whole model is written."),
    ],
    model: Annotated[
        Path | None,
        typer.Option(
            "--model",
            "-m",
            metavar="FOLDER",
            help="The base model, if it isn't where it was trained from.",
        ),
    ] = None,
) -> int:
    """Write the base model with the adapter in it, for servers that take no adapters.

    It takes the memory of the base model in 16 bits. The base model's folder is left as it is.
    """
    if out.is_dir() and any(out.iterdir()):
        raise UsageError(
            f"{clean(str(out), 400)} isn't empty", hint="Name a new folder with --out."
        )

    from sqlwright.cli.terminal.console import Screen, settle_streams
    from sqlwright.cli.views.finetune.merging import merge_run

    settle_streams()
    merge_run(Screen.open(), run, out, model)
    return 0
