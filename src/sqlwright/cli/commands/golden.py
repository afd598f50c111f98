"""`sqlwright lab golden`: add a question to a golden set, or look for faults in one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from sqlwright.cli.failure import UNHEALTHY, UsageError
from sqlwright.cli.help import as_command, command_group
from sqlwright.cli.typed import measuring, options
from sqlwright.cli.typed.target import default_database
from sqlwright.presentation.answer import readable

ADD_EXAMPLES = """\
sqlwright lab golden add my-questions.yaml --last
sqlwright lab golden add my-questions.yaml --trace 20261120-2104 --with-result
sqlwright lab golden add my-questions.yaml --last --sql "SELECT COUNT(*) FROM orders"
"""


def add(
    *,
    file: measuring.GoldenSet,
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
    from sqlwright.cli.terminal.console import Screen
    from sqlwright.cli.views.golden import add_traced
    from sqlwright.running.trace import find_trace

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


LINT_EXAMPLES = """\
sqlwright lab golden lint my-questions.yaml --database shop.sqlite
sqlwright lab golden lint my-questions.yaml -d shop.sqlite --strict --json
"""


def lint(
    *,
    file: measuring.GoldenSet,
    database: measuring.Database = None,
    access: options.AccessOptions,
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
    from sqlwright.cli.terminal.console import Screen, write_result
    from sqlwright.cli.views.golden import examined, fault_data, fault_lines
    from sqlwright.lab.evaluation.golden.questions import load_golden_set
    from sqlwright.presentation.answer import to_json

    screen = Screen.open()
    chosen = settled(access)
    usual = measuring.usual_database(database)
    dataset = load_golden_set(file, database=usual)
    found = examined(screen, dataset, chosen, readings=readings)
    asked = len(dataset.examples)
    if as_json:
        write_result(to_json(fault_data(found, file, asked), indent=2) + "\n")
    else:
        screen.show(fault_lines(found, asked, screen))
    wrong = [fault for fault in found if strict or fault.severity == "error"]
    return UNHEALTHY if wrong else 0


EXAMPLES = """\
sqlwright lab golden lint my-questions.yaml --database shop.sqlite
sqlwright lab golden add my-questions.yaml --last
"""

PURPOSE = """\
Look after a golden set: questions of your own, each with a query that answers it.

'sqlwright evaluate' measures with it, 'sqlwright lab calibrate' fits the confidence to it.
"""

group = command_group(PURPOSE, EXAMPLES)
group.add_command(as_command("lint", lint, LINT_EXAMPLES))
group.add_command(as_command("add", add, ADD_EXAMPLES))
