"""`sqlwright lab finetune estimate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sqlwright.cli.failure import UsageError
from sqlwright.cli.typed import finetuning, options

EXAMPLES = """\
sqlwright lab finetune estimate tuned/set --model 7B
sqlwright lab finetune estimate tuned/set --model models/qwen-3b --gpu H100 --price 2.50
sqlwright lab finetune estimate tuned/set --model 32B --preset chess --gpu A100 --gpus 8 --json
"""


def command(
    *,
    folder: Annotated[
        Path,
        typer.Argument(metavar="SET", help="A set's folder, or the --out folder it was built in."),
    ],
    model: Annotated[
        str,
        typer.Option(
            "--model",
            "-m",
            metavar="FOLDER|SIZE",
            help="A model's folder (config.json and tokenizer.json are read), or 3B, 7B or 32B.",
        ),
    ],
    preset: finetuning.Preset = None,
    method: finetuning.Method = None,
    rank: finetuning.Rank = None,
    epochs: finetuning.Epochs = None,
    objective: finetuning.Objective = "sft",
    each: Annotated[
        int,
        typer.Option(
            "--each", metavar="N", parser=options.count, help="Texts on a GPU at once, for memory."
        ),
    ] = 1,
    keep: Annotated[
        bool,
        typer.Option(
            "--keep-activations", help="Don't recompute activations: faster, takes more memory."
        ),
    ] = False,
    gpu: Annotated[
        str | None,
        typer.Option("--gpu", metavar="NAME", help="A100, H100, L40S or RTX4090; all if none."),
    ] = None,
    gpus: Annotated[
        int | None,
        typer.Option(
            "--gpus", metavar="N", parser=options.count, help="How many; one and eight if none."
        ),
    ] = None,
    price: Annotated[
        float | None,
        typer.Option(
            "--price", metavar="DOLLARS", help="US dollars for a GPU and hour; with --gpu."
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> int:
    """Estimate the time, memory and price of training on a set, before anything is loaded.

    Tokens are counted; hours follow from the operations they take and from the rates at which
    others saw GPUs train. Nothing of it is measured here, so it is a range.
    """
    if price is not None and (gpu is None or not 0 <= price < 1e6):
        raise UsageError(
            "--price is what one kind of GPU costs by the hour",
            hint="Name the GPU, too: --gpu H100 --price 2.50.",
        )

    from sqlwright.cli.terminal.console import Screen, settle_streams
    from sqlwright.cli.views.finetune.estimated import show_estimates
    from sqlwright.lab.finetuning.estimating.planning import estimates, passes_of

    settle_streams()
    passes, usual = passes_of(preset, method, rank, recomputed=not keep)
    found = estimates(
        folder,
        model,
        passes=passes,
        epochs=epochs or usual,
        objective=objective,
        each=each,
        gpu=gpu,
        gpus=gpus,
        price=price,
    )
    show_estimates(Screen.open(), folder, found, as_json=as_json)
    return 0
