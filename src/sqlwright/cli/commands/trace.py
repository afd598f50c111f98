"""`sqlwright trace`."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from sqlwright.cli.failure import UsageError
from sqlwright.cli.typed import options
from sqlwright.cli.typed.target import default_database
from sqlwright.presentation.answer import readable

EXAMPLES = """\
sqlwright trace
sqlwright trace show
sqlwright trace show 20261120-2104
sqlwright trace judge --right
sqlwright trace judge 20261120-2104 --wrong --sql "SELECT COUNT(*) FROM orders"
"""


def command(
    *,
    action: Annotated[
        str, typer.Argument(metavar="[list|show|judge]", help="What to do; 'list' unless given.")
    ] = "list",
    run_id: Annotated[
        str, typer.Argument(metavar="[ID]", help="A trace id or its beginning; newest if none.")
    ] = "",
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", parser=options.count, help="Traces listed.")
    ] = 20,
    right: Annotated[
        bool, typer.Option("--right", help="With judge: the answer was right.")
    ] = False,
    wrong: Annotated[
        bool, typer.Option("--wrong", help="With judge: the answer was wrong.")
    ] = False,
    sql: Annotated[
        str, typer.Option("--sql", metavar="QUERY", help="With --wrong: a query that is right.")
    ] = "",
    as_json: options.AsJson = False,
) -> int:
    """Look back at a question: what was tried, what it took, and say if it was right.

    Traces stay on this machine. They hold the questions, the queries and the first rows; so does
    what you say of them. `--data traces:FOLDER` measures and trains on it.
    """
    if action not in ("list", "show", "judge"):
        raise UsageError(
            f"trace can't {readable(action)!r}", hint="It knows 'list', 'show ID' and 'judge ID'."
        )
    if action == "judge":
        if right == wrong:
            raise UsageError("judge says one thing", hint="Add --right or --wrong.")
        if right and sql:
            raise UsageError("an answer that was right needs no query", hint="Leave out --sql.")
    elif right or wrong or sql:
        raise UsageError(
            "--right, --wrong and --sql are for 'judge'", hint="trace judge ID --right"
        )

    from sqlwright.cli.opening import settled
    from sqlwright.cli.terminal.console import Screen, write_result
    from sqlwright.cli.views import trace as past
    from sqlwright.cli.views.answer import DisplayOptions
    from sqlwright.presentation.answer import plain, to_json
    from sqlwright.running.trace import find_trace, list_traces, read_trace

    screen = Screen.open()
    chosen = settled()
    folder = chosen.home_folder / "traces"
    if action == "list":
        summaries = list_traces(folder, limit=limit)
        if as_json:
            write_result(to_json(plain(summaries), indent=2) + "\n")
        else:
            screen.show(past.list_lines(summaries, DisplayOptions.of(screen)))
        return 0
    path = find_trace(folder, run_id)
    if action == "judge":
        from sqlwright.lab.evaluation.golden.judged import judge

        usual = default_database(os.environ)
        judge(path, right=right, sql=sql, usual=usual, chosen=chosen)
    trace = read_trace(path)
    if as_json:
        write_result(to_json(plain(trace), indent=2) + "\n")
    elif action == "judge":
        screen.show(past.feedback_lines(trace, DisplayOptions.of(screen)))
    else:
        screen.show(past.trace_lines(trace, DisplayOptions.of(screen)))
    return 0
