"""`sqlwright demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

EXAMPLES = """\
sqlwright demo
sqlwright demo --all
sqlwright demo --save shop.sqlite
sqlwright demo --engine duckdb
"""


def command(
    *,
    everything: Annotated[
        bool, typer.Option("--all", help="Show all thirty questions, one line each.")
    ] = False,
    save: Annotated[
        Path | None,
        typer.Option(
            "--save",
            metavar="FILE",
            help="Only write the business's database to a file, for questions of your own.",
        ),
    ] = None,
    engine: Annotated[
        Literal["sqlite", "duckdb"],
        typer.Option("--engine", help="The engine that the business is loaded into."),
    ] = "sqlite",
    recipe: Annotated[
        str | None,
        typer.Option("--recipe", "-r", metavar="NAME", help="Recipe to answer with."),
    ] = None,
) -> int:
    """See it answer thirty questions about a made-up business.

    Five are answered in full; all thirty are scored against known answers.
    """
    from sqlwright.cli.terminal.console import Screen
    from sqlwright.cli.views.demo import run_demo, save_business

    if save is not None:
        return save_business(Screen.open(), save, engine)
    return run_demo(Screen.open(), recipe=recipe, everything=everything, engine=engine)
