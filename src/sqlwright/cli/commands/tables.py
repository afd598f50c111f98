"""`sqlwright lab tables`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sqlwright.cli.failure import UsageError
from sqlwright.cli.typed import options

EXAMPLES = """\
sqlwright lab tables chess --runs runs/chess
sqlwright lab tables msc --runs runs --model ollama/qwen3 --markdown > msc.md
sqlwright lab tables chase --missing -m openai/gpt-4.1
"""


def command(
    paper: Annotated[str, typer.Argument(metavar="PAPER", help="chess, chase, mag or msc.")],
    *,
    runs: Annotated[
        list[Path] | None,
        typer.Option(
            "--runs",
            "-r",
            metavar="FOLDER",
            help="Runs of 'evaluate' and 'ablate', or a folder with such folders. May be repeated.",
        ),
    ] = None,
    model: Annotated[
        str, typer.Option("--model", "-m", metavar="NAME", help="Only runs with this model.")
    ] = "",
    dataset: Annotated[
        str,
        typer.Option(
            "--dataset",
            metavar="NAME",
            help="Runs over this data set, by its name in run.json, in place of the paper's.",
        ),
    ] = "",
    missing: Annotated[
        bool, typer.Option("--missing", help="Print only the commands for what wasn't run.")
    ] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    as_json: options.AsJson = False,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a page of HTML.")
    ] = None,
) -> int:
    """Show the tables of a paper with the figures of your runs beside the paper's own.

    Each of ours has its interval and number of questions, a dash stands where nothing was run, and
    beneath each table is the command that runs what is missing. Of several runs that fit, the one
    with most questions counts, then the newest.
    """
    from sqlwright.cli.terminal.console import Screen
    from sqlwright.cli.views.tables import Output, show_tables
    from sqlwright.lab.evaluation.tables.filled import Choice

    if missing + markdown + as_json > 1:
        raise UsageError("one form at a time", hint="Give one of --missing, --markdown and --json.")
    output: Output = "terminal"
    if missing or markdown or as_json:
        output = "missing" if missing else "markdown" if markdown else "json"
    return show_tables(
        Screen.open(), paper, runs or (), Choice(model, dataset), output=output, page=html
    )
