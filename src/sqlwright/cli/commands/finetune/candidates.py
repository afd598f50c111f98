"""`sqlwright lab finetune candidates`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from sqlwright.cli.failure import UsageError
from sqlwright.cli.typed import finetuning, measuring, options

EXAMPLES = """\
sqlwright lab finetune candidates --data golden:my-questions.yaml --out mine.jsonl
sqlwright lab finetune candidates --data spider:data/spider --split fit --recipe msc \\
    -m openai/gpt-4.1-mini --budget '$0.01' --out mini.jsonl
sqlwright lab finetune candidates --data spider:data/spider --split fit --recipe msc-tuned \\
    --fold 0/2 --trained-on tuned/zero --out zero.jsonl
"""


def command(
    *,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="Where they are written (JSONL).")
    ],
    data: finetuning.Data = None,
    split: measuring.Split = None,
    no_evidence: measuring.NoEvidence = False,
    sample: measuring.Sample = "",
    by: measuring.By = "",
    seed: measuring.Seed = 0,
    recipe: options.Recipe = None,
    settings: options.Settings = None,
    model: options.Model = None,
    base_url: options.BaseUrl = None,
    budget: options.Budget = None,
    privacy: options.Privacy = None,
    remote: options.Remote = None,
    fold: Annotated[
        str,
        typer.Option(
            "--fold",
            metavar="I/N",
            help="Only questions over one fold of the databases, such as 0/2: the generator was "
            "trained on the others.",
        ),
    ] = "",
    trained_on: Annotated[
        list[Path] | None,
        typer.Option(
            "--trained-on",
            metavar="RUN",
            help="The run of 'finetune' that trained the generator; its databases are left out. "
            "Repeatable.",
        ),
    ] = None,
    name: Annotated[
        str,
        typer.Option(
            "--name", metavar="NAME", help="Name of the generator; the model's if not given."
        ),
    ] = "",
    hinted: Annotated[
        bool,
        typer.Option("--hinted", help="Show the generator the gold query (CHASE-SQL section 3.5)."),
    ] = False,
    only_without_right: Annotated[
        Path | None,
        typer.Option(
            "--only-without-right",
            metavar="FILE",
            help="Only questions for which this file of candidates has none that is right.",
        ),
    ] = None,
    limit: measuring.Limit = None,
    jobs: measuring.Jobs = 1,
    as_json: options.AsJson = False,
) -> int:
    """Write queries that critic and selector learn to choose among, by a recipe's generators.

    All steps up to the recipe's selection run; what the generators wrote is kept. Broken off, the
    same command goes on.
    """
    if len(data or ()) != 1:
        raise UsageError(
            "name one data set",
            hint="Give --data NAME:FOLDER, such as --data golden:my-questions.yaml; a file for "
            "each.",
        )
    (named,) = data or ("",)
    dataset = measuring.data_set(
        named, split=split, no_evidence=no_evidence, sample=sample, by=by, seed=seed
    )

    from sqlwright.cli.opening import note_destinations, settled
    from sqlwright.cli.terminal.console import Screen, settle_streams
    from sqlwright.cli.views.finetune.sampling import Asked, sample_candidates

    settle_streams()
    screen = Screen.open()
    chosen = settled(
        recipe=recipe,
        overrides=settings,
        llm=options.llm_flags(
            model=model, base_url=base_url, budget=budget, privacy=privacy, remote=remote
        ),
    )
    note_destinations(screen, chosen)
    asked = Asked(
        replace(dataset, examples=dataset.examples[:limit]),
        named,
        split,
        chosen,
        out,
        name=name,
        fold=fold,
        trained_on=tuple(trained_on or ()),
        hinted=hinted,
        only_without_right=only_without_right,
        workers=jobs,
    )
    sample_candidates(screen, asked, as_json=as_json)
    return 0
