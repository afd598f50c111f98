"""`sqlwright evaluate`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sqlwright.cli.failure import UsageError
from sqlwright.cli.typed import gating, measuring, options, running

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
    data: measuring.Data = None,
    database: measuring.Database = None,
    questions: measuring.Questions = None,
    split: measuring.Split = None,
    no_evidence: measuring.NoEvidence = False,
    sample: measuring.Sample = "",
    by: measuring.By = "",
    seed: measuring.Seed = 0,
    db_ids: measuring.DbIds = None,
    recipe: options.Recipe = None,
    ablation: Annotated[
        str | None,
        typer.Option(
            "--ablation",
            metavar="NAME",
            help="A recipe with a list of changes; 'sqlwright lab ablate --list' lists them.",
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
    tables: options.Tables = None,
    functions: options.Functions = None,
    max_scan: options.MaxScan = None,
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
    fail_under: gating.FailUnder = None,
    baseline: gating.BaselineFile = None,
    allow_lost: gating.AllowLost = None,
    write_baseline: gating.WriteBaseline = None,
    junit: gating.JUnit = None,
    allow_code: options.AllowCode = False,
    as_json: options.AsJson = False,
) -> int:
    """Measure a recipe on a benchmark or on questions of your own: accuracy, calibration, time.

    Interrupt it whenever you like: with --out and --resume it goes on where it was. --fail-under,
    --baseline and --junit make it a check in CI.
    """
    folder = running.folder(out, resume=resume)
    dataset = measuring.data_set(
        data, golden=golden, database=database, questions=questions, split=split,
        sample=sample, by=by, seed=seed, db_ids=db_ids, no_evidence=no_evidence,
    )  # fmt: skip

    from sqlwright.cli.terminal.console import Screen, settle_streams
    from sqlwright.cli.views.evaluate import measure
    from sqlwright.cli.views.golden import Checks
    from sqlwright.lab.evaluation.metrics.metric import find_metric
    from sqlwright.lab.evaluation.run import EvaluationSettings

    for name in metrics or ():
        find_metric(name)  # before anything is prepared or asked
    settle_streams()
    screen = Screen.open()
    given = gating.Gating(fail_under, baseline, allow_lost, write_baseline, junit)
    flags = options.llm_flags(
        model=model, base_url=base_url, budget=budget, worth=worth, privacy=privacy, remote=remote,
        reasoning=reasoning, no_cache=no_cache, record=record, replay=replay,
    )  # fmt: skip
    limits = {"max_scan": max_scan, "tables": tables, "functions": functions}
    chosen = _chosen(recipe, ablation, settings, flags, limits, allow_code=allow_code)
    measuring.note_left_out(screen, dataset)
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
            scan=chosen.max_scan,
            allowed=chosen.allowed,
            jobs=jobs,
            metrics=tuple(metrics or ()),
            ablation=ablation or "",
            stand_in=not no_stand_in,
            shard=running.one_shard(shard),
            traces=traces,
            databases=databases,
            **running.executing(workers, executor, question_seconds),
        ),
        folder=folder,
        checks=Checks.of(given, dataset, limit, folder, part=shard is not None),
        as_json=as_json,
    )


def _chosen(
    recipe: str | None,
    ablation: str | None,
    overrides: list[str] | None,
    flags: Mapping[str, Any],
    limits: Mapping[str, Any],
    *,
    allow_code: bool,
) -> Settings:
    """The settings of the run, with a note where prompts go elsewhere; changes of an ablation come
    before others. Raises UsageError where both a recipe and an ablation are named, and
    ConfigError."""
    from sqlwright.cli.opening import note_destinations, settled
    from sqlwright.cli.terminal.console import Screen
    from sqlwright.recipes.ablation_lists import find_ablation

    if ablation is not None and recipe is not None:
        raise UsageError(
            "--ablation names a recipe and its changes", hint="Leave out --recipe, or --ablation."
        )
    if ablation is not None:
        named = find_ablation(ablation)
        recipe, overrides = named.recipe, [*named.overrides, *(overrides or ())]
    chosen = settled(recipe=recipe, overrides=overrides, llm=flags, **limits)
    note_destinations(Screen.open(), chosen, allow_code=allow_code)
    return chosen
