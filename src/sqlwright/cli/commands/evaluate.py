"""`sqlwright evaluate`."""

from __future__ import annotations

from typing import Annotated

import typer

from sqlwright.cli.failure import UsageError
from sqlwright.cli.typed import measuring, options, running

EXAMPLES = """\
sqlwright evaluate --spider data/spider --split dev --out runs/local
sqlwright evaluate --bird data/bird --prepare --jobs 8 -m openai/gpt-4.1 --limit 100
sqlwright evaluate --spider data/spider --workers 4 --shard 2/3 --out runs/part2
"""


def command(
    *,
    spider: measuring.Spider = None,
    bird: measuring.Bird = None,
    questions: measuring.Questions = None,
    split: measuring.Split = None,
    recipe: options.Recipe = None,
    ablation: Annotated[
        str | None,
        typer.Option(
            "--ablation",
            metavar="NAME",
            help="A recipe with a list of changes; 'sqlwright ablate --list' lists them.",
        ),
    ] = None,
    settings: options.Settings = None,
    model: options.Model = None,
    base_url: options.BaseUrl = None,
    budget: options.Budget = None,
    worth: options.Worth = None,
    privacy: options.Privacy = None,
    remote: options.Remote = None,
    reasoning: options.Reasoning = None,
    no_cache: options.NoCache = False,
    record: options.Record = None,
    replay: options.Replay = None,
    no_stand_in: measuring.NoStandIn = False,
    limit: measuring.Limit = None,
    jobs: measuring.Jobs = 1,
    workers: running.Workers = None,
    executor: running.Executor = "",
    question_seconds: running.QuestionSeconds = running.QUESTION_SECONDS,
    shard: running.OneShard = None,
    traces: running.Traces = False,
    databases: running.Databases = "",
    prepare: measuring.Prepare = False,
    out: Annotated[
        str | None,
        typer.Option(
            "--out", "-o", metavar="FOLDER", help="Run folder, or a URL; a temporary one if none."
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run that the folder holds.")
    ] = False,
    allow_code: options.AllowCode = False,
    as_json: options.AsJson = False,
) -> int:
    """Measure a recipe on a benchmark: accuracy, calibration, time.

    Interrupt it whenever you like: with --out and --resume it goes on where it was.
    """
    if recipe is not None and ablation is not None:
        raise UsageError(
            "--ablation names a recipe and its changes", hint="Leave out --recipe, or --ablation."
        )
    dataset = measuring.data_set(spider, bird, questions, split)

    from sqlwright.cli.opening import note_destinations, settled
    from sqlwright.cli.terminal.console import Screen, settle_streams
    from sqlwright.cli.views.evaluate import measure
    from sqlwright.evaluation.run import EvaluationSettings
    from sqlwright.recipes.ablation_lists import find_ablation

    settle_streams()
    screen = Screen.open()
    named = None if ablation is None else find_ablation(ablation)
    chosen = settled(
        recipe=named.recipe if named else recipe,
        overrides=(*named.overrides, *(settings or ())) if named else settings,
        llm=options.llm_flags(
            model=model,
            base_url=base_url,
            budget=budget,
            worth=worth,
            privacy=privacy,
            remote=remote,
            reasoning=reasoning,
            no_cache=no_cache,
            record=record,
            replay=replay,
        ),
    )
    note_destinations(screen, chosen, allow_code=allow_code)
    return measure(
        screen,
        dataset,
        EvaluationSettings(
            recipe=chosen.recipe,
            overrides=chosen.overrides,
            allow_code=allow_code,
            limit=limit,
            llm=chosen.llm,
            home=chosen.home,
            prepare=prepare,
            jobs=jobs,
            ablation=ablation or "",
            stand_in=not no_stand_in,
            shard=running.one_shard(shard),
            traces=traces,
            databases=databases,
            **running.executing(workers, executor, question_seconds),
        ),
        folder=running.folder(out, resume=resume),
        as_json=as_json,
    )
