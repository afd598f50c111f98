"""`sqlwright trace`."""

from __future__ import annotations

from typing import Annotated

import typer

from sqlwright.cli.failure import UsageError
from sqlwright.cli.typed import options
from sqlwright.presentation.answer import readable

EXAMPLES = """\
sqlwright trace
sqlwright trace show
sqlwright trace show 20261120-2104
"""


def command(
    *,
    action: Annotated[
        str, typer.Argument(metavar="[list|show]", help="What to do; 'list' unless given.")
    ] = "list",
    run_id: Annotated[
        str, typer.Argument(metavar="[ID]", help="A trace id or its beginning; newest if none.")
    ] = "",
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", parser=options.count, help="Traces listed.")
    ] = 20,
    as_json: options.AsJson = False,
) -> int:
    """Look back at a question: what was tried, what it took.

    Traces stay on this machine. They hold the questions, the queries and the first rows.
    """
    if action not in ("list", "show"):
        raise UsageError(f"trace can't {readable(action)!r}", hint="It knows 'list' and 'show ID'.")

    from sqlwright.cli.opening import settled
    from sqlwright.cli.terminal.console import Screen, settle_streams, write_result
    from sqlwright.cli.views import trace as past
    from sqlwright.cli.views.answer import DisplayOptions
    from sqlwright.presentation.answer import plain, to_json
    from sqlwright.running.trace import find_trace, list_traces, read_trace

    settle_streams()
    screen = Screen.open()
    folder = settled().home_folder / "traces"
    if action == "list":
        summaries = list_traces(folder, limit=limit)
        if as_json:
            write_result(to_json(plain(summaries), indent=2) + "\n")
        else:
            screen.show(past.list_lines(summaries, DisplayOptions.of(screen)))
        return 0
    trace = read_trace(find_trace(folder, run_id))
    if as_json:
        write_result(to_json(plain(trace), indent=2) + "\n")
    else:
        screen.show(past.trace_lines(trace, DisplayOptions.of(screen)))
    return 0
