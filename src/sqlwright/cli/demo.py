"""`sqlwright demo`."""

from __future__ import annotations

from typing import Annotated

import typer

from sqlwright.cli import options

EXAMPLES = """\
sqlwright demo
sqlwright demo --all
"""


def command(
    *,
    everything: Annotated[
        bool, typer.Option("--all", help="Show all thirty questions, one line each.")
    ] = False,
    recipe: options.Recipe = None,
) -> int:
    """See it answer thirty questions about a made-up business.

    Five are answered in full; all thirty are scored against known answers.
    """
    from sqlwright.cli.console import Screen, settle_streams
    from sqlwright.cli.showcase import run_demo

    settle_streams()
    return run_demo(Screen.open(), recipe=recipe, everything=everything)
