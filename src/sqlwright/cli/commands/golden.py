"""`sqlwright golden`: examine a golden set, add questions to it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sqlwright.cli.failure import UNHEALTHY, UsageError
from sqlwright.cli.help import CalmCommand, CalmGroup
from sqlwright.cli.typed import measuring, options
from sqlwright.presentation.answer import readable

EXAMPLES = """\
sqlwright golden lint my-questions.yaml --database shop.sqlite
sqlwright golden add my-questions.yaml --last
"""
LINT_EXAMPLES = """\
sqlwright golden lint my-questions.yaml --database shop.sqlite
sqlwright golden lint my-questions.yaml -d shop.sqlite --strict --json
"""
ADD_EXAMPLES = """\
sqlwright golden add my-questions.yaml --last
sqlwright golden add my-questions.yaml --trace 20261120-2104 --with-result
sqlwright golden add my-questions.yaml --last --sql "SELECT COUNT(*) FROM orders"
"""
GoldenSet = Annotated[
    Path,
    typer.Argument(metavar="GOLDEN_SET", help="Your own questions: YAML, JSON, JSONL or CSV."),
]

group = typer.Typer(
    cls=CalmGroup,
    rich_markup_mode=None,
    invoke_without_command=True,
    epilog=EXAMPLES,
    context_settings={"help_option_names": ["--help", "-h"]},
)


@group.callback()
def golden(context: typer.Context) -> None:
    """Look after a golden set: questions of your own, each with a query that answers it.

    'sqlwright evaluate' measures with it, 'sqlwright calibrate' fits the confidence to it.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@group.command("lint", cls=CalmCommand, epilog=LINT_EXAMPLES)
def lint(
    *,
    file: GoldenSet,
    database: measuring.Database = None,
    readings: Annotated[
        bool,
        typer.Option(
            "--readings/--no-readings",
            help="Ask the embedded models whether a question can be read in two ways, or don't.",
            show_default=False,
        ),
    ] = True,
    strict: Annotated[
        bool, typer.Option("--strict", help="End with code 12 for warnings, too.")
    ] = False,
    as_json: options.AsJson = False,
) -> int:
    """Find what is wrong with a golden set before it measures anything.

    Errors: a query fails, writes, or doesn't give the stored result; a question stands there twice
    with other results. Warnings: a result says nothing or is chance, queries disagree, a question
    has two readings. Ends with code 12 for errors.
    """
    from sqlwright.cli.opening import settled
    from sqlwright.cli.terminal.console import Screen, settle_streams, write_result
    from sqlwright.cli.views.golden.lint import examined, fault_data, fault_lines
    from sqlwright.datasets.golden import load_golden_set
    from sqlwright.presentation.answer import to_json

    settle_streams()
    screen = Screen.open()
    dataset = load_golden_set(file, database=None if database is None else Path(database))
    found = examined(screen, dataset, settled().home, readings=readings)
    asked = len(dataset.examples)
    if as_json:
        write_result(to_json(fault_data(found, file, asked), indent=2) + "\n")
    else:
        screen.show(fault_lines(found, asked, screen))
    wrong = [fault for fault in found if strict or fault.severity == "error"]
    return UNHEALTHY if wrong else 0


@group.command("add", cls=CalmCommand, epilog=ADD_EXAMPLES)
def add(
    *,
    file: GoldenSet,
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
    folder = settled().home_folder / "traces"
    path = Path(trace) if trace.endswith(".jsonl") else find_trace(folder, trace)
    add_traced(Screen.open(), file, path, sql=readable(sql).strip(), with_result=with_result)
    return 0
