"""`sqlwright lab golden add`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from sqlwright.cli.failure import UsageError
from sqlwright.cli.typed import gating
from sqlwright.cli.typed.target import default_database
from sqlwright.presentation.answer import readable

EXAMPLES = """\
sqlwright lab golden add my-questions.yaml --last
sqlwright lab golden add my-questions.yaml --trace 20261120-2104 --with-result
sqlwright lab golden add my-questions.yaml --last --sql "SELECT COUNT(*) FROM orders"
"""


def command(
    *,
    file: gating.GoldenSet,
    trace: Annotated[
        str, typer.Option("--trace", metavar="ID", help="A trace's id, its beginning, or its file.")
    ] = "",
    last: Annotated[bool, typer.Option("--last", help="The question asked last.")] = False,
    sql: Annotated[
        str, typer.Option("--sql", metavar="SQL", help="The right query, if the answer's wasn't.")
    ] = "",
    with_result: Annotated[
        bool,
        typer.Option("--with-result", help="Run the query and keep its rows, 100 at most."),
    ] = False,
) -> int:
    """Add a question that was asked, with its evidence, query and database.

    Whoever adds it says that the query is right: look at it first. What the file holds stays as it
    is, comments included; a question that is there already is refused.
    """
    if last is bool(trace):
        raise UsageError(
            "name one question", hint="Give --last, or --trace ID; 'sqlwright trace' lists them."
        )

    from sqlwright.cli.opening import settled
    from sqlwright.cli.terminal.console import Screen, settle_streams
    from sqlwright.cli.views.golden.added import add_traced
    from sqlwright.running.trace import find_trace

    settle_streams()
    chosen = settled()
    folder = chosen.home_folder / "traces"
    path = Path(trace) if trace.endswith(".jsonl") else find_trace(folder, trace)
    add_traced(
        Screen.open(),
        file,
        path,
        sql=readable(sql).strip(),
        with_result=with_result,
        usual=default_database(os.environ),
        chosen=chosen,
    )
    return 0
