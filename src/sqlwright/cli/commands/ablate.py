"""`sqlwright lab ablate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sqlwright.cli.failure import UsageError
from sqlwright.cli.typed import measuring, options, running

EXAMPLES = """\
sqlwright lab ablate --list
sqlwright lab ablate without-revise --data bird:data/bird -m openai/gpt-4.1 -o runs/table4
sqlwright lab ablate --all --data bird:data/bird --prepare --jobs 8 -m vllm/qwen3 --out runs/chess
"""


def command(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Ablations, or recipes as they are."),
    ] = None,
    *,
    every: Annotated[bool, typer.Option("--all", help="All ablations that ship.")] = False,
    listing: Annotated[
        bool, typer.Option("--list", help="Say what there is, and ask nothing.")
    ] = False,
    data: measuring.Data = None,
    database: measuring.Database = None,
    questions: measuring.Questions = None,
    split: measuring.Split = None,
    no_evidence: measuring.NoEvidence = False,
    sample: measuring.Sample = "",
    by: measuring.By = "",
    seed: measuring.Seed = 0,
    db_ids: measuring.DbIds = None,
    settings: options.Settings = None,
    model: options.Model = None,
    base_url: options.BaseUrl = None,
    budget: options.Budget = None,
    privacy: options.Privacy = None,
    remote: options.Remote = None,
    reasoning: options.Reasoning = None,
    no_cache: options.NoCache = False,
    no_stand_in: measuring.NoStandIn = False,
    limit: measuring.Limit = None,
    jobs: measuring.Jobs = 1,
    workers: running.Workers = None,
    executor: running.Executor = "",
    prepare: measuring.Prepare = False,
    max_scan: options.MaxScan = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FOLDER", help="A folder in it for each of them."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the runs that the folder holds.")
    ] = False,
    as_json: options.AsJson = False,
) -> int:
    """Measure ablations of a recipe on a benchmark, and compare them question by question.

    What each is compared with is measured, too. Every --set changes all of them.
    """
    from sqlwright.cli.terminal.console import Screen, settle_streams
    from sqlwright.recipes.ablation_lists import ablations, with_compared

    settle_streams()
    screen = Screen.open()
    if listing:
        from sqlwright.cli.views.ablate import show_ablations

        return show_ablations(screen, as_json=as_json)
    chosen_names = [*ablations()] if every else [*(names or ())]
    with_compared(chosen_names)
    if out is None:
        raise UsageError("the runs need a folder", hint="Name it with --out.")
    dataset = measuring.data_set(
        data, database=database, questions=questions, split=split, sample=sample, by=by,
        seed=seed, db_ids=db_ids, no_evidence=no_evidence,
    )  # fmt: skip

    from sqlwright.cli.opening import note_destinations, settled
    from sqlwright.cli.views.ablate import compare
    from sqlwright.lab.evaluation.run import EvaluationSettings

    chosen = settled(
        overrides=settings,
        max_scan=max_scan,
        llm=options.llm_flags(
            model=model,
            base_url=base_url,
            budget=budget,
            privacy=privacy,
            remote=remote,
            reasoning=reasoning,
            no_cache=no_cache,
        ),
    )
    note_destinations(screen, chosen)
    measuring.note_left_out(screen, dataset)
    return compare(
        screen,
        dataset,
        chosen_names,
        EvaluationSettings(
            overrides=settings or (),
            limit=limit,
            llm=chosen.llm,
            home=chosen.home,
            prepare=prepare,
            scan=chosen.max_scan,
            allowed=chosen.allowed,
            jobs=jobs,
            stand_in=not no_stand_in,
            **running.executing(workers, executor, running.QUESTION_SECONDS),
        ),
        folder=measuring.check_folder(out, resume=resume),
        as_json=as_json,
    )
