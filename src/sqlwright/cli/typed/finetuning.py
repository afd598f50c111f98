"""Options of `sqlwright lab finetune` that several of its commands share."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from sqlwright.cli.failure import UsageError
from sqlwright.cli.typed import gating, measuring, options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlwright.lab.datasets.example import Dataset


def positive(text: str | float) -> float:
    """A number above 0 from the command line. Raises typer.BadParameter."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise typer.BadParameter(f"it takes a number above 0, not {str(text)[:40]!r}")
    return value


def amount(text: str | float) -> float:
    """A number, 0 included, from the command line. Raises typer.BadParameter."""
    return 0.0 if str(text).strip() in {"0", "0.0"} else positive(text)


Data = Annotated[
    list[str] | None,
    typer.Option(
        "--data",
        metavar="NAME:FOLDER",
        help="A data set to train on: spider, bird and others, golden:FILE for your own, "
        "traces:FOLDER for answers that were judged. Repeatable.",
    ),
]
Splits = Annotated[
    list[str] | None,
    typer.Option(
        "--split",
        metavar="NAME",
        help="A part of it, as in evaluate: once for all, or once for each --data.",
    ),
]
HeldOut = Annotated[
    list[str] | None,
    typer.Option(
        "--held-out",
        metavar="NAME:FOLDER",
        help="A data set that measures later: training on its databases or questions is refused. "
        "Repeatable.",
    ),
]
Model = Annotated[
    Path | None,
    typer.Option(
        "--model",
        "-m",
        metavar="FOLDER",
        help="The model to train, as transformers saves it. Nothing is downloaded.",
    ),
]
Out = Annotated[
    Path,
    typer.Option(
        "--out", "-o", metavar="FOLDER", help="Where the set (set/) and the run (run/) are kept."
    ),
]
Candidates = Annotated[
    list[Path] | None,
    typer.Option(
        "--candidates",
        metavar="FILE",
        help="Queries that 'finetune candidates' wrote, for critic and selector. Repeatable.",
    ),
]
Preset = Annotated[
    str | None,
    typer.Option(
        "--preset",
        metavar="NAME",
        help="Settings to begin with: small (ours), msc, chess, chase-selector and others.",
    ),
]
Objective = Annotated[
    Literal["sft", "dpo", "grpo"],
    typer.Option(
        "--objective",
        help="sft: right replies; dpo: preferences; grpo: rewards by execution.",
    ),
]
Rank = Annotated[
    int | None,
    typer.Option("--rank", metavar="N", parser=options.count, help="Rank of the adapter."),
]
Alpha = Annotated[
    int | None,
    typer.Option("--alpha", metavar="N", parser=options.count, help="LoRA's alpha."),
]
Epochs = Annotated[
    float | None,
    typer.Option("--epochs", metavar="N", parser=positive, help="Times through the set."),
]
Batch = Annotated[
    int | None,
    typer.Option(
        "--batch", metavar="N", parser=options.count, help="Examples for each step, on all GPUs."
    ),
]
MicroBatch = Annotated[
    int | None,
    typer.Option(
        "--micro-batch", metavar="N", parser=options.count, help="Examples on a GPU at once."
    ),
]
LearningRate = Annotated[
    float | None,
    typer.Option("--learning-rate", metavar="RATE", parser=positive, help="Such as 1e-4."),
]
Quantized = Annotated[
    Literal["none", "nf4"] | None,
    typer.Option("--quantized", help="nf4 keeps the base model in 4 bits (QLoRA); takes a GPU."),
]
Precision = Annotated[
    Literal["auto", "bf16", "fp16", "fp32"],
    typer.Option("--precision", help="Of numbers in training; auto is bf16 where the GPU has it."),
]
Device = Annotated[
    Literal["auto", "cpu", "cuda"],
    typer.Option("--device", help="Where it is trained; auto is a GPU where there is one."),
]
EvaluateQuestions = Annotated[
    int,
    typer.Option(
        "--evaluate",
        metavar="N",
        parser=gating.number,
        help="Held-out examples that are answered at the end; 0 for none.",
    ),
]
CheckpointMinutes = Annotated[
    float,
    typer.Option(
        "--checkpoint-minutes",
        metavar="N",
        parser=positive,
        help="Minutes between two checkpoints at most.",
    ),
]
Start = Annotated[
    Path | None,
    typer.Option(
        "--start",
        metavar="RUN",
        help="A run, or an adapter, that training begins with; for dpo and grpo the sft run.",
    ),
]
Beta = Annotated[
    float | None,
    typer.Option(
        "--beta", metavar="N", parser=positive, help="dpo: how much leaving the start counts."
    ),
]
Group = Annotated[
    int | None,
    typer.Option(
        "--group", metavar="N", parser=options.count, help="grpo: replies to each prompt."
    ),
]
Kl = Annotated[
    float | None,
    typer.Option("--kl", metavar="N", parser=amount, help="grpo: how much leaving it counts."),
]
ReplyTokens = Annotated[
    int | None,
    typer.Option(
        "--reply-tokens", metavar="N", parser=options.count, help="grpo: of a reply at most."
    ),
]
Context = Annotated[
    int,
    typer.Option(
        "--context",
        metavar="N",
        parser=options.count,
        help="Tokens that the model reads; prompts are fitted to it.",
    ),
]
RoleOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="NAME=VALUE",
        help="An option of the role, such as orders=both of the selector. Repeatable.",
    ),
]
BuildOnly = Annotated[
    bool, typer.Option("--build-only", help="Stop once the set is built; needs no model, no GPU.")
]
Without = Annotated[
    str | None,
    typer.Option(
        "--without", metavar="A,B", help="Databases that are left out, commas between them."
    ),
]


def data_sets(
    data: Sequence[str] | None, *, splits: Sequence[str] | None = None
) -> list[tuple[str, str | None, Dataset]]:
    """Each data set that the options name, with the name it was given and its split. Raises
    UsageError, ConfigError and DatasetError."""
    named, parts = list(data or ()), list(splits or ())
    if not named:
        raise UsageError(
            "name what to train on",
            hint="Give --data NAME:FOLDER, such as --data spider:data/spider, or --data "
            "golden:my-questions.yaml.",
        )
    if len(parts) not in {0, 1, len(named)}:
        raise UsageError(
            f"{len(parts)} splits are named for {len(named)} data sets",
            hint="Give --split once for all, or once for each --data, in the same order.",
        )
    each: list[str | None] = [None] * len(named)
    if parts:
        each = [*parts] if len(parts) == len(named) else [parts[0]] * len(named)
    found = [
        (name, split, measuring.data_set(name, split=split))
        for name, split in zip(named, each, strict=True)
    ]
    return _told_apart(found)


def _told_apart(
    found: Sequence[tuple[str, str | None, Dataset]],
) -> list[tuple[str, str | None, Dataset]]:
    """The same, with the loader's name in front of a name that several have: `train` of BIRD and
    of Spider-Syn."""
    names = [dataset.name for _, _, dataset in found]
    return [
        (name, split, dataset)
        if names.count(dataset.name) == 1
        else (name, split, replace(dataset, name=f"{name.partition(':')[0]}-{dataset.name}"))
        for name, split, dataset in found
    ]
