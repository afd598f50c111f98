"""`sqlwright lab ablate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sqlwright.cli.failure import UsageError
from sqlwright.cli.typed import measuring, options

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
    questions: measuring.QuestionOptions,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a setting of all. Repeatable."),
    ] = None,
    model: options.ModelOptions,
    access: options.AccessOptions,
    running: measuring.RunningOptions,
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
    from sqlwright.cli.terminal.console import Screen
    from sqlwright.recipes.ablation_lists import ablations, with_compared

    screen = Screen.open()
    if listing:
        from sqlwright.cli.views.ablate import show_ablations

        return show_ablations(screen, as_json=as_json)
    chosen_names = [*ablations()] if every else [*(names or ())]
    with_compared(chosen_names)
    if out is None:
        raise UsageError("the runs need a folder", hint="Name it with --out.")
    dataset = questions.dataset()

    from sqlwright.cli.opening import note_destinations, settled
    from sqlwright.cli.views.ablate import compare

    chosen = settled(model, access, overrides=settings)
    note_destinations(screen, chosen)
    measuring.note_left_out(screen, dataset)
    return compare(
        screen,
        dataset,
        chosen_names,
        running.settings(chosen, questions, overrides=settings or ()),
        folder=measuring.check_folder(out, resume=resume),
        as_json=as_json,
    )
