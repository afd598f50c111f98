"""`sqlwright lab golden lint`."""

from __future__ import annotations

from typing import Annotated

import typer

from sqlwright.cli.failure import UNHEALTHY
from sqlwright.cli.typed import gating, measuring, options

EXAMPLES = """\
sqlwright lab golden lint my-questions.yaml --database shop.sqlite
sqlwright lab golden lint my-questions.yaml -d shop.sqlite --strict --json
"""


def command(
    *,
    file: gating.GoldenSet,
    database: measuring.Database = None,
    tables: options.Tables = None,
    functions: options.Functions = None,
    max_scan: options.MaxScan = None,
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
    from sqlwright.lab.datasets.own.golden import load_golden_set
    from sqlwright.presentation.answer import to_json

    settle_streams()
    screen = Screen.open()
    chosen = settled(tables=tables, functions=functions, max_scan=max_scan)
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
