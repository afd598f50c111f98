"""`sqlwright lab finetune merge`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sqlwright.cli.commands.finetune.checks import check_room
from sqlwright.cli.failure import UsageError
from sqlwright.cli.terminal.console import Screen
from sqlwright.cli.terminal.progress import Spinner
from sqlwright.cli.terminal.text import clean
from sqlwright.errors import DatasetError
from sqlwright.lab.evaluation.files import read_object
from sqlwright.llm.vendors.weights_folder import check_weights, weight_bytes

SPARE = 1.2
"""Times the weights that a merged model takes on the disk."""

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

    merge_run(Screen.open(), run, out, model)
    return 0


def merge_run(screen: Screen, run: Path, out: Path, model: Path | None) -> None:
    """Merge the adapter of a run. Raises DatasetError, ConfigError and WorkspaceError."""
    folder = run if (run / "run.json").is_file() else run / "run"
    record = read_object(folder / "run.json")
    if not record:
        raise DatasetError(
            f"{run} holds no run: it has no run.json",
            hint="Name the folder that 'sqlwright lab finetune ROLE' trained in.",
        )
    adapter = folder / "adapter"
    if not adapter.is_dir():
        raise DatasetError(
            f"{folder} has no adapter yet", hint="Finish the training by the same command first."
        )
    whole = model or Path(str(record.get("base_folder") or ""))
    from sqlwright.lab.finetuning.trainer.loading import check_packages

    check_packages()
    check_weights(whole, "the base model")
    check_room(out, int(weight_bytes(whole) * SPARE))

    from sqlwright.lab.finetuning.trainer.merging import merge

    with Spinner(screen, "merging the adapter into the model"):
        merge(adapter, whole, out)
    shown = clean(str(out), 400)
    screen.note(f"the whole model is in {shown}; name it as weights/{shown}, or serve it", style="")
