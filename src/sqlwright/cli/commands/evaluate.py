"""`sqlwright evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sqlwright.cli.failure import UsageError
from sqlwright.cli.typed import measuring, options

if TYPE_CHECKING:
    from sqlwright.settings.values import Settings

EXAMPLES = """\
sqlwright evaluate --data spider:data/spider --split dev --out runs/local
sqlwright evaluate --data bird:data/bird --prepare --jobs 8 -m openai/gpt-4.1 --limit 100
sqlwright evaluate --data spider:data/spider --workers 4 --shard 2/3 --out runs/part2
sqlwright evaluate my-questions.yaml --database shop.sqlite
sqlwright evaluate my-questions.yaml --fail-under 0.9 --baseline last.json --junit junit.xml
"""


def command(
    golden: Annotated[
        Path | None,
        typer.Argument(
            metavar="[GOLDEN_SET]",
            help="Your own questions with what answers them: YAML, JSON, JSONL or CSV.",
        ),
    ] = None,
    *,
    questions: measuring.QuestionOptions,
    recipe: options.RecipeOptions,
    ablation: Annotated[
        str | None,
        typer.Option(
            "--ablation",
            metavar="NAME",
            help="A recipe with a list of changes; 'sqlwright lab ablate --list' lists them.",
        ),
    ] = None,
    model: options.ModelOptions,
    access: options.AccessOptions,
    running: measuring.RunningOptions,
    shard: Annotated[
        str | None,
        typer.Option(
            "--shard",
            metavar="I/N",
            help="Ask one of N parts, counted from 1; 'sqlwright lab merge-runs' puts them "
            "together.",
        ),
    ] = None,
    traces: Annotated[
        bool, typer.Option("--traces", help="Keep the trace of each question in the run folder.")
    ] = False,
    databases: Annotated[
        str,
        typer.Option(
            "--databases",
            metavar="URL",
            help="Where the databases are, if not with the questions: a folder, or "
            "s3://bucket/name.",
        ),
    ] = "",
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            metavar="NAME",
            help="A metric besides the usual ones: ves, r_ves, or one of a package. Repeatable.",
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out", "-o", metavar="FOLDER", help="Run folder, or a URL; a temporary one if none."
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run that the folder holds.")
    ] = False,
    gate: measuring.GateOptions,
    allow_code: options.AllowCode = False,
    as_json: options.AsJson = False,
) -> int:
    """Measure a recipe on a benchmark or on questions of your own: accuracy, calibration, time.

    Interrupt it whenever you like: with --out and --resume it goes on where it was. --fail-under,
    --baseline and --junit make it a check in CI.
    """
    folder = measuring.folder(out, resume=resume)
    dataset = questions.dataset(golden)

    from sqlwright.cli.terminal.console import Screen
    from sqlwright.cli.views.evaluate import measure
    from sqlwright.cli.views.golden import Checks
    from sqlwright.lab.evaluation.metrics.metric import find_metric

    for name in metrics or ():
        find_metric(name)  # before anything is prepared or asked
    screen = Screen.open()
    chosen = _chosen(recipe, ablation, model, access, allow_code=allow_code)
    measuring.note_left_out(screen, dataset)
    return measure(
        screen,
        dataset,
        running.settings(
            chosen,
            questions,
            recipe=chosen.recipe,
            overrides=chosen.overrides,
            allow_code=allow_code,
            metrics=tuple(metrics or ()),
            ablation=ablation or "",
            shard=measuring.one_shard(shard),
            traces=traces,
            databases=databases,
        ),
        folder=folder,
        checks=Checks.of(gate, dataset, questions.limit, folder, part=shard is not None),
        as_json=as_json,
    )


def _chosen(
    recipe: options.RecipeOptions,
    ablation: str | None,
    model: options.ModelOptions,
    access: options.AccessOptions,
    *,
    allow_code: bool,
) -> Settings:
    """The settings of the run, with a note where prompts go elsewhere; changes of an ablation come
    before others. Raises UsageError where both a recipe and an ablation are named, and
    ConfigError."""
    from sqlwright.cli.opening import note_destinations, settled
    from sqlwright.cli.terminal.console import Screen
    from sqlwright.recipes.ablation_lists import find_ablation

    if ablation is not None and recipe.recipe is not None:
        raise UsageError(
            "--ablation names a recipe and its changes", hint="Leave out --recipe, or --ablation."
        )
    if ablation is not None:
        named = find_ablation(ablation)
        changes = [*named.overrides, *(recipe.overrides or ())]
        recipe = options.RecipeOptions(named.recipe, changes)
    chosen = settled(recipe, model, access)
    note_destinations(Screen.open(), chosen, allow_code=allow_code)
    return chosen
