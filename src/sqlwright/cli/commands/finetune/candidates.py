"""`sqlwright lab finetune candidates`."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from sqlwright import api
from sqlwright.boundary.text import counted, to_json
from sqlwright.cli.opening import note_destinations, settled
from sqlwright.cli.terminal.console import Screen, write_result
from sqlwright.cli.terminal.interrupt import noted_interrupt
from sqlwright.cli.terminal.layout import labelled
from sqlwright.cli.terminal.progress import Spinner, Telling
from sqlwright.cli.terminal.text import clean
from sqlwright.cli.typed import measuring, options
from sqlwright.lab.datasets.example import Example
from sqlwright.lab.finetuning.candidates.generators import trained_databases
from sqlwright.lab.finetuning.candidates.sampling import SamplingPlan, sample
from sqlwright.local.models import EmbeddedModels
from sqlwright.recipes.loading import load_recipe
from sqlwright.session import Session
from sqlwright.settings.values import Settings

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
    questions: measuring.QuestionOptions,
    recipe: options.RecipeOptions,
    model: options.ModelOptions,
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
    jobs: measuring.Jobs = 1,
    as_json: options.AsJson = False,
) -> int:
    """Write queries that critic and selector learn to choose among, by a recipe's generators.

    All steps up to the recipe's selection run; what the generators wrote is kept. Broken off, the
    same command goes on.
    """
    dataset = questions.dataset()

    screen = Screen.open()
    chosen = settled(recipe, model)
    note_destinations(screen, chosen)
    chosen_recipe = load_recipe(chosen.recipe, overrides=chosen.overrides)
    seen = [trained_databases(run) for run in trained_on or ()]
    data = (questions.data or [""])[0]
    plan = SamplingPlan(
        dataset=replace(dataset, examples=dataset.examples[: questions.limit]),
        recipe=chosen_recipe,
        model=name or (chosen.llm.model or "" if chosen_recipe.asks else ""),
        out=out,
        overrides=tuple(chosen.overrides),
        trained_on=frozenset().union(*seen) if seen else None,
        fold=fold,
        hinted=hinted,
        only_without_right=only_without_right,
        source={"data": data, "split": questions.split, "files": dict(dataset.files)},
        workers=jobs,
    )
    sample_candidates(screen, plan, chosen, as_json=as_json)
    return 0


def sample_candidates(
    screen: Screen, plan: SamplingPlan, settings: Settings, *, as_json: bool
) -> None:
    """Write the candidates, show how many."""
    models = EmbeddedModels()

    def opened(example: Example) -> Session:
        return api.open(
            example.database,
            recipe=settings.recipe,
            overrides=settings.overrides,
            descriptions=plan.dataset.descriptions.get(example.db_id),
            limits=settings.limits,
            seconds=settings.seconds,
            home=settings.home,
            prepare=settings.prepare,
            llm=settings.llm,
            models=models,
            stand_in=False,
            record=False,
        )

    with noted_interrupt(screen), Spinner(screen, "loading the models") as spinner:
        report = sample(plan, opened, progress=Telling(screen, spinner).questions)
    for line in report.unopened:
        screen.warn(line)
    if as_json:
        header = plan.header.model_dump(mode="json", exclude={"folded", "trained_on"})
        data = {"out": str(plan.out), **header, **asdict(report)}
        write_result(to_json(data, indent=2) + "\n")
        return
    told = f"{counted(report.candidates, 'query')} written".replace("querys", "queries")
    lines = [f"{told}; {counted(report.questions, 'question')} in {clean(str(plan.out), 400)}"]
    if report.passed_over:
        lines.append(f"{counted(report.passed_over, 'question')} passed over")
    screen.show(labelled("candidates", [Text(line) for line in lines], screen.width))
